/** Restricts the objects that a node may read. */
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { requiredFieldValue } from '../../apimachinery/field-selector.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { CollectionRead, ObjectPart, ObjectRead } from '../../apiserver/kind-behavior.ts';
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

/**
 * Returns the part of pods that a node may read in a list or watch that is not limited to its own pods: what
 * network policies of its pods depend on. It holds no environment, no volume, no image and no annotation.
 */
export function nodePartOf({ user, definition, fieldSelector }: CollectionRead): ObjectPart | undefined {
  const node = nodeNameOf(user);
  if (node === undefined || definition.group !== podResource.group) return undefined;
  if (definition.plural !== podResource.plural) return undefined;
  return fieldSelector && requiredFieldValue(fieldSelector, 'spec.nodeName') === node ? undefined : addresses;
}

const addresses: ObjectPart = {
  name: 'addresses',
  show(object) {
    const { apiVersion, kind, metadata, spec, status } = object as Pod;
    const { name, namespace, uid, resourceVersion, creationTimestamp, labels, deletionTimestamp } = metadata;
    return {
      apiVersion,
      kind,
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp, labels, deletionTimestamp },
      spec: {
        nodeName: spec?.nodeName,
        hostNetwork: spec?.hostNetwork,
        containers: spec?.containers.map(portsOf),
        initContainers: spec?.initContainers?.map(portsOf),
      },
      status: { phase: status?.phase, podIP: status?.podIP, podIPs: status?.podIPs },
    } as KubeObject;
  },
};

const portsOf = ({ name, ports, restartPolicy }: Pod['spec']['containers'][number]) => ({
  name,
  restartPolicy,
  ports: ports?.map((port) => ({
    name: port.name,
    protocol: port.protocol,
    containerPort: port.containerPort,
  })),
});
