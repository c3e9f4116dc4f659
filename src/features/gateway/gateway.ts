/** The Gateway API, served by the web server of each node. */
import type { Feature } from '../feature.ts';
import { gatewayController, gatewayRights } from './controller/gateway.ts';
import { gatewayRoles } from './roles.ts';
import { gatewayServer } from './server/gateway-server.ts';

export const gateway: Feature = {
  name: 'gateway',
  roles: gatewayRoles,
  server: () => ({ feature: gatewayServer }),
  controllers: [
    { account: 'gateway-controller', rights: gatewayRights, controller: () => gatewayController },
  ],
};
