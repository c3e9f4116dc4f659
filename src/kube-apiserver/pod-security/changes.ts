/** Which updates of a pod are looked at again: one that was allowed before goes on being written to under any policy. */
import type { Pod } from '../../api/core/v1/pod.ts';
import type { Container, EphemeralContainer } from '../../api/core/v1/types.gen.ts';

type Containers = readonly (Container | EphemeralContainer)[];

/** An image is another, or a container is added. */
export function changesSignificantly({ spec }: Pod, { spec: old }: Pod): boolean {
  return (
    differ(spec.containers, old.containers) ||
    differ(spec.initContainers ?? [], old.initContainers ?? []) ||
    addsEphemeral(spec.ephemeralContainers ?? [], old.ephemeralContainers ?? [])
  );
}

const differ = (containers: Containers, old: Containers) =>
  containers.length !== old.length || containers.some(({ image }, index) => image !== old[index]?.image);

/** They are told apart by their names, and none is ever taken away. */
function addsEphemeral(containers: Containers, old: Containers): boolean {
  const images = new Map(old.map(({ name, image }) => [name, image]));
  return containers.some(({ name, image }) => !images.has(name) || images.get(name) !== image);
}
