/** What marks a pod as an instance of a function. */
import type { Pod } from '../../core/v1/pod.ts';
import { podCondition } from '../../core/v1/pod-conditions.ts';

/** Label: name of the Function. */
export const functionLabel = 'minik8s.io/function';

/** Label: name of the FunctionVersion, which the node reads that builds its image. */
export const functionVersionLabel = 'minik8s.io/function-version';

/** The port that an instance answers on, and the value of its variable PORT. */
export const instancePort = 8080;

/**
 * Whether its node is gone. Instances have no readiness probe, so one that has started is not ready only when the node's silence made
 * it so (src/controllers/nodes).
 */
export const isInstanceLost = (pod: Pod): boolean =>
  podCondition(pod, 'Ready')?.status === 'False' &&
  pod.status?.containerStatuses?.every(({ started, state }) => started === true && state?.running) === true;
