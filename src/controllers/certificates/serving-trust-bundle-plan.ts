/** Plans the ClusterTrustBundle with the authority of the API server's certificates. Pure. */
import type { ClusterTrustBundle } from '../../api/certificates/v1/cluster-trust-bundle.ts';
import { trustBundlePrefix } from '../../api/certificates/v1/signer-name.ts';
import { type Draft, isTerminating } from '../../apimachinery/meta.ts';

export const servingSigner = 'kubernetes.io/kube-apiserver-serving';

export interface ServingTrustPlan {
  readonly create?: Draft<ClusterTrustBundle> | undefined;
  readonly update?: ClusterTrustBundle | undefined;
  /** Bundles of earlier authorities. */
  readonly remove: readonly ClusterTrustBundle[];
}

/**
 * Returns the plan. `bundles` are those of the signer; `hash` is the beginning of the authority's SHA-256 in
 * hexadecimal digits, so that each authority has a bundle of its own.
 */
export function planServingTrust(
  authority: string,
  hash: string,
  bundles: readonly ClusterTrustBundle[],
): ServingTrustPlan {
  const name = `${trustBundlePrefix(servingSigner)}${hash}`;
  const present = bundles.find(({ metadata }) => metadata.name === name);
  const remove = bundles.filter((bundle) => bundle.metadata.name !== name && !isTerminating(bundle));
  if (!present) {
    const spec = { signerName: servingSigner, trustBundle: authority };
    const kind = { apiVersion: 'certificates.k8s.io/v1', kind: 'ClusterTrustBundle' } as const;
    return { create: { ...kind, metadata: { name }, spec }, remove };
  }
  if (present.spec.trustBundle === authority || isTerminating(present)) return { remove };
  return { update: { ...present, spec: { ...present.spec, trustBundle: authority } }, remove };
}
