/** The order in which the containers of a pod end (upstream: terminationOrdering). */
import { sidecarsOf } from '../../../api/core/v1/container/init-containers.ts';
import type { Container, PodSpec } from '../../../api/core/v1/types.gen.ts';

/**
 * Returns the container's turn: first the pod's own containers, then its sidecars in reverse order; undefined
 * for others, for which no container waits.
 */
export function stopTurn(spec: PodSpec, { name }: Pick<Container, 'name'>): number | undefined {
  if (spec.containers.some((container) => container.name === name)) return 0;
  const sidecars = sidecarsOf(spec);
  const index = sidecars.findIndex((container) => container.name === name);
  return index < 0 ? undefined : sidecars.length - index;
}
