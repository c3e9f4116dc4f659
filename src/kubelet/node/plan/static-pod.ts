/**
 * A pod that a file on this machine describes (pkg/kubelet/config), and the pod in the API that shows it there, its mirror
 * (pkg/kubelet/pod/mirror_client.go).
 */
import type { Node } from '../../../api/core/v1/node.ts';
import { type Pod, podResource } from '../../../api/core/v1/pod.ts';
import { mirrorAnnotation } from '../../../api/core/v1/pod-annotations.ts';
import { kindFields } from '../../../api/registry.ts';
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
/** Its value, for what a file describes. */
const fromFile = 'file';

export interface StaticPodSource {
  readonly nodeName: string;
  readonly path: string;
  /** Of a text: 32 hexadecimal digits. */
  readonly hash: (text: string) => string;
}

/**
 * The pod that the text describes, in YAML or JSON; the same text is the same pod, also after a restart. Throws, in one
 * line, for a text that describes none.
 */
export function readStaticPod(text: string, { nodeName, path, hash }: StaticPodSource): Pod {
  const { object: pod } = convertObject(kindFields, podResource, parseYaml(text).value, 'Ignore');
  const { metadata, spec } = pod;
  if (!metadata.name) throw newInvalid(podResource, '', [requiredCause('metadata.name')]);
  // What the file says of it counts as text alone: a uid is the name of a directory, and no two pods may have one.
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
  // Trouble of the node does not end what the node itself was told to run.
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

/** The pod to be created in the API. */
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
 * What brings the mirror to what it is to be. A mirror that somebody deletes goes, and the next is made when it has gone; one
 * of another state of the file goes too.
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
