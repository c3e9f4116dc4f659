/** Certificates of the ClusterTrustBundles that a volume selects. Pure. */
import type { ClusterTrustBundle } from '../../../api/certificates/v1/cluster-trust-bundle.ts';
import type { ClusterTrustBundleProjection } from '../../../api/core/v1/types.gen.ts';
import { matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { pemBlocks, pemText } from '../../../formats/pem.ts';

/**
 * Returns the bundles that the source selects, sorted by name: the one that it names, or those of its signer
 * whose labels match. A source without a label selector selects none of its signer, one with an empty
 * selector all.
 */
export function selectedBundles(
  { name, signerName, labelSelector }: ClusterTrustBundleProjection,
  bundles: ReadonlyMap<string, ClusterTrustBundle>,
): readonly ClusterTrustBundle[] {
  if (name !== undefined) {
    const named = bundles.get(name);
    return named ? [named] : [];
  }
  const selector = selectorFromLabelSelector(labelSelector);
  return [...bundles.values()]
    .filter(({ spec, metadata }) => spec.signerName === signerName && matches(selector, metadata.labels))
    .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
}

/** Returns the certificates of the bundles as PEM, each once, without the text between them. */
export function anchorsIn(bundles: readonly ClusterTrustBundle[]): string {
  const texts = bundles.flatMap(({ spec }) =>
    Array.from(pemBlocks(spec.trustBundle), ({ bytes }) => pemText('CERTIFICATE', bytes)),
  );
  return [...new Set(texts)].join('');
}
