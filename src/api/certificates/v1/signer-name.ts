/** Names of signers, and of the ClusterTrustBundles that belong to a signer. Pure. */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkDns1123Label, checkDns1123Subdomain } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

/** Validates a domain and a path, such as `example.com/signer`. */
export function validateSignerName(path: string, name: string): StatusCause[] {
  if (name === '') return [requiredCause(path)];
  const [domain = '', rest, ...more] = name.split('/');
  if (rest === undefined || more.length > 0) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalidCause(path, name, form)];
  }
  const labels = domain.split('.');
  return [
    ...firstBad(path, domain, labels, checkDns1123Label),
    ...(labels.length < 2
      ? [invalidCause(path, domain, 'should be a domain with at least two segments separated by dots')]
      : []),
    ...firstBad(path, rest, rest.split('.'), checkDns1123Subdomain),
  ];
}

function firstBad(
  path: string,
  value: string,
  labels: readonly string[],
  check: (label: string) => string[],
): StatusCause[] {
  const bad = labels.find((label) => check(label).length > 0);
  if (bad === undefined) return [];
  return check(bad).map((why) =>
    invalidCause(path, value, `validating label ${JSON.stringify(bad)}: ${why}`),
  );
}

/** Returns the beginning of the names of a signer's bundles: `example.com:signer:`. */
export const trustBundlePrefix = (signerName: string) => `${signerName.replaceAll('/', ':')}:`;

/**
 * Returns the reasons why a ClusterTrustBundle must not have the name. A bundle with a signer begins with the
 * signer's name; the name of any other bundle has no colon.
 */
export function checkTrustBundleName(name: string, signerName: string): string[] {
  if (signerName === '')
    return name.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : checkDns1123Subdomain(name);
  const prefix = trustBundlePrefix(signerName);
  return name.startsWith(prefix)
    ? checkDns1123Subdomain(name.slice(prefix.length))
    : [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
}

/** Returns the signer to whose bundles a name belongs; empty for a name without one. */
export const signerOfBundleName = (name: string): string =>
  name.slice(0, Math.max(0, name.lastIndexOf(':'))).replaceAll(':', '/');
