/** Identification of pods that are instances of a function. */

import { podCondition } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { controllerOf } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import { functionResource } from './function.ts';
import { isFunctionImage } from './function-image.ts';

/** Label with the name of the Function. */
export const functionLabel = 'minik8s.io/function';

/** Label with the name of the FunctionVersion, which the node reads for building the image. */
export const functionVersionLabel = 'minik8s.io/function-version';

/** Port of an instance, and the value of its variable PORT. */
export const instancePort = 8080;

/**
 * Returns true if the instance's node is gone. Instances have no readiness probe, so a started instance is
 * unready only when its node was marked unreachable (src/controllers/nodes).
 */
export const isInstanceLost = (pod: Pod): boolean =>
  podCondition(pod, 'Ready')?.status === 'False' &&
  pod.status?.containerStatuses?.every(({ started, state }) => started === true && state?.running) === true;

/**
 * Returns true for a pod that runs the program of a function, or will be assigned one: only gateways may call
 * it.
 */
export function isFunctionPod(pod: Pod): boolean {
  const owner = controllerOf(pod);
  const isOwned =
    owner?.kind === functionResource.kind && owner.apiVersion === apiVersionOf(functionResource);
  return isOwned || (pod.spec.containers ?? []).some(({ image }) => isFunctionImage(image ?? ''));
}
