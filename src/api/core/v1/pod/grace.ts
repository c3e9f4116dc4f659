import type { PodSpec } from '../types.gen.ts';

/**
 * Returns the seconds that a pod's containers get for termination. Negative values were once allowed, and
 * mean one second, as upstream.
 */
export const graceSecondsOf = ({
  terminationGracePeriodSeconds: seconds,
}: Pick<PodSpec, 'terminationGracePeriodSeconds'>): number => (seconds < 0 ? 1 : seconds);
