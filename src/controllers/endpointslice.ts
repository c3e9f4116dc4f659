/**
 * Publishes the pods behind a Service as EndpointSlices. A Service without a selector is left alone: someone
 * else writes its slices. Slices go with their Service, which owns them.
 */
import { type Pod, podResource } from '../api/core/v1/pod.ts';
import { serviceResource } from '../api/core/v1/service.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
  managedByLabel,
  serviceNameLabel,
} from '../api/discovery/v1/endpoint-slice.ts';
import { matches, selectorFromMap } from '../apimachinery/labels.ts';
import { isTerminating, type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../controller-runtime/definition.ts';
import { controllerReference } from './claim.ts';
import { manager, planSlices } from './endpointslice-plan.ts';
import { ifPresent } from './if-present.ts';
import { ObservedWrites, verifyAfter } from './observed-writes.ts';

/** Slices by `namespace/service`. */
const byService = 'endpointslice.service';

export function endpointSliceController(context: ControllerContext): ControllerDefinition {
  const { client, clock, informers } = context;
  const services = informers.informerFor(serviceResource).lister;
  const pods = informers.informerFor(podResource).lister;
  const sliceInformer = informers.informerFor(endpointSliceResource);
  const slices = sliceInformer.lister;
  sliceInformer.addIndex(byService, serviceOf);
  const writes = new ObservedWrites(client, endpointSliceResource, sliceInformer);
  const api = client.resource(endpointSliceResource);

  const servicesOf = (pod: Pod): readonly ObjectKey[] =>
    services
      .list(pod.metadata.namespace)
      .filter(
        ({ spec }) =>
          hasSelector(spec.selector) && matches(selectorFromMap(spec.selector), pod.metadata.labels),
      )
      .map(objectKey);

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const service = services.get(key);
    if (!service || isTerminating(service) || !hasSelector(service.spec.selector)) return undefined;
    if (service.spec.type === 'ExternalName') return undefined;
    if (!(await writes.settled(key, clock.now()))) return { requeueAfter: verifyAfter };
    const selector = selectorFromMap(service.spec.selector);
    const backing = pods
      .list(service.metadata.namespace)
      .filter((pod) => matches(selector, pod.metadata.labels));
    const plan = planSlices(
      service,
      controllerReference(serviceResource, service),
      backing,
      slices.byIndex(byService, key),
    );
    // Endpoints that went must be gone even when a creation fails, so what is there is put right first.
    for (const slice of plan.update) writes.written(key, await api.update(slice), clock.now());
    for (const slice of plan.remove) await remove(key, slice);
    for (const slice of plan.create) writes.written(key, await api.create(slice), clock.now());
    return undefined;
  }

  async function remove(key: ObjectKey, slice: EndpointSlice): Promise<void> {
    const { name, namespace, uid } = slice.metadata;
    await ifPresent(api.delete(name, namespace, { preconditions: { uid } }));
    writes.removed(key, slice, clock.now());
  }

  return {
    name: 'endpointslice',
    watches: [
      watched(serviceResource, (service) => [objectKey(service)]),
      watched(podResource, servicesOf),
      watched(endpointSliceResource, serviceOf),
    ],
    reconcile,
  };
}

function hasSelector(selector: Record<string, string> | undefined): selector is Record<string, string> {
  return selector !== undefined && Object.keys(selector).length > 0;
}

/** The Service of a slice that this controller made. */
function serviceOf(slice: EndpointSlice): readonly ObjectKey[] {
  const labels = slice.metadata.labels ?? {};
  const service = labels[serviceNameLabel];
  return service && labels[managedByLabel] === manager ? [`${slice.metadata.namespace}/${service}`] : [];
}
