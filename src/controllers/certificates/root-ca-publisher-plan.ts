/** What has to be done so that a namespace has the certificate authority of the cluster. Pure. */
import type { ConfigMap } from '../../api/core/v1/config-map.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { type Draft, isTerminating } from '../../apimachinery/meta.ts';
import { areTooLong } from '../../apimachinery/validate-meta.ts';

/** The name and the key are Kubernetes' own: pods find it there. */
export const rootCaName = 'kube-root-ca.crt';
const rootCaKey = 'ca.crt';

const descriptionAnnotation = 'kubernetes.io/description';
const description =
  'The certificate authority of this cluster (PEM). Programs in pods check by it that they speak to the API server.';

export type RootCaPlan =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly configMap: Draft<ConfigMap> }
  | { readonly type: 'update'; readonly configMap: ConfigMap }
  /** Somebody made it immutable with something else in it: it is made again once it is gone. */
  | { readonly type: 'remove' };

/** `authority` is in PEM. What people add to the metadata stays, and so does a description of their own. */
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
  // Where people left no room for it the authority matters more.
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
