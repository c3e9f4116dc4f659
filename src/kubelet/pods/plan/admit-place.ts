/**
 * Checks node affinity and operating system of a pod that is bound here: the scheduler has not checked a pod
 * that was bound manually.
 */
import type { Node } from '../../../api/core/v1/node/node.ts';
import { requiredNodes } from '../../../api/core/v1/node/selection.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { PodEnd } from './actions.ts';
import { refusal } from './admit-pod.ts';

/**
 * Returns undefined when the pod may run here, else its rejection, worded as the kubelet's. `node` is
 * undefined until the API server has delivered it: then labels are not checked.
 */
export function placeRefusal({ spec }: Pod, node: Node | undefined): PodEnd | undefined {
  if (spec.os !== undefined && spec.os.name !== 'linux') {
    const why = "Failed to admit pod as the OS field doesn't match node OS";
    return refusal('PodOSNotSupported', why);
  }
  if (!node || (requiredNodes(spec)?.suits(node) ?? true)) return undefined;
  return refusal('NodeAffinity', 'Predicate NodeAffinity failed');
}
