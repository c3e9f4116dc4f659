/**
 * Publishes the pods behind a Service as EndpointSlices. A Service without a selector is ignored, because its
 * slices are written by others. Slices are deleted with their Service, which owns them.
 */
import { zoneLabel } from '../../api/core/v1/node/labels.ts';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { serviceResource } from '../../api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../api/discovery/v1/endpoint-slice.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { matches, selectorFromMap } from '../../apimachinery/labels.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { controllerReference } from '../../controller-runtime/claim.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { verifyAfter } from '../../controller-runtime/observed-writes.ts';
import { planSlices, podSlices } from './endpointslice-plan.ts';
import { hasSelector } from './managed-slices.ts';
import { SliceWriter, sliceReader } from './slice-writer.ts';

export const endpointSliceRights: AccountRights = {
  kubernetes: [
    [read, 'core', 'nodes pods services'],
    ['update', 'core', 'services/finalizers'],
    ['get list watch create update delete', 'discovery.k8s.io', 'endpointslices'],
    writeEvents,
  ],
};

/** Index of pods by the name of their node. */
const byNode = 'endpointslice.node';

export function endpointSliceController(context: ControllerContext): ControllerDefinition {
  const { informers } = context;
  const services = informers.informerFor(serviceResource).lister;
  const podInformer = informers.informerFor(podResource);
  podInformer.addIndex(byNode, ({ spec: { nodeName } }) => (nodeName ? [nodeName] : []));
  const pods = podInformer.lister;
  const nodes = informers.informerFor(nodeResource).lister;
  const slicesOf = sliceReader(context, podSlices);
  const writer = new SliceWriter(context);

  const servicesOf = (pod: Pod): readonly ObjectKey[] =>
    services
      .list(pod.metadata.namespace)
      .filter(
        (service) =>
          hasSelector(service) && matches(selectorFromMap(service.spec.selector ?? {}), pod.metadata.labels),
      )
      .map(objectKey);

  const zoneOf = (node: string) => nodes.get(node)?.metadata.labels?.[zoneLabel] || undefined;
  /** Zones of the nodes at the last check. */
  const zones = new Map<string, string>();
  const servicesAfter = (node: string): readonly ObjectKey[] => {
    const zone = zoneOf(node) ?? '';
    if ((zones.get(node) ?? '') === zone) return [];
    if (zone === '') zones.delete(node);
    else zones.set(node, zone);
    return [...new Set(pods.byIndex(byNode, node).flatMap(servicesOf))];
  };

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const service = services.get(key);
    if (!service || isTerminating(service) || !hasSelector(service)) return undefined;
    if (service.spec.type === 'ExternalName') return undefined;
    if (!(await writer.settled(key))) return { requeueAfter: verifyAfter };
    const selector = selectorFromMap(service.spec.selector ?? {});
    const backing = pods
      .list(service.metadata.namespace)
      .filter((pod) => matches(selector, pod.metadata.labels));
    const owner = controllerReference(serviceResource, service);
    await writer.carryOut(key, planSlices(service, owner, backing, slicesOf(key), zoneOf));
    return undefined;
  }

  return {
    name: 'endpointslice',
    watches: [
      watched(serviceResource, (service) => [objectKey(service)]),
      watched(podResource, servicesOf),
      watched(nodeResource, ({ metadata: { name } }) => servicesAfter(name)),
      watched(endpointSliceResource, podSlices.serviceOf),
    ],
    reconcile,
  };
}
