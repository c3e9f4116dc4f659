/** Terms of the certificates of pods: lifetimes, and annotations for the signer. Pure. */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkQualifiedName } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateAnnotations } from '../../../apimachinery/validate-meta.ts';

/** Minimum of `maxExpirationSeconds`. */
export const minLifetimeSeconds = 3600;

const daySeconds = 86_400;

/** Default of `maxExpirationSeconds`. */
export const defaultLifetimeSeconds = daySeconds;

/** Returns the maximum of `maxExpirationSeconds`: a day for the signers of Kubernetes, 91 days for others. */
export function maxLifetimeSeconds(signerName: string): number {
  const [domain = ''] = signerName.split('/');
  const isOfKubernetes = domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io');
  return isOfKubernetes ? daySeconds : 91 * daySeconds;
}

/** Validates annotations for the signer: each key has a domain, and their size is limited as in metadata. */
export function validateUserAnnotations(
  annotations: Readonly<Record<string, string>> = {},
  path: string,
): StatusCause[] {
  const domainless = Object.keys(annotations).filter(
    (key) => checkQualifiedName(key.toLowerCase()).length === 0 && !key.includes('/'),
  );
  return [
    ...(Object.hasOwn(annotations, '') ? [requiredCause(path)] : []),
    ...validateAnnotations(
      Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== '')),
      path,
    ),
    ...domainless.map((key) =>
      invalidCause(path, key.toLowerCase(), 'must be a domain-prefixed key (such as "acme.io/foo")'),
    ),
  ];
}
