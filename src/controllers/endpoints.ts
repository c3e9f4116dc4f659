/**
 * Publishes what is behind a Service as Endpoints too, for clients that do not read EndpointSlices. Made from the
 * slices that the endpointslice controller keeps, so it is decided once which pods those are, and a pod that changes
 * in what no slice tells costs nothing here. Endpoints go when their Service goes, also those that a person wrote for
 * it; Endpoints that never had a Service are let be.
 */
import { type Endpoints, endpointsResource } from '../api/core/v1/endpoints.ts';
import { serviceResource } from '../api/core/v1/service.ts';
import { endpointSliceResource } from '../api/discovery/v1/endpoint-slice.ts';
import { isTerminating, type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../controller-runtime/definition.ts';
import { isManaged, planEndpoints } from './endpoints-plan.ts';
import { podSlices } from './endpointslice-plan.ts';
import { ifPresent, unlessNamespaceEnds } from './if-present.ts';
import { hasSelector } from './managed-slices.ts';
import { ObservedWrites, verifyAfter } from './observed-writes.ts';
import { sliceReader } from './slice-writer.ts';

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
    if (!service) return existing && remove(key, existing);
    if (isTerminating(service) || !hasSelector(service) || service.spec.type === 'ExternalName')
      return undefined;
    const { uid } = service.metadata;
    const slices = slicesOf(key).filter(({ metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.uid === uid),
    );
    // Every such Service has a slice soon, an empty one when there are no pods.
    if (slices.length === 0) return undefined;
    const plan = planEndpoints(service, slices, existing);
    if (!plan) return undefined;
    const write = 'create' in plan ? api.create(plan.create) : api.update(plan.update);
    const written = await unlessNamespaceEnds(write);
    if (written) writes.written(key, written, clock.now());
    return undefined;
  }

  async function remove(key: ObjectKey, endpoints: Endpoints): Promise<undefined> {
    const { name, namespace, uid } = endpoints.metadata;
    await ifPresent(api.delete(name, namespace, { preconditions: { uid } }));
    writes.removed(key, endpoints, clock.now());
  }

  /** Those that a person wrote are looked at for the sake of their Service alone. */
  function keysOf(endpoints: Endpoints): readonly ObjectKey[] {
    const key = objectKey(endpoints);
    return isManaged(endpoints) || services.get(key) ? [key] : [];
  }

  return {
    name: 'endpoints',
    watches: [
      watched(serviceResource, (service) => [objectKey(service)]),
      watched(endpointSliceResource, (slice) =>
        podSlices.serviceOf(slice).filter((key) => services.get(key) !== undefined),
      ),
      watched(endpointsResource, keysOf),
    ],
    reconcile,
  };
}
