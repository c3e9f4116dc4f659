/** Whether a pod that was bound here wants to be on such a node: who binds by hand is not asked by the scheduler. */
import type { Node } from '../../../api/core/v1/node.ts';
import { requiredNodes } from '../../../api/core/v1/node-selection.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import type { PodEnd } from './actions.ts';
import { refusal } from './admit-pod.ts';

/** Undefined when it does; as the kubelet says it. `node` is undefined while the API server has not told of it: then labels are not asked for. */
export function placeRefusal({ spec }: Pod, node: Node | undefined): PodEnd | undefined {
  if (spec.os !== undefined && spec.os.name !== 'linux') {
    const why = "Failed to admit pod as the OS field doesn't match node OS";
    return refusal('PodOSNotSupported', why);
  }
  if (!node || (requiredNodes(spec)?.suits(node) ?? true)) return undefined;
  return refusal('NodeAffinity', 'Predicate NodeAffinity failed');
}
