import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace, type KindKey } from '../kinds.ts';
import {
  type ContainerFacts,
  containersOf,
  isOver,
  lastEvent,
  waitingFor,
  waitMessage,
} from '../pod-facts.ts';
import type { Finding, Rule } from '../rule.ts';
import type { Snapshot } from '../snapshot.ts';

/** A ConfigMap or Secret that a pod needs, with the key if one is needed. */
interface Reference {
  readonly key: KindKey & ('configmaps' | 'secrets');
  readonly name: string;
  readonly entry: string;
  readonly where: string;
}

export const podReferences: Rule = {
  kinds: ['pods'],
  symptom: 'CreateContainerConfigError, or a pod that stays in ContainerCreating.',
  cause: 'A ConfigMap or a Secret that the pod names does not exist, or lacks the key.',
  advice: 'Create it in the namespace of the pod, or mark the reference as optional.',
  find(pod, seen) {
    if (isOver(pod) || textAt(pod, 'status', 'phase') === 'Running') return undefined;
    const missing = referencesOf(pod).find(({ key, name }) =>
      seen.isAbsent({ key, namespace: metadataOf(pod).namespace, name }),
    );
    if (missing) return absent(pod, missing, seen);
    const [container] = waitingFor(pod, ['CreateContainerConfigError']);
    return container && misconfigured(pod, container);
  },
};

const keyMissing = /couldn't find key (\S+) in (Secret|ConfigMap) [^/\s]+\/(\S+)/i;

/** Returns the finding for a container that cannot be configured; the message of the node names the key. */
function misconfigured(pod: JsonObject, container: ContainerFacts): Finding {
  const said = waitMessage(container);
  const [, entry, kind = '', name] = keyMissing.exec(said) ?? [];
  const evidence = [`container ${container.name}: ${said}`];
  if (entry === undefined || name === undefined)
    return {
      severity: 'broken',
      says: `container ${container.name} cannot be configured: ${said}`,
      mend: [{ advice: adviceOn(said, container.name) }],
    };
  const isSecret = kind.toLowerCase() === 'secret';
  const patch = JSON.stringify({ [isSecret ? 'stringData' : 'data']: { [entry]: 'VALUE' } });
  const place = inNamespace(metadataOf(pod));
  return {
    severity: 'broken',
    says: `the ${isSecret ? 'Secret' : 'ConfigMap'} ${name} has no key ${entry}`,
    evidence,
    mend: [{ command: command`patch ${kind.toLowerCase()} ${name}${place} --type=merge -p ${patch}` }],
  };
}

const adviceOn = (said: string, container: string): string =>
  /runAsNonRoot|non-root|non-numeric user/.test(said)
    ? `set securityContext.runAsUser of container ${container} to a user other than 0, or build the image with such a USER`
    : 'correct the field of the container that the message names';

function absent(pod: JsonObject, { key, name, entry, where }: Reference, seen: Snapshot): Finding {
  const { namespace } = metadataOf(pod);
  const create = key === 'secrets' ? ['secret', 'generic'] : ['configmap'];
  const literal = `--from-literal=${entry || 'KEY'}=VALUE`;
  return {
    severity: 'broken',
    says: `the ${kindOf[key]} ${name} does not exist in namespace ${namespace}`,
    evidence: [lastEvent(seen.eventsOf(pod), 'FailedMount') ?? `${where} names ${kindOf[key]} ${name}`],
    mend: [{ command: command`create ${create} ${name}${inNamespace({ namespace })} ${literal}` }],
  };
}

const kindOf = { secrets: 'Secret', configmaps: 'ConfigMap' } as const;
const referencesOf = (pod: JsonObject): readonly Reference[] => [
  ...containersOf(pod).flatMap(ofContainer),
  ...recordsAt(pod, 'spec', 'volumes').flatMap((volume) => [
    ...ofVolume(volume, `the volume ${textAt(volume, 'name')}`),
    ...recordsAt(volume, 'projected', 'sources').flatMap((source) =>
      ofVolume(source, `the volume ${textAt(volume, 'name')}`),
    ),
  ]),
];

function ofContainer({ name, spec }: ContainerFacts): readonly Reference[] {
  const where = `container ${name}`;
  const keyed = recordsAt(spec, 'env').flatMap((variable) => {
    const source = recordAt(variable, 'valueFrom');
    return [
      ...named('configmaps', source.configMapKeyRef, 'name', where, textAt(source, 'configMapKeyRef', 'key')),
      ...named('secrets', source.secretKeyRef, 'name', where, textAt(source, 'secretKeyRef', 'key')),
    ];
  });
  const whole = recordsAt(spec, 'envFrom').flatMap((source) => [
    ...named('configmaps', source.configMapRef, 'name', where),
    ...named('secrets', source.secretRef, 'name', where),
  ]);
  return [...keyed, ...whole];
}

function ofVolume(source: JsonObject, where: string): readonly Reference[] {
  return [
    ...named('configmaps', source.configMap, 'name', where),
    ...named(
      'secrets',
      source.secret,
      isRecord(source.secret) && 'secretName' in source.secret ? 'secretName' : 'name',
      where,
    ),
  ];
}

function named(
  key: Reference['key'],
  value: unknown,
  field: string,
  where: string,
  entry = '',
): readonly Reference[] {
  if (!isRecord(value) || value.optional === true || textAt(value, field) === '') return [];
  return [{ key, name: textAt(value, field), entry, where }];
}
