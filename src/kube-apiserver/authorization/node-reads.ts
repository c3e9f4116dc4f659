/** Restricts the objects that a node may read. */
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { ObjectRead } from '../../apiserver/kind-behavior.ts';
import { nodeNameOf } from '../../apiserver/request/user.ts';
import type { StoredObject } from '../../apiserver/stored-object.ts';

/**
 * Throws 403 for a pod of another node. Access was authorized before the pod was read, and a pod that did not
 * exist then may be another node's by now.
 */
export function checkNodeMayRead(
  { user, definition }: ObjectRead,
  found: Pick<StoredObject, 'object'>,
): void {
  const node = nodeNameOf(user);
  if (
    node === undefined ||
    definition.group !== podResource.group ||
    definition.plural !== podResource.plural
  )
    return;
  const pod = found.object as Pod;
  if (pod.spec.nodeName === node) return;
  throw newForbidden(definition, pod.metadata.name, `the pod is not bound to node ${JSON.stringify(node)}`);
}
