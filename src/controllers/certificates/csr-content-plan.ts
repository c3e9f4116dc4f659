/**
 * Requirements of each signer on the content of a request (pkg/apis/certificates/helpers.go, and the signers'
 * own rules).
 */
import {
  clientSigner,
  kubeletClientSigner,
  kubeletServingSigner,
} from '../../api/certificates/v1/conditions.ts';
import { checkDns1123Subdomain } from '../../apimachinery/names.ts';
import type { CertificateRequestContent } from '../../formats/certificate-request.ts';

const nodePrefix = 'system:node:';

/** Returns the node that a certificate with this common name identifies, or undefined. */
export const nodeOfCommonName = (commonName: string): string | undefined =>
  commonName.startsWith(nodePrefix) ? commonName.slice(nodePrefix.length) : undefined;

/** Returns one line on the fault of a request to that signer, or undefined if the request is valid. */
export type ContentCheck = (
  content: CertificateRequestContent,
  usages: readonly string[],
) => string | undefined;

const nodeSubject = ({ commonName, organizations }: CertificateRequestContent): string | undefined => {
  if (organizations.length !== 1 || organizations[0] !== 'system:nodes')
    return 'subject organization is not system:nodes';
  return nodeOfCommonName(commonName)
    ? undefined
    : `subject common name does not begin with ${nodePrefix} and a name`;
};

/**
 * Returns the fault of the usages, or undefined. 'key encipherment' is optional, because only RSA keys
 * encipher.
 */
function exactUsages(usages: readonly string[], purpose: string): string | undefined {
  const wanted = [purpose, 'digital signature'];
  const others = usages.filter((usage) => usage !== 'key encipherment');
  const same = others.length === wanted.length && wanted.every((usage) => others.includes(usage));
  return same ? undefined : `usages did not match [${[...wanted, 'key encipherment'].join(', ')}]`;
}

const checkKubeletClient: ContentCheck = (content, usages) => {
  if (content.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (content.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (content.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed';
  if (content.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return nodeSubject(content) ?? exactUsages(usages, 'client auth');
};

const checkKubeletServing: ContentCheck = (content, usages) => {
  if (content.dnsNames.length + content.ipAddresses.length === 0)
    return 'DNS or IP subjectAltName is required';
  if (content.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed';
  if (content.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return namesProblem(content) ?? nodeSubject(content) ?? exactUsages(usages, 'server auth');
};

/** Maximum number of names and addresses; a node has one name and a few addresses. */
const maxNames = 16;

/**
 * Returns the fault of the names, or undefined. Names must have the one spelling that is compared: no
 * wildcard, no upper case, no trailing dot, no address.
 */
function namesProblem({ dnsNames, ipAddresses }: CertificateRequestContent): string | undefined {
  if (dnsNames.length + ipAddresses.length > maxNames)
    return `at most ${maxNames} DNS and IP subjectAltNames are allowed`;
  const wrong = dnsNames.find((name) => !isDnsName(name));
  return wrong === undefined
    ? undefined
    : `DNS subjectAltName ${JSON.stringify(wrong)} is not a DNS name in lower case`;
}

/**
 * Returns true for a DNS name. Some parsers treat a name as an address if its last label is a number (WHATWG
 * URL, the ends-in-a-number checker).
 */
const isDnsName = (name: string) =>
  checkDns1123Subdomain(name).length === 0 &&
  name.split('.').every((label) => label.length <= 63) &&
  !/\.(\d+|0x[\da-f]*)$/.test(name);

const checkClient: ContentCheck = (_content, usages) => {
  const allowed = ['client auth', 'digital signature', 'key encipherment'];
  const strange = usages.find((usage) => !allowed.includes(usage));
  if (strange !== undefined) return `usage ${strange} is not allowed; allowed: ${allowed.join(', ')}`;
  return usages.includes('client auth') ? undefined : 'usage client auth is required';
};

/** Content checks by signer name. */
export const contentChecks: ReadonlyMap<string, ContentCheck> = new Map([
  [clientSigner, checkClient],
  [kubeletClientSigner, checkKubeletClient],
  [kubeletServingSigner, checkKubeletServing],
]);
