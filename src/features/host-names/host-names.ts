/** Host names: Dns objects, whose hosts and paths lead to Services by the web server of each node. */
import type { Feature } from '../feature.ts';
import { dnsController, dnsRights } from './controller/dns.ts';
import { hostNameRoles } from './roles.ts';
import { dnsServer } from './server/dns-server.ts';

export interface HostNameSettings {
  /** Domain of the cluster, such as `cluster.local`. */
  readonly clusterDomain: string;
  /** Domains below which hosts of Dns objects are allowed; default `example` and `test`. */
  readonly dnsDomains?: readonly string[];
}

export const hostNames: Feature<HostNameSettings> = {
  name: 'host-names',
  roles: hostNameRoles,
  server: ({ dnsDomains }) => ({ feature: dnsServer(dnsDomains) }),
  controllers: [{ account: 'dns-controller', rights: dnsRights, controller: dnsController }],
};
