/**
 * Plans the EndpointSlices of a Service from its pods and the existing slices. Pure. Follows
 * k8s.io/kubernetes pkg/controller/endpointslice and k8s.io/endpointslice: endpoints stay in their slice, and
 * slices that change anyway are filled first, so that a change affects as few slices as possible.
 */
import { servingContainers } from '../../api/core/v1/container/init-containers.ts';
import { isPodTerminal, podReady } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import {
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  lastChangeAnnotation,
  managedByLabel,
  serviceNameLabel,
} from '../../api/discovery/v1/endpoint-slice.ts';
import { deepCopy, deepEqual } from '../../apimachinery/equality.ts';
import type { Draft, OwnerReference } from '../../apimachinery/meta.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { type AddressFamily, addressFamilies, familyOf } from '../../base/address-families.ts';
import { portsKey, type SlicePlan, slicesManagedBy } from './managed-slices.ts';

/** Slices that are made from pods. */
export const podSlices = slicesManagedBy('endpointslice-controller.k8s.io');
const headlessLabel = 'service.kubernetes.io/headless';
export const maxEndpointsPerSlice = 100;

/** Returns the zone of a node; undefined for a node that is unknown or in none. */
export type ZoneOf = (nodeName: string) => string | undefined;
const noZones: ZoneOf = () => undefined;

/**
 * Plans the slices. `pods` match the Service's selector; `existing` are the slices that this controller
 * created for the Service.
 */
export function planSlices(
  service: Service,
  owner: OwnerReference,
  pods: readonly Pod[],
  existing: readonly EndpointSlice[],
  zoneOf: ZoneOf = noZones,
): SlicePlan {
  const labels = {
    ...inheritedLabels(service),
    [serviceNameLabel]: service.metadata.name,
    [managedByLabel]: podSlices.manager,
  };
  const trigger = lastChange(service, pods, existing);
  const families = serviceFamilies(service);
  const wrongType = existing.filter(({ addressType }) => !families.some((family) => family === addressType));
  const plan: Plan = { create: [], update: [], remove: [...wrongType] };
  for (const family of families) {
    const slices = existing.filter((slice) => slice.addressType === family && !isTerminating(slice));
    const desired = desiredGroups(service, pods, { family, zoneOf });
    planFamily(plan, { service, owner, labels, trigger, family, slices, desired });
  }
  return plan;
}

/** Returns the families of a Service's addresses, which are those of its slices. */
const serviceFamilies = ({ spec }: Service): readonly AddressFamily[] =>
  spec.ipFamilies?.length ? addressFamilies.filter((family) => spec.ipFamilies?.includes(family)) : ['IPv4'];

interface Plan {
  readonly create: Draft<EndpointSlice>[];
  readonly update: EndpointSlice[];
  readonly remove: EndpointSlice[];
}

interface FamilyWork {
  readonly service: Service;
  readonly owner: OwnerReference;
  readonly labels: Record<string, string>;
  readonly trigger: string | undefined;
  readonly family: AddressFamily;
  /** Slices of the family. */
  readonly slices: readonly EndpointSlice[];
  readonly desired: Map<string, Group>;
}

/** Adds the changes of one family's slices to `plan`. */
function planFamily(plan: Plan, work: FamilyWork): void {
  const { service, owner, labels, trigger, family, slices, desired } = work;
  const byPorts = Map.groupBy(slices, (slice) => portsKey(slice.ports));
  // A Service without endpoints keeps one empty slice of each family, which shows that there are none.
  if (desired.size === 0) {
    const ports = slices[0]?.ports ?? [];
    desired.set(portsKey(ports), { ports, endpoints: [] });
  }
  const changed = ({ slice, endpoints }: Kept) => {
    const metadata = { ...slice.metadata, labels, ownerReferences: [owner] };
    const next = { ...deepCopy(slice), endpoints, metadata };
    return deepEqual(next, slice) ? [] : [annotated(next, trigger)];
  };
  for (const [key, group] of desired) {
    const packed = pack(group.endpoints, byPorts.get(key) ?? []);
    plan.update.push(...packed.kept.flatMap(changed));
    plan.remove.push(...packed.emptied);
    for (const endpoints of packed.fresh) {
      const slice = newSlice(service, owner, labels, { family, ports: group.ports, endpoints });
      plan.create.push(annotated(slice, trigger));
    }
  }
  for (const [key, unwanted] of byPorts) if (!desired.has(key)) plan.remove.push(...unwanted);
}

/**
 * Returns the time of the first change of a pod's readiness that the planned slices publish. Returns
 * undefined for other changes, such as a deletion or another selector. Changes that the slices already
 * publish are excluded.
 */
function lastChange(
  service: Service,
  pods: readonly Pod[],
  existing: readonly EndpointSlice[],
): string | undefined {
  const dates = existing.map(({ metadata: { annotations } }) => annotations?.[lastChangeAnnotation] ?? '');
  const since = dates.toSorted().at(-1) ?? '';
  const served = new Map<string | undefined, boolean | undefined>(
    existing.flatMap(({ endpoints }) =>
      endpoints.map((endpoint) => [endpointKey(endpoint), endpoint.conditions.serving] as const),
    ),
  );
  const { creationTimestamp } = service.metadata;
  const changed = pods.filter(
    (pod) =>
      serviceFamilies(service).some((family) => endpointOf(service, pod, { family })) &&
      served.get(pod.metadata.uid) !== podReady(pod),
  );
  const times = changed.flatMap(({ status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
    // Changes before the creation of the Service count from its creation.
    return ready === undefined ? [] : [ready, creationTimestamp].toSorted().slice(1);
  });
  return times.filter((time) => time > since).sort()[0];
}

interface Kept {
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
}

interface Packing {
  readonly kept: readonly Kept[];
  readonly emptied: readonly EndpointSlice[];
  readonly fresh: readonly Endpoint[][];
}

/** Distributes the endpoints of one set of ports over the slices that have these ports. */
function pack(wanted: readonly Endpoint[], slices: readonly EndpointSlice[]): Packing {
  const missing = new Map(wanted.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const bins = [...slices].sort(byName).map((slice) => {
    const endpoints: Endpoint[] = [];
    for (const endpoint of slice.endpoints) {
      const current = missing.get(endpointKey(endpoint));
      if (current) endpoints.push(current);
      missing.delete(endpointKey(endpoint));
    }
    return { slice, endpoints, changed: !deepEqual(endpoints, slice.endpoints) };
  });
  const rest = [...missing.values()];
  const room = (bin: { endpoints: Endpoint[] }) => maxEndpointsPerSlice - bin.endpoints.length;
  for (const bin of bins.filter((bin) => bin.changed)) bin.endpoints.push(...rest.splice(0, room(bin)));
  const fitting = bins.filter((bin) => room(bin) >= rest.length).sort((a, b) => room(a) - room(b))[0];
  fitting?.endpoints.push(...rest.splice(0));
  const fresh: Endpoint[][] = [];
  while (rest.length > 0) fresh.push(rest.splice(0, maxEndpointsPerSlice));
  const full = bins.filter((bin) => bin.endpoints.length > 0);
  if (full.length > 0 || fresh.length > 0)
    return {
      kept: full,
      emptied: bins.filter((bin) => bin.endpoints.length === 0).map((bin) => bin.slice),
      fresh,
    };
  const [placeholder, ...surplus] = bins;
  return {
    kept: placeholder ? [placeholder] : [],
    emptied: surplus.map((bin) => bin.slice),
    fresh: placeholder ? [] : [[]],
  };
}

interface Group {
  readonly ports: EndpointPort[];
  readonly endpoints: Endpoint[];
}

/** Groups the endpoints by their ports, because a named targetPort may resolve to different numbers. */
function desiredGroups(service: Service, pods: readonly Pod[], of: EndpointChoice): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const pod of [...pods].sort(byName)) {
    const endpoint = endpointOf(service, pod, of);
    if (!endpoint) continue;
    const ports = portsOf(service, pod);
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    group.endpoints.push(endpoint);
    groups.set(key, group);
  }
  return groups;
}

/**
 * Returns true if clients should use the endpoints of their own zone (upstream: trafficDistribution's
 * PreferClose, KEP-4444).
 */
const prefersZone = ({ spec }: Service): boolean => spec.trafficDistribution === 'PreferClose';

export interface EndpointChoice {
  readonly family: AddressFamily;
  /** Default: no node has a zone. */
  readonly zoneOf?: ZoneOf;
}

/** Returns the endpoint for a pod, or undefined if the pod has no address of the family or has ended. */
export function endpointOf(
  service: Service,
  pod: Pod,
  { family, zoneOf = noZones }: EndpointChoice = { family: 'IPv4' },
): Endpoint | undefined {
  const addresses = [...(pod.status?.podIPs ?? []).map(({ ip }) => ip), pod.status?.podIP];
  const address = addresses.find((ip) => ip !== undefined && familyOf(ip) === family);
  if (isPodTerminal(pod) || address === undefined) return undefined;
  const terminating = isTerminating(pod);
  const serving = podReady(pod);
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const zone = pod.spec.nodeName === undefined ? undefined : zoneOf(pod.spec.nodeName);
  return {
    addresses: [address],
    conditions: {
      ready,
      serving,
      terminating,
    },
    ...(pod.spec.hostname && pod.spec.subdomain === service.metadata.name && { hostname: pod.spec.hostname }),
    nodeName: pod.spec.nodeName,
    ...(zone !== undefined && { zone }),
    ...(zone !== undefined && ready && prefersZone(service) && { hints: { forZones: [{ name: zone }] } }),
    targetRef: {
      kind: 'Pod',
      namespace: pod.metadata.namespace,
      name: pod.metadata.name,
      uid: pod.metadata.uid,
    },
  };
}

/**
 * Returns the Service's ports as this pod serves them. A port whose named target the pod lacks is omitted.
 */
export function portsOf(service: Service, pod: Pod): EndpointPort[] {
  return (service.spec.ports ?? []).flatMap((port) => {
    const number = targetPort(port.targetPort ?? port.port, port.protocol, pod);
    if (number === undefined) return [];
    const { name = '', protocol, appProtocol } = port;
    return [{ name, protocol, port: number, ...(appProtocol && { appProtocol }) }];
  });
}

function targetPort(target: number | string, protocol: string, pod: Pod): number | undefined {
  if (typeof target === 'number') return target;
  for (const container of servingContainers(pod.spec))
    for (const port of container.ports ?? [])
      if (port.name === target && port.protocol === protocol) return port.containerPort;
  return undefined;
}

/** Returns the labels that a Service passes on to its slices and Endpoints. */
export function inheritedLabels({ metadata, spec }: Service): Record<string, string> {
  const { [headlessLabel]: _headless, ...own } = metadata.labels ?? {};
  return spec.clusterIP === 'None' ? { ...own, [headlessLabel]: '' } : own;
}

function newSlice(
  service: Service,
  owner: OwnerReference,
  labels: Record<string, string>,
  { family, ports, endpoints }: { family: AddressFamily; ports: EndpointPort[]; endpoints: Endpoint[] },
): Draft<EndpointSlice> {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${service.metadata.name}-`,
      namespace: service.metadata.namespace,
      labels,
      ownerReferences: [owner],
    },
    addressType: family,
    endpoints,
    ports,
  };
}

const annotated = <T extends Draft<EndpointSlice>>(slice: T, trigger: string | undefined): T =>
  trigger === undefined
    ? slice
    : {
        ...slice,
        metadata: {
          ...slice.metadata,
          annotations: { ...slice.metadata.annotations, [lastChangeAnnotation]: trigger },
        },
      };

const byName = (a: { metadata: { name: string } }, b: { metadata: { name: string } }) =>
  a.metadata.name < b.metadata.name ? -1 : 1;

/** Returns the uid of the pod, so that a pod replaced under the same name is another endpoint. */
const endpointKey = (endpoint: Endpoint) => endpoint.targetRef?.uid;
