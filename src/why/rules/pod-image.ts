import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { type ContainerFacts, lastEvent, waitingFor, waitMessage } from '../pod-facts.ts';
import { type PullFailure, pullFailure } from '../pull-failures.ts';
import type { Mend, Rule } from '../rule.ts';
import type { Snapshot } from '../snapshot.ts';
import { workloadOf } from '../workload.ts';

const reasons = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];

export const podImage: Rule = {
  kinds: ['pods'],
  symptom: 'ErrImagePull, ImagePullBackOff, InvalidImageName or ErrImageNeverPull.',
  cause:
    'The image has another name or tag, its registry requires a password, has a limit, is not trusted or does not answer, the Secret of imagePullSecrets does not exist, or the image may not be pulled.',
  advice: 'Correct the name, load the image into the cluster, or name an imagePullSecret.',
  find(pod, seen) {
    const [container] = waitingFor(pod, reasons);
    if (!container) return undefined;
    const image = textAt(container.spec, 'image');
    const reason = textAt(container.status, 'state', 'waiting', 'reason');
    const said =
      lastEvent(seen.eventsOf(pod), 'Failed', 'Failed to pull image') ??
      `container ${container.name}: ${reason}: ${waitMessage(container)}`;
    const evidence = [said];
    if (reason === 'InvalidImageName')
      return {
        ...{ severity: 'broken', evidence, says: `${image} is not a valid name of an image` },
        mend: [rename(pod, container, seen)],
      };
    if (reason === 'ErrImageNeverPull')
      return {
        ...{ severity: 'broken', evidence },
        says: `the image ${image} is not on the node, and imagePullPolicy is Never`,
        mend: [load(image), rename(pod, container, seen)],
      };
    const secret = missingSecret(pod, seen);
    const failure = pullFailure(said);
    const cannot = `the image ${image} cannot be pulled`;
    if (secret !== undefined)
      return {
        ...{ severity: 'broken', evidence },
        says: `${cannot}: the Secret ${secret} of its imagePullSecrets does not exist`,
        mend: [login(pod, secret)],
      };
    return {
      ...{ severity: 'broken', evidence },
      says: failure ? `${cannot}: ${failure.words}` : cannot,
      mend: mendOf(failure, pod, container, seen),
    };
  },
};

function mendOf(
  failure: PullFailure | undefined,
  pod: JsonObject,
  container: ContainerFacts,
  seen: Snapshot,
): readonly Mend[] {
  const change = rename(pod, container, seen);
  const loaded = load(textAt(container.spec, 'image'));
  const password = login(pod, 'NAME');
  switch (failure?.mend) {
    case 'password':
      return [change, password, loaded];
    case 'trust':
      return [
        {
          advice:
            'make the engine of the node trust the registry: add its certificate authority to /etc/docker/certs.d, or add the registry to insecure-registries',
        },
        loaded,
        change,
      ];
    case 'reach':
      return [change, { advice: 'mend the registry, or the network between it and the node' }, loaded];
    case 'wait':
      return [
        { advice: 'wait, the node tries again; a login or a mirror raises the limit' },
        loaded,
        password,
      ];
    case 'name':
      return [change, loaded];
    default:
      return [change, loaded, password];
  }
}

function rename(pod: JsonObject, { name }: ContainerFacts, seen: Snapshot): Mend {
  const { namespace, name: podName } = metadataOf(pod);
  const target = workloadOf(seen, pod)?.name ?? `pod/${podName}`;
  return {
    command: command`set image ${target}${inNamespace({ namespace })} ${name}=IMAGE`,
    about: 'with the right name',
  };
}

const load = (image: string): Mend => ({
  command: command`image load ${image}`,
  about: 'if the engine of this machine has it',
});

function login(pod: JsonObject, secret: string): Mend {
  const { namespace } = metadataOf(pod);
  return {
    command: command`create secret docker-registry ${secret}${inNamespace({ namespace })} --docker-server=SERVER --docker-username=USER --docker-password=PASSWORD`,
    about:
      secret === 'NAME'
        ? 'if the registry requires a password; name it in spec.imagePullSecrets'
        : 'with the password of the registry',
  };
}

/** Returns the name of a Secret in imagePullSecrets that does not exist. */
function missingSecret(pod: JsonObject, seen: Snapshot): string | undefined {
  const { namespace } = metadataOf(pod);
  return recordsAt(pod, 'spec', 'imagePullSecrets')
    .map((one) => textAt(one, 'name'))
    .find((name) => name !== '' && seen.isAbsent({ key: 'secrets', namespace, name }));
}
