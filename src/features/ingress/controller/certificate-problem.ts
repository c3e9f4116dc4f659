/** Checks a Secret as the certificate for hosts. */
import type { Secret } from '../../../api/core/v1/secret.ts';
import {
  certificateEnd,
  certificateHosts,
  servingCertificateProblem,
} from '../../../http/serving-certificate.ts';
import { secretPair } from '../api/secret-pair.ts';

const instead = 'the default certificate is served';

/**
 * Returns what is wrong with the Secret, as a sentence without its subject; undefined if nothing is. A
 * certificate that has expired, or that is for other hosts, is served all the same.
 */
export function certificateProblem(
  secret: Secret | undefined,
  hosts: readonly string[],
  now: number,
): string | undefined {
  if (!secret) return `not found: ${instead}`;
  const pair = secretPair(secret);
  if (!pair) return `has no tls.crt or no tls.key: ${instead}`;
  const problem = servingCertificateProblem(pair);
  if (problem !== undefined) return `${problem}: ${instead}`;
  if (certificateEnd(pair.certificate) < now) return 'has a certificate that is no longer valid';
  const names = certificateHosts(pair.certificate);
  const others = hosts.filter(
    (host) => host !== '' && !names.includes(host) && !names.includes(wildcardOf(host)),
  );
  return others.length === 0
    ? undefined
    : `has a certificate that is not for ${others.slice(0, 3).join(', ')}`;
}

const wildcardOf = (host: string) => host.replace(/^[^.]*/, '*');
