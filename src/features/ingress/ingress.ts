/** Ingresses, served by the web server of each node. */
import type { Feature } from '../feature.ts';
import { ingressController, ingressRights } from './controller/ingress.ts';
import { ingressServer } from './server/ingress-server.ts';

export const ingress: Feature = {
  name: 'ingress',
  // The kinds are Kubernetes' own, and so are the rights of viewers and editors.
  roles: { view: [], edit: [] },
  server: () => ({ feature: ingressServer }),
  controllers: [
    { account: 'ingress-controller', rights: ingressRights, controller: () => ingressController },
  ],
};
