/** Host names: Dns objects, whose hosts and paths are each served for one namespace. */
import { dnsResource } from '../../api/minik8s/v1/dns.ts';
import { defaultDnsDomains } from '../../api/minik8s/v1/dns-host-problem.ts';
import type { ServerFeatureFactory } from '../server-feature.ts';
import { dnsClaims } from './dns-claims.ts';
import { dnsHosts } from './dns-hosts.ts';

/**
 * `domains`: the domains below which hosts are allowed; default `example` and `test`, which are reserved
 * (RFC 2606).
 */
export const hostNames =
  (domains: readonly string[] = defaultDnsDomains): ServerFeatureFactory =>
  (server) => ({
    claims: { [`${dnsResource.group}/${dnsResource.plural}`]: dnsClaims },
    admission: [dnsHosts(server, domains)],
  });
