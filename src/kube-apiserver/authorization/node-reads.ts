/** Which of the objects it reads a node may see. */
import { type Pod, podResource } from '../../api/core/v1/pod.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { RequestScope } from '../../apiserver/request-scope.ts';
import { nodeNameOf } from '../../apiserver/user.ts';

/**
 * Throws 403 for a pod of another node. Whether it may read a pod was decided before the pod was read, and a pod that was not
 * there then may be another's by now.
 */
export function checkNodeMayRead({ user, definition }: RequestScope, object: KubeObject): void {
  const node = nodeNameOf(user);
  if (
    node === undefined ||
    definition.group !== podResource.group ||
    definition.plural !== podResource.plural
  )
    return;
  if ((object as Pod).spec.nodeName === node) return;
  throw newForbidden(
    definition,
    object.metadata.name,
    `the pod is not bound to node ${JSON.stringify(node)}`,
  );
}
