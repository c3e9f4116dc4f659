/** Host names: Dns objects, whose hosts and paths lead to Services by the web server of each node. */
import type { SettingValues } from '../../settings/definition.ts';
import type { Feature } from '../feature.ts';
import { dnsController, dnsRights } from './controller/dns.ts';
import { hostNameRoles } from './roles.ts';
import { dnsServer } from './server/dns-server.ts';
import type { hostNameSettings } from './settings.ts';

export interface HostNameSettings extends Partial<SettingValues<typeof hostNameSettings>> {
  /** Domain of the cluster, such as `cluster.local`. */
  readonly clusterDomain: string;
}

export const hostNames: Feature<HostNameSettings> = {
  name: 'host-names',
  roles: hostNameRoles,
  server: (settings) => ({ feature: dnsServer(settings['dns-domains']) }),
  controllers: [{ account: 'dns-controller', rights: dnsRights, controller: dnsController }],
};
