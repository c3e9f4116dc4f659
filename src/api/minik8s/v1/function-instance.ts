/** What marks a pod as an instance of a function. */

import { controllerOf } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import type { Pod } from '../../core/v1/pod.ts';
import { podCondition } from '../../core/v1/pod-conditions.ts';
import { functionResource } from './function.ts';
import { isFunctionImage } from './function-image.ts';

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

/** Whether it runs the program of a function, or is to be given one: gateways alone may call it. */
export function isFunctionPod(pod: Pod): boolean {
  const owner = controllerOf(pod);
  const isOwned =
    owner?.kind === functionResource.kind && owner.apiVersion === apiVersionOf(functionResource);
  return isOwned || (pod.spec.containers ?? []).some(({ image }) => isFunctionImage(image ?? ''));
}
