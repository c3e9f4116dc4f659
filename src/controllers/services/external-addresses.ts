/**
 * Reports in the status of each Service which of its external addresses nodes do not serve, whenever nodes,
 * masters or Services change.
 */

import { nodeResource } from '../../api/core/v1/node/node.ts';
import { externalAddresses } from '../../api/core/v1/service/external-addresses.ts';
import { type ClusterPlaces, ExternalPorts } from '../../api/core/v1/service/external-ports.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { apiService } from '../../api/core/v1/system-objects.ts';
import { endpointSliceResource, serviceNameLabel } from '../../api/discovery/v1/endpoint-slice.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { externalAddressesServed, planExternalStatus } from './external-addresses-plan.ts';

export const externalAddressesRights: AccountRights = {
  kubernetes: [
    [read, 'core', 'services'],
    ['update patch', 'core', 'services/status'],
    ['list watch', 'core', 'nodes'],
    writeEvents,
  ],
  // The controller reads the addresses of masters.
  own: [[read, 'discovery.k8s.io', 'endpointslices']],
};

const mastersScope = {
  namespace: apiService.namespace,
  labelSelector: `${serviceNameLabel}=${apiService.name}`,
};

export const externalAddressesController =
  (places: ClusterPlaces): ControllerFactory =>
  (context) =>
    define(new ExternalPorts(places), context);

function define(
  ports: ExternalPorts,
  { client, clock, events, informers }: ControllerContext,
): ControllerDefinition {
  const services = informers.informerFor(serviceResource).lister;
  const nodes = informers.informerFor(nodeResource).lister;
  const slices = informers.informerFor(endpointSliceResource, mastersScope).lister;

  function serviceKeys(service: Service): readonly ObjectKey[] {
    const key = objectKey(service);
    const changed = ports.setService(key, services.get(key));
    return concerns(service) ? [...new Set([key, ...changed])] : [...changed];
  }

  function mastersKeys(): readonly ObjectKey[] {
    const addresses = slices
      .list(apiService.namespace)
      .flatMap(({ endpoints }) => endpoints.flatMap((endpoint) => endpoint.addresses));
    return [...ports.setMasters(addresses.sort())];
  }

  async function reconcile(key: ObjectKey): Promise<undefined> {
    const service = services.get(key);
    if (!service || isTerminating(service)) return;
    const { conditions, changed, problem } = planExternalStatus(service, ports, rfc3339(clock.now()));
    if (!changed) return;
    const status = { loadBalancer: {}, ...service.status, conditions: [...conditions] };
    const next = { ...deepCopy(service), status } as Service;
    const written = await ifPresent(client.resource(serviceResource).updateStatus(next));
    if (written && problem) events.event(service, 'Warning', problem.reason, problem.message);
  }

  return {
    name: 'service-external-addresses',
    watches: [
      watched(serviceResource, serviceKeys),
      watched(nodeResource, ({ metadata: { name } }) => [...ports.setNode(name, nodes.get(name))]),
      watched(endpointSliceResource, mastersKeys, mastersScope),
    ],
    reconcile,
  };
}

/**
 * Returns true for Services with an external address or a condition about one; most Services have neither.
 */
const concerns = (service: Service) =>
  externalAddresses(service).length > 0 ||
  (service.status?.conditions ?? []).some(({ type }) => type === externalAddressesServed);
