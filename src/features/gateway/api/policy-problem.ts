/**
 * Parts of BackendTLSPolicies that cannot be served. Pure. Backends of such a policy get no requests: without
 * the check that the policy asks for, a request could reach another server.
 */
import type { Authorities } from './backend-tls.ts';
import { isHostname } from './hostnames.ts';
import type { BackendTlsPolicy } from './kinds.ts';
import type { ListenerProblem } from './listeners.ts';

/** Returns the first problem, with its reason as in the condition Accepted; undefined if there is none. */
export function policyProblem(policy: BackendTlsPolicy): ListenerProblem | undefined {
  const message = fieldProblem(policy);
  return message === undefined ? undefined : { reason: 'Invalid', message };
}

function fieldProblem({ spec }: BackendTlsPolicy): string | undefined {
  const { hostname, caCertificateRefs = [], wellKnownCACertificates: wellKnown } = spec.validation;
  if (!isHostname(hostname) || hostname.startsWith('*'))
    return `spec.validation.hostname: ${JSON.stringify(hostname)} is not a host name`;
  if (caCertificateRefs.length > 0 && wellKnown)
    return 'spec.validation: caCertificateRefs and wellKnownCACertificates exclude each other';
  if (caCertificateRefs.length === 0 && !wellKnown)
    return 'spec.validation: it needs caCertificateRefs or wellKnownCACertificates';
  if (wellKnown && wellKnown !== 'System')
    return `spec.validation.wellKnownCACertificates: ${wellKnown} is not supported: use System`;
  const [option] = Object.keys(spec.options ?? {});
  if (option !== undefined) return `spec.options: ${option} is not supported`;
  return subjectProblem(spec.validation);
}

/** nginx has one name for both SNI and the check of the certificate, and finds no URIs in certificates. */
function subjectProblem({
  hostname,
  subjectAltNames = [],
}: BackendTlsPolicy['spec']['validation']): string | undefined {
  const index = subjectAltNames.findIndex(
    (one) => one.type !== 'Hostname' || one.hostname?.toLowerCase() !== hostname.toLowerCase(),
  );
  return index === -1
    ? undefined
    : `spec.validation.subjectAltNames[${index}]: only the Hostname ${hostname} of spec.validation.hostname is supported`;
}

/** Returns why backends of the policy get no requests; undefined if the policy is served. */
export function unservedReason(
  policy: BackendTlsPolicy,
  { from, unresolved }: Authorities,
): ListenerProblem | undefined {
  if (from.length === 0)
    return {
      reason: 'NoValidCACertificate',
      message: `no authority is usable: ${unresolved?.message ?? 'none is named'}`,
    };
  return policyProblem(policy);
}
