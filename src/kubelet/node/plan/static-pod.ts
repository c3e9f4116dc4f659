/**
 * A static pod, described by a file on this machine (pkg/kubelet/config), and its mirror, the pod in the API
 * that represents it (pkg/kubelet/pod/mirror_client.go).
 */
import type { Node } from '../../../api/core/v1/node/node.ts';
import { mirrorAnnotation } from '../../../api/core/v1/pod/annotations.ts';
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import { fieldsOf } from '../../../api/registry.ts';
import { convertObject } from '../../../apimachinery/decode.ts';
import { requiredCause } from '../../../apimachinery/field-error.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import { checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { newInvalid } from '../../../apimachinery/status-error.ts';
import { metaCauses } from '../../../apimachinery/validate-meta.ts';
import { parseYaml } from '../../../apimachinery/yaml.ts';

const hashAnnotation = 'kubernetes.io/config.hash';
const sourceAnnotation = 'kubernetes.io/config.source';
/** Value of that annotation for a pod from a file. */
const fromFile = 'file';

export interface StaticPodSource {
  readonly nodeName: string;
  readonly path: string;
  /** Returns the hash of a text: 32 hexadecimal digits. */
  readonly hash: (text: string) => string;
}

const podFields = fieldsOf([podResource as ResourceDefinition]);

/**
 * Returns the pod that the text describes, in YAML or JSON. The same text gives the same uid, also after a
 * restart. Throws an error with a message of one line for a text that describes no pod.
 */
export function readStaticPod(text: string, { nodeName, path, hash }: StaticPodSource): Pod {
  const { object: pod } = convertObject(podFields, podResource, parseYaml(text).value, 'Ignore');
  const { metadata, spec } = pod;
  if (!metadata.name) throw newInvalid(podResource, '', [requiredCause('metadata.name')]);
  // A uid in the file is only hashed with the rest of the pod, not used itself: directories are named after
  // uids, and no two pods may have the same uid.
  const uid = hash(JSON.stringify([pod, nodeName, path]));
  const name = `${metadata.name}-${nodeName.toLowerCase()}`;
  pod.metadata = {
    ...metadata,
    name,
    namespace: metadata.namespace || 'default',
    uid,
    annotations: { ...metadata.annotations, [hashAnnotation]: uid, [sourceAnnotation]: fromFile },
  };
  spec.nodeName = nodeName;
  // Taints of the node must not end pods that the node itself was configured to run.
  spec.tolerations = [...(spec.tolerations ?? []), { operator: 'Exists', effect: 'NoExecute' }];
  delete pod.status;
  const { setDefaults, validate, validateCreate } = podResource.strategy;
  setDefaults?.(pod);
  const causes = [
    ...nameCauses('metadata.name', name, checkDns1123Subdomain),
    ...metaCauses(podResource as unknown as ResourceDefinition, pod),
    ...(validate?.(pod) ?? []),
    ...(validateCreate?.(pod) ?? []),
  ];
  if (causes.length > 0) throw newInvalid(podResource, name, causes);
  return pod;
}

export const isStatic = ({ metadata }: Pod): boolean => metadata.annotations?.[sourceAnnotation] === fromFile;

export const isMirror = ({ metadata }: Pod): boolean =>
  metadata.annotations?.[mirrorAnnotation] !== undefined;

export const fullName = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;

/** Returns the mirror pod to create in the API. */
export function mirrorFor({ metadata, spec }: Pod, node: Node): Draft<Pod> {
  const { name, namespace, labels, annotations, uid } = metadata;
  const owner = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name, uid: node.metadata.uid };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      annotations: { ...annotations, [mirrorAnnotation]: uid },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec,
  };
}

export const isMirrorOf = (mirror: Pod, pod: Pod): boolean =>
  mirror.metadata.annotations?.[mirrorAnnotation] === pod.metadata.uid;

/**
 * Returns the next step towards the wanted mirror. A mirror that a client deletes is removed completely
 * before the next one is created; a mirror of another version of the file is deleted too.
 */
export function mirrorStep(
  pod: Pod | undefined,
  mirror: Pod | undefined,
  node: Node | undefined,
): 'create' | 'delete' | undefined {
  if (mirror) {
    const isWanted = pod && isMirrorOf(mirror, pod) && mirror.metadata.deletionTimestamp === undefined;
    return isWanted ? undefined : 'delete';
  }
  return pod && node && node.metadata.deletionTimestamp === undefined ? 'create' : undefined;
}
