/** Host names: Dns objects, whose hosts and paths are each served for one namespace. */

import { always } from '../../../kube-apiserver/authorization/node-access.ts';
import type { ServerFeatureFactory } from '../../../kube-apiserver/server-feature.ts';
import { dnsResource } from '../api/dns.ts';
import { defaultDnsDomains } from '../api/dns-host-problem.ts';
import { dnsClaims } from './dns-claims.ts';
import { dnsHosts } from './dns-hosts.ts';

const { group, plural } = dnsResource;

/**
 * `domains`: the domains below which hosts are allowed; default `example` and `test`, which are reserved
 * (RFC 2606).
 */
export const dnsServer =
  (domains: readonly string[] = defaultDnsDomains): ServerFeatureFactory =>
  (server) => ({
    claims: { [`${group}/${plural}`]: dnsClaims },
    nodeAccess: { rules: [{ group, resources: [plural], verbs: ['get', 'list', 'watch'], when: always }] },
    admission: [dnsHosts(server, domains)],
  });
