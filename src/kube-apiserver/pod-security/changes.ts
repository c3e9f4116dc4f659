/**
 * Selects the updates of a pod that are checked again. All other updates of an admitted pod are allowed under
 * any policy.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Container, EphemeralContainer } from '../../api/core/v1/types.gen.ts';

type Containers = readonly (Container | EphemeralContainer)[];

/** Returns whether an image is changed, or a container is added. */
export function changesSignificantly({ spec }: Pod, { spec: old }: Pod): boolean {
  return (
    differ(spec.containers, old.containers) ||
    differ(spec.initContainers ?? [], old.initContainers ?? []) ||
    addsEphemeral(spec.ephemeralContainers ?? [], old.ephemeralContainers ?? [])
  );
}

const differ = (containers: Containers, old: Containers) =>
  containers.length !== old.length || containers.some(({ image }, index) => image !== old[index]?.image);

/** Ephemeral containers are identified by their names, and never removed. */
function addsEphemeral(containers: Containers, old: Containers): boolean {
  const images = new Map(old.map(({ name, image }) => [name, image]));
  return containers.some(({ name, image }) => !images.has(name) || images.get(name) !== image);
}
