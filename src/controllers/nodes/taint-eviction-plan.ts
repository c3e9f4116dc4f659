/**
 * Computes how long a pod may stay on a tainted node (k8s.io/kubernetes pkg/controller/tainteviction). Pure.
 */
import type { Taint } from '../../api/core/v1/node/node.ts';
import { toleratesTaint } from '../../api/core/v1/node/taints.ts';
import type { Toleration } from '../../api/core/v1/types.gen.ts';

export const evictingTaints = (taints: readonly Taint[] | undefined): readonly Taint[] =>
  (taints ?? []).filter(({ effect }) => effect === 'NoExecute');

/**
 * Returns the milliseconds that a pod may stay, counted from the first of these taints; 0: evict now;
 * undefined: no limit. The pod must tolerate all taints, and the shortest time applies. As upstream, the
 * first toleration that matches a taint is used.
 */
export function minTolerationTime(
  tolerations: readonly Toleration[] | undefined,
  taints: readonly Taint[],
): number | undefined {
  let shortest: number | undefined;
  for (const taint of taints) {
    const used = (tolerations ?? []).find((toleration) => toleratesTaint(toleration, taint));
    if (!used) return 0;
    if (used.tolerationSeconds === undefined) continue;
    const ms = Math.max(0, used.tolerationSeconds) * 1000;
    shortest = Math.min(shortest ?? ms, ms);
  }
  return shortest;
}
