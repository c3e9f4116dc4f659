/** Host names: Dns objects, whose hosts and paths lead to Services by the web server of each node. */
import type { Feature } from '../feature.ts';
import type { HostNameFlags } from './api/settings.ts';
import { dnsController, dnsRights } from './controller/dns.ts';
import { hostNameRoles } from './roles.ts';
import { dnsServer } from './server/dns-server.ts';

export interface HostNameSettings extends Partial<HostNameFlags> {
  /** Domain of the cluster, such as `cluster.local`. */
  readonly clusterDomain: string;
}

export const hostNames: Feature<HostNameSettings> = {
  name: 'host-names',
  roles: hostNameRoles,
  server: (settings) => ({ feature: dnsServer(settings['dns-domains']) }),
  controllers: [{ account: 'dns-controller', rights: dnsRights, controller: dnsController }],
};
