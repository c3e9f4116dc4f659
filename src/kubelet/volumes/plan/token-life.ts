/** When a token of a service account is replaced (upstream: pkg/kubelet/token). */

const day = 24 * 3_600_000;
/** So many milliseconds earlier, drawn for each token: those of many pods are not all asked for at once. */
const mostJitterMs = 10_000;

/** Times in milliseconds since the epoch, `lifeMs` from its issue to its end; `draw` is uniform in [0, 1). */
export function renewalOf(expires: number, lifeMs: number, draw: number): number {
  const issued = expires - lifeMs;
  return Math.min(issued + day, expires - lifeMs / 5) - draw * mostJitterMs;
}
