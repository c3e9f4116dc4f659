import type { PodSpec } from './types.gen.ts';

/** Seconds that a pod's containers get to stop. Less than none was once allowed, and means one, as upstream. */
export const graceSecondsOf = ({
  terminationGracePeriodSeconds: seconds,
}: Pick<PodSpec, 'terminationGracePeriodSeconds'>): number => (seconds < 0 ? 1 : seconds);
