/**
 * Finds why no container of a pod is started here: the pod requires a protection or an order that this node
 * does not provide. Running it without that would be worse than not running it.
 */

import { fieldsTreated, listPaths } from '../../../api/core/v1/pod/fields.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container, EphemeralContainer } from '../../../api/core/v1/types.gen.ts';

/** The reason and message of the waiting containers, of a condition and of an event. */
export interface Hold {
  readonly reason: 'NotSupported';
  readonly message: string;
}

/** Abilities that not every engine has. */
export interface EngineAbilities {
  readonly canMountImages: boolean;
}

interface Known extends EngineAbilities {
  readonly spec: Pod['spec'];
  readonly hold: Hold | undefined;
}

/**
 * Results by the metadata object of each version of a pod. A step needs the result once per container, and
 * computing it reads many fields.
 */
const known = new WeakMap<Pod['metadata'], Known>();

export function holdOf(pod: Pod, { canMountImages }: EngineAbilities): Hold | undefined {
  const found = known.get(pod.metadata);
  if (found?.spec === pod.spec && found.canMountImages === canMountImages) return found.hold;
  const hold = findHold(pod, canMountImages);
  known.set(pod.metadata, { spec: pod.spec, canMountImages, hold });
  return hold;
}

function findHold(pod: Pod, canMountImages: boolean): Hold | undefined {
  // An ephemeral container that is added later must not hold the running ones.
  const { ephemeralContainers: _, ...spec } = pod.spec;
  return notSupported('pod', [
    ...fieldsTreated(spec, 'held').map(withReason),
    ...(canMountImages ? [] : imageVolumes(pod)),
    ...strictGroups(pod, [...(pod.spec.initContainers ?? []), ...pod.spec.containers]),
  ]);
}

const imageVolumes = ({ spec: { volumes = [] } }: Pod) =>
  volumes.flatMap(({ image }, index) =>
    image ? [`spec.volumes[${index}].image (needs Docker 28 or newer on the node)`] : [],
  );

/** Adds the reason to a field that no version of minik8s can support. */
const withReason = (path: string) =>
  path === 'spec.hostUsers' ? `${path} (Docker maps the users of all containers or of none)` : path;

/**
 * Returns why an ephemeral container is not started, although the others of its pod are; undefined for no
 * hold.
 */
export function holdOfEphemeral(pod: Pod, container: EphemeralContainer): Hold | undefined {
  const { ephemeralContainers = [] } = pod.spec;
  const { name } = container;
  const at = `spec.ephemeralContainers[${ephemeralContainers.findIndex((one) => one.name === name)}].`;
  const held = fieldsTreated({ containers: [], ephemeralContainers } as unknown as Pod['spec'], 'held');
  const own = held.filter((path) => path.startsWith(at));
  return notSupported('container', [...own, ...strictGroups(pod, [container])]);
}

function notSupported(what: string, paths: readonly string[]): Hold | undefined {
  if (paths.length === 0) return undefined;
  const message = `the ${what} is not started: minik8s does not support these fields yet: ${listPaths(paths)}`;
  return { reason: 'NotSupported', message };
}

/**
 * Returns the field when Strict group policy cannot be kept: the engine adds the image's groups for a user
 * unless the user's primary group is given.
 */
function strictGroups(
  { spec }: Pod,
  containers: readonly Pick<Container, 'securityContext'>[],
): readonly string[] {
  const { supplementalGroupsPolicy, runAsGroup } = spec.securityContext;
  if (supplementalGroupsPolicy !== 'Strict' || runAsGroup !== undefined) return [];
  const isOpen = containers.some(({ securityContext }) => securityContext?.runAsGroup === undefined);
  return isOpen ? ['spec.securityContext.supplementalGroupsPolicy (Strict without runAsGroup)'] : [];
}
