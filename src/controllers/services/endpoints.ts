/**
 * Publishes the backends of a Service as Endpoints, for clients that do not read EndpointSlices. The
 * Endpoints are derived from the slices of the endpointslice controller, so the choice of pods is made once,
 * and changes of a pod that its slice does not show cost nothing here. The Endpoints are deleted after their
 * Service.
 */
import { type Endpoints, endpointsResource } from '../../api/core/v1/service/endpoints.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../api/discovery/v1/endpoint-slice.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { isOwnedBy, isTerminating, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent, unlessNamespaceEnds } from '../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../controller-runtime/observed-writes.ts';
import { isManaged, planEndpoints } from './endpoints-plan.ts';
import { podSlices } from './endpointslice-plan.ts';
import { hasSelector } from './managed-slices.ts';
import { sliceReader } from './slice-writer.ts';

export const endpointsRights: AccountRights = {
  kubernetes: [
    [read, 'core', 'pods services'],
    ['get list watch create update delete', 'core', 'endpoints'],
    ['create', 'core', 'endpoints/restricted'],
    writeEvents,
  ],
};

const isPublished = (service: Service) =>
  hasSelector(service) && service.spec.type !== 'ExternalName' && !isTerminating(service);

export function endpointsController(context: ControllerContext): ControllerDefinition {
  const { client, clock, informers } = context;
  const services = informers.informerFor(serviceResource).lister;
  const informer = informers.informerFor(endpointsResource);
  const writes = new ObservedWrites(client, endpointsResource, informer);
  const slicesOf = sliceReader(context, podSlices);
  const api = client.resource(endpointsResource);

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const service = services.get(key);
    if (!(await writes.settled(key, clock.now()))) return { requeueAfter: verifyAfter };
    const existing = informer.lister.get(key);
    if (existing && isTerminating(existing)) return undefined;
    if (service) await publish(key, service, existing);
    else if (existing && isManaged(existing)) await remove(key, existing);
    return undefined;
  }

  async function publish(key: ObjectKey, service: Service, existing: Endpoints | undefined): Promise<void> {
    if (!isPublished(service)) return;
    const slices = slicesOf(key).filter((slice) => isOwnedBy(slice, service));
    // Every such Service soon gets a slice, an empty one if there are no pods.
    if (slices.length === 0) return;
    const plan = planEndpoints(service, slices, existing);
    if (!plan) return;
    const write = 'create' in plan ? api.create(plan.create) : api.update(plan.update);
    const written = await unlessNamespaceEnds(write);
    if (written) writes.written(key, written, clock.now());
  }

  async function remove(key: ObjectKey, endpoints: Endpoints): Promise<void> {
    const { name, namespace, uid } = endpoints.metadata;
    await ifPresent(api.delete(name, namespace, { preconditions: { uid } }));
    writes.removed(key, endpoints, clock.now());
  }

  return {
    name: 'endpoints',
    watches: [
      watched(serviceResource, (service) => [objectKey(service)]),
      watched(endpointSliceResource, podSlices.serviceOf),
      watched(endpointsResource, (endpoints) => [objectKey(endpoints)]),
    ],
    reconcile,
  };
}
