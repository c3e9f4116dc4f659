/** Secrets with the certificates for hosts of Ingresses. Pure. */
import type { Ingress } from '../../../api/networking/v1/ingress.ts';
import type { Claims } from './claims.ts';
import { byAge } from './classes.ts';

/** A Secret, as NAMESPACE/NAME, that an Ingress names for some hosts. */
export interface CertificateUse {
  readonly ingress: Ingress;
  readonly secret: string;
  readonly hosts: readonly string[];
}

/** Returns the Secrets that Ingresses name, all of their own namespace; the oldest Ingress first. */
export const certificateUses = (ingresses: readonly Ingress[]): readonly CertificateUse[] =>
  ingresses.toSorted(byAge).flatMap((ingress) =>
    (ingress.spec.tls ?? []).flatMap(({ hosts, secretName }) => {
      if (!secretName) return [];
      const named = hosts?.length ? hosts : (ingress.spec.rules ?? []).map(({ host = '' }) => host);
      return [
        {
          ingress,
          secret: `${ingress.metadata.namespace}/${secretName}`,
          hosts: [...new Set(named.map((host) => host.toLowerCase()))],
        },
      ];
    }),
  );

/**
 * Returns the usable Secret of each host: of the oldest Ingress of the namespace that holds the host, so that
 * no other namespace can present a certificate for it.
 */
export function certificatesByHost(
  uses: readonly CertificateUse[],
  { holders }: Pick<Claims, 'holders'>,
  isUsable: (secret: string) => boolean,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { ingress, secret, hosts } of uses)
    for (const host of hosts)
      if (!found.has(host) && holders.get(host) === ingress.metadata.namespace && isUsable(secret))
        found.set(host, secret);
  return found;
}

/** Returns the hosts that an Ingress lists under spec.tls: their requests are redirected to HTTPS. */
export function tlsHosts({ spec }: Ingress): ReadonlySet<string> {
  return new Set(
    (spec.tls ?? []).flatMap(({ hosts }) =>
      (hosts?.length ? hosts : (spec.rules ?? []).map(({ host = '' }) => host)).map((host) =>
        host.toLowerCase(),
      ),
    ),
  );
}
