/** Plans the ConfigMap with the cluster's certificate authority in a namespace. Pure. */
import type { ConfigMap } from '../../api/core/v1/config-map.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { type Draft, isTerminating } from '../../apimachinery/meta.ts';
import { areTooLong } from '../../apimachinery/validate-meta.ts';

/** Name and key are the same as in Kubernetes, because pods expect the certificate there. */
export const rootCaName = 'kube-root-ca.crt';
const rootCaKey = 'ca.crt';

const descriptionAnnotation = 'kubernetes.io/description';
const description =
  'The certificate authority of this cluster (PEM). Programs in pods verify the API server with it.';

export type RootCaPlan =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly configMap: Draft<ConfigMap> }
  | { readonly type: 'update'; readonly configMap: ConfigMap }
  /** The ConfigMap is immutable and has other content: it is created again after its deletion. */
  | { readonly type: 'remove' };

/**
 * Returns the plan for one namespace. `authority` is in PEM. Metadata that users added is kept, including a
 * description of their own.
 */
export function planRootCa(
  namespace: string,
  authority: string,
  existing: ConfigMap | undefined,
): RootCaPlan {
  const data = { [rootCaKey]: authority };
  if (!existing)
    return {
      type: 'create',
      configMap: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: rootCaName, namespace, annotations: { [descriptionAnnotation]: description } },
        data,
      },
    };
  // The deletion arrives as an event.
  if (isTerminating(existing)) return { type: 'none' };
  const { binaryData: _, ...rest } = existing;
  const isRight = deepEqual(existing.data, data) && Object.keys(existing.binaryData ?? {}).length === 0;
  if (existing.immutable && !isRight) return { type: 'remove' };
  const { annotations = {} } = existing.metadata;
  const full = { ...annotations, [descriptionAnnotation]: description };
  // The description is omitted if the users' annotations leave no room for it.
  const isDescribed = annotations[descriptionAnnotation] || areTooLong(full);
  if (isRight && isDescribed) return { type: 'none' };
  return {
    type: 'update',
    configMap: {
      ...rest,
      metadata: { ...existing.metadata, annotations: isDescribed ? annotations : full },
      data,
    },
  };
}
