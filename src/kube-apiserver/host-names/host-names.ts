/** Host names: Dns objects, whose hosts and paths are each served for one namespace. */
import { dnsResource } from '../../api/minik8s/v1/dns.ts';
import { defaultDnsDomains } from '../../api/minik8s/v1/dns-host-problem.ts';
import { always } from '../authorization/node-access.ts';
import type { ServerFeatureFactory } from '../server-feature.ts';
import { dnsClaims } from './dns-claims.ts';
import { dnsHosts } from './dns-hosts.ts';

const { group, plural } = dnsResource;

/**
 * `domains`: the domains below which hosts are allowed; default `example` and `test`, which are reserved
 * (RFC 2606).
 */
export const hostNames =
  (domains: readonly string[] = defaultDnsDomains): ServerFeatureFactory =>
  (server) => ({
    claims: { [`${group}/${plural}`]: dnsClaims },
    nodeAccess: { rules: [{ group, resources: [plural], verbs: ['get', 'list', 'watch'], when: always }] },
    admission: [dnsHosts(server, domains)],
  });
