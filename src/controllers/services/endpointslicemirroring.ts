/**
 * Mirrors user-written Endpoints of a Service without a selector as EndpointSlices, from which the Service's
 * rules and DNS names are made. The slices are owned by the Endpoints and follow them.
 *
 * Endpoints of any author are deleted with their Service (upstream's endpoints controller). Their
 * slices show that they had a Service: Endpoints that were never mirrored are left alone.
 */
import { type Endpoints, endpointsResource } from '../../api/core/v1/service/endpoints.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../api/discovery/v1/endpoint-slice.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { isOwnedBy, isTerminating, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { controllerReference } from '../../controller-runtime/claim.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { verifyAfter } from '../../controller-runtime/observed-writes.ts';
import {
  isMirrored,
  maxAddressesPerSubset,
  mirroredSlices,
  planMirror,
} from './endpointslicemirroring-plan.ts';
import { SliceWriter, sliceReader } from './slice-writer.ts';

export const endpointSliceMirroringRights: AccountRights = {
  kubernetes: [
    [read, 'core', 'endpoints services'],
    ['update', 'core', 'services/finalizers'],
    ['update', 'core', 'endpoints/finalizers'],
    ['get list watch create update delete', 'discovery.k8s.io', 'endpointslices'],
    writeEvents,
  ],
  // The controller deletes mirrored Endpoints whose Service has been deleted.
  own: [['delete', 'core', 'endpoints']],
};

const isToBeMirrored = (endpoints: Endpoints, service: Service) =>
  !isTerminating(endpoints) && isMirrored(endpoints, service);

export function endpointSliceMirroringController(context: ControllerContext): ControllerDefinition {
  const { client, informers, events } = context;
  const services = informers.informerFor(serviceResource).lister;
  const endpointsLister = informers.informerFor(endpointsResource).lister;
  const slicesOf = sliceReader(context, mirroredSlices);
  const writer = new SliceWriter(context);

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    if (!(await writer.settled(key))) return { requeueAfter: verifyAfter };
    const endpoints = endpointsLister.get(key);
    const service = services.get(key);
    const existing = slicesOf(key).filter((slice) => !isTerminating(slice));
    if (endpoints && service && isToBeMirrored(endpoints, service)) await mirror(key, endpoints, existing);
    else if (service || !endpoints || (await removeOrphan(endpoints, existing)))
      await writer.carryOut(key, { create: [], update: [], remove: existing });
    return undefined;
  }

  async function mirror(key: ObjectKey, endpoints: Endpoints, existing: readonly EndpointSlice[]) {
    const plan = planMirror(endpoints, controllerReference(endpointsResource, endpoints), existing);
    await writer.carryOut(key, plan);
    if (plan.skipped > 0)
      events.event(
        endpoints,
        'Warning',
        'TooManyAddressesToMirror',
        `A max of ${maxAddressesPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ` +
          `${plan.skipped} addresses were skipped`,
      );
  }

  const isThere = async ({ metadata: { name, namespace } }: Endpoints) =>
    (await ifPresent(client.resource(serviceResource).get(name, namespace))) !== undefined;

  /**
   * Deletes mirrored Endpoints whose Service is gone. Returns false if the Service exists: a cache that does
   * not show the Service yet is no reason to delete user-written Endpoints.
   */
  async function removeOrphan(endpoints: Endpoints, existing: readonly EndpointSlice[]): Promise<boolean> {
    if (!existing.some((slice) => isOwnedBy(slice, endpoints))) return true;
    if (await isThere(endpoints)) return false;
    const { name, namespace, uid } = endpoints.metadata;
    await ifPresent(client.resource(endpointsResource).delete(name, namespace, { preconditions: { uid } }));
    return true;
  }

  return {
    name: 'endpointslicemirroring',
    watches: [
      watched(serviceResource, (service) => [objectKey(service)]),
      watched(endpointsResource, (endpoints) => [objectKey(endpoints)]),
      watched(endpointSliceResource, mirroredSlices.serviceOf),
    ],
    reconcile,
  };
}
