/**
 * Keeps an IPAddress for each cluster IP of a Service (upstream: the allocator and the repair loop of
 * kube-apiserver). The claim that is written with a Service decides who has an address; IPAddresses show it.
 * Keys are addresses.
 */
import { clusterAddresses } from '../../api/core/v1/service/cluster-addresses.ts';
import { serviceResource } from '../../api/core/v1/service/service.ts';
import { ipAddressResource } from '../../api/networking/v1/ip-address.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { isAlreadyExists, isNotFound } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { planAddress } from './ip-addresses-plan.ts';

export const ipAddressesRights: AccountRights = {
  // Upstream's API server writes IPAddresses itself.
  own: [
    ['get list watch create delete', 'networking.k8s.io', 'ipaddresses'],
    ['get list watch', 'core', 'services'],
  ],
};

const holders = 'ip-addresses/cluster-ip';

export function ipAddressesController({ client, informers, log }: ControllerContext): ControllerDefinition {
  const services = informers.informerFor(serviceResource);
  services.addIndex(holders, clusterAddresses);
  const addresses = informers.informerFor(ipAddressResource).lister;
  const api = client.resource(ipAddressResource);
  return {
    name: 'ip-addresses',
    watches: [
      watched(serviceResource, clusterAddresses),
      watched(ipAddressResource, ({ metadata }) => [metadata.name]),
    ],
    async reconcile(address) {
      const [holder] = services.lister.byIndex(holders, address);
      const step = planAddress(address, addresses.get(address), holder);
      if (step.type === 'create') await tolerate(api.create(step.draft), isAlreadyExists);
      if (step.type === 'delete') {
        if (holder) log.warn('an IPAddress names another owner; making it again', { address });
        await tolerate(api.delete(address), isNotFound);
      }
      return undefined;
    },
  };
}
