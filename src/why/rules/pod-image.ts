import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { lastEvent, waitingFor, waitMessage } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { workloadOf } from '../workload.ts';

const reasons = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];

export const podImage: Rule = {
  kinds: ['pods'],
  symptom: 'ErrImagePull, ImagePullBackOff, InvalidImageName or ErrImageNeverPull.',
  cause:
    'The image has another name, its registry does not answer or asks for a password, or it may not be pulled.',
  advice: 'Correct the name, load the image into the cluster, or name an imagePullSecret.',
  find(pod, seen) {
    const [container] = waitingFor(pod, reasons);
    if (!container) return undefined;
    const { namespace, name } = metadataOf(pod);
    const image = textAt(container.spec, 'image');
    const reason = textAt(container.status, 'state', 'waiting', 'reason');
    const failed = lastEvent(seen.eventsOf(pod), 'Failed', 'Failed to pull image');
    const target = workloadOf(seen, pod)?.name ?? `pod/${name}`;
    const says =
      reason === 'InvalidImageName'
        ? `${image} is no valid name of an image`
        : reason === 'ErrImageNeverPull'
          ? `the image ${image} is not on the node, and imagePullPolicy is Never`
          : `the image ${image} cannot be pulled`;
    return {
      severity: 'broken',
      says,
      evidence: [failed ?? `container ${container.name}: ${reason}: ${waitMessage(container)}`],
      mend: [
        {
          command: command`set image ${target}${inNamespace({ namespace })} ${container.name}=IMAGE`,
          about: 'with the right name',
        },
        { command: command`image load ${image}`, about: 'if the engine of this machine has it' },
        {
          command: command`create secret docker-registry NAME${inNamespace({ namespace })} --docker-server=SERVER --docker-username=USER --docker-password=PASSWORD`,
          about: 'if the registry asks for a password; name it in spec.imagePullSecrets',
        },
      ],
    };
  },
};
