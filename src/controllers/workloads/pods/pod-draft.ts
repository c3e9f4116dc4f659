/** Builds the pod that an owner's template describes. Pure. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { PodTemplateSpec } from '../../../api/core/v1/types.gen.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import type { Draft, KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { controllerReference } from '../../../controller-runtime/claim.ts';

/**
 * Returns a copy, which the caller may change. Without `name` the server generates a name with the owner's as
 * prefix.
 */
export function podDraft(
  kind: ResourceRef,
  owner: KubeObject,
  template: PodTemplateSpec,
  name?: string,
): Draft<Pod> {
  const { labels, annotations, finalizers } = template.metadata;
  return deepCopy({
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    metadata: {
      ...(name === undefined ? { generateName: `${owner.metadata.name}-` } : { name }),
      namespace: owner.metadata.namespace,
      labels,
      annotations,
      finalizers,
      ownerReferences: [controllerReference(kind, owner)],
    },
    spec: template.spec,
  });
}
