/** The time at which a service account token is replaced (upstream: pkg/kubelet/token). */

const day = 24 * 3_600_000;
/**
 * Maximum random reduction of a token's lifetime in milliseconds, so that the tokens of many pods are not all
 * requested at once.
 */
const maxJitterMs = 10_000;

/**
 * Returns the time of the renewal. Times are in milliseconds since the epoch, `lifeMs` is the token's
 * lifetime in milliseconds; `draw` is uniform in [0, 1).
 */
export function renewalOf(expires: number, lifeMs: number, draw: number): number {
  const issued = expires - lifeMs;
  return Math.min(issued + day, expires - lifeMs / 5) - draw * maxJitterMs;
}
