/**
 * Why nothing of a pod is started here: it asks for something that protects or orders it and that this node does not
 * do. Running it without that would be worse than not running it.
 */
import type { Pod } from '../../api/core/v1/pod.ts';
import { fieldsTreated, listPaths } from '../../api/core/v1/pod-fields.ts';
import type { EphemeralContainer } from '../../api/core/v1/types.gen.ts';
import { appArmorAnnotation, appArmorTypes } from './security.ts';
import { forbiddenSysctl } from './sysctls.ts';

/** Of the waiting containers, of a condition and of an event. */
export interface Hold {
  readonly reason: 'NotSupported';
  readonly message: string;
}

/** By the metadata of each version of a pod: a step asks for every container, and a pod has many fields. */
const known = new WeakMap<Pod['metadata'], { readonly spec: Pod['spec']; readonly hold: Hold | undefined }>();

export function holdOf(pod: Pod): Hold | undefined {
  const found = known.get(pod.metadata);
  if (found?.spec === pod.spec) return found.hold;
  const hold = findHold(pod);
  known.set(pod.metadata, { spec: pod.spec, hold });
  return hold;
}

function findHold(pod: Pod): Hold | undefined {
  // One that is added later must not hold up those that run.
  const { ephemeralContainers: _, ...spec } = pod.spec;
  const paths = [...fieldsTreated(spec, 'held'), ...unknownProfiles(pod), ...unsafeSysctls(pod)];
  return notSupported('pod', paths);
}

/** Why this container is not started, though the others of its pod are. */
export function holdOfEphemeral({ spec }: Pod, { name }: EphemeralContainer): Hold | undefined {
  const { ephemeralContainers = [] } = spec;
  const at = `spec.ephemeralContainers[${ephemeralContainers.findIndex((one) => one.name === name)}].`;
  const held = fieldsTreated({ containers: [], ephemeralContainers } as unknown as Pod['spec'], 'held');
  return notSupported(
    'container',
    held.filter((path) => path.startsWith(at)),
  );
}

function notSupported(what: string, paths: readonly string[]): Hold | undefined {
  if (paths.length === 0) return undefined;
  const message = `the ${what} is not started: minik8s does not support these fields yet: ${listPaths(paths)}`;
  return { reason: 'NotSupported', message };
}

/** The older way to ask for an AppArmor profile; upstream honours it where the field is not set. */
function unknownProfiles({ metadata, spec }: Pod): readonly string[] {
  return spec.containers
    .map(({ name }) => `${appArmorAnnotation}${name}`)
    .filter((key) => !appArmorTypes.has(metadata.annotations?.[key] ?? 'unconfined'))
    .map((key) => `metadata.annotations[${key}]`);
}

/** A new pod with one is rejected at once; this is for a pod that an older agent, without this check, accepted. */
const unsafeSysctls = (pod: Pod): readonly string[] =>
  forbiddenSysctl(pod) === undefined ? [] : ['spec.securityContext.sysctls'];

/** The text of a warning about probes, which are not run yet; undefined for a pod without probes. */
export function unusedProbes(pod: Pod): string | undefined {
  const probes = fieldsTreated(pod.spec, 'warned').filter((path) => path.endsWith('Probe'));
  if (probes.length === 0) return undefined;
  return `probes are not run yet: a container is ready as long as it runs, and no probe restarts it: ${listPaths(probes)}`;
}
