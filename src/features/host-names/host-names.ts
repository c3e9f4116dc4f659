/** Host names: Dns objects, whose hosts and paths lead to Services by the web server of each node. */
import type { Feature } from '../feature.ts';
import { dnsController } from './controller/dns.ts';
import { hostNameRoles } from './roles.ts';
import { dnsServer } from './server/dns-server.ts';

export const hostNames: Feature = {
  roles: hostNameRoles,
  server: ({ dnsDomains }) => dnsServer(dnsDomains),
  controllers: (settings) => [{ account: 'dns-controller', controller: dnsController(settings) }],
};
