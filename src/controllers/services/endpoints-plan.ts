/**
 * Plans the Endpoints of a Service from the slices of its pods. Pure. The result equals that of
 * k8s.io/kubernetes pkg/controller/endpoint, which uses the pods themselves, repacked as in
 * pkg/api/v1/endpoints.
 */
import type {
  EndpointAddress,
  EndpointPort,
  EndpointSubset,
  Endpoints,
} from '../../api/core/v1/service/endpoints.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import type {
  Endpoint,
  EndpointSlice,
  EndpointPort as SlicePort,
} from '../../api/discovery/v1/endpoint-slice.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { Draft } from '../../apimachinery/meta.ts';
import { inheritedLabels } from './endpointslice-plan.ts';

const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const manager = 'endpoint-controller';
const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity';
/** Maximum number of addresses, because one object holds them all. */
export const maxAddresses = 1000;

/** Returns true for Endpoints that this controller created, for any Service. */
export const isManaged = ({ metadata }: Endpoints) => metadata.labels?.[managedByLabel] === manager;

export type EndpointsPlan =
  | { readonly create: Draft<Endpoints> }
  | { readonly update: Endpoints }
  | undefined;

/**
 * Plans the write, or returns undefined if nothing has to be written. `slices` are all slices of the
 * Service's pods.
 */
export function planEndpoints(
  service: Service,
  slices: readonly EndpointSlice[],
  existing: Endpoints | undefined,
): EndpointsPlan {
  // Endpoints have the addresses of one family.
  const first = service.spec.ipFamilies?.[0] ?? 'IPv4';
  const all = subsetsOf(slices.filter(({ addressType }) => addressType === first));
  const subsets = atMost(all, maxAddresses);
  const labels = { ...inheritedLabels(service), [managedByLabel]: manager };
  const { [overCapacityAnnotation]: _was, ...others } = existing?.metadata.annotations ?? {};
  const annotations = subsets === all ? others : { ...others, [overCapacityAnnotation]: 'truncated' };
  if (!existing) {
    const { name, namespace } = service.metadata;
    const metadata = { name, namespace, labels, ...(subsets !== all && { annotations }) };
    return { create: { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets } };
  }
  const same =
    deepEqual(existing.subsets ?? [], subsets) &&
    deepEqual(existing.metadata.labels, labels) &&
    deepEqual(existing.metadata.annotations ?? {}, annotations);
  if (same) return undefined;
  return { update: { ...existing, metadata: { ...existing.metadata, labels, annotations }, subsets } };
}

interface Served {
  readonly address: EndpointAddress;
  readonly ready: boolean;
}

/** Addresses that serve one port, by address and pod. */
interface Serving {
  readonly port: EndpointPort | undefined;
  readonly served: Map<string, Served>;
}

/**
 * Returns the subsets. Ports that the same addresses serve share a subset, regardless of their slices. An
 * address that is ready in one slice and not ready in another is not ready. Endpoints without ports, of a
 * headless Service, form a subset too.
 */
function subsetsOf(slices: readonly EndpointSlice[]): EndpointSubset[] {
  const groups = Map.groupBy(
    servingOf(slices).filter(({ served }) => served.size > 0),
    ({ served }) =>
      [...served]
        .map(([id, { ready }]) => `${id} ${ready}`)
        .sort()
        .join(),
  );
  return [...groups.values()].map(subsetOf).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

function servingOf(slices: readonly EndpointSlice[]): Serving[] {
  const all = new Map<string, Serving>();
  for (const { ports, endpoints } of slices) {
    for (const port of ports.length > 0 ? ports.flatMap(portOf) : [undefined]) {
      const key = JSON.stringify([port]);
      const { served } = all.get(key) ?? { served: new Map<string, Served>() };
      all.set(key, { port, served });
      addServed(served, endpoints);
    }
  }
  return [...all.values()];
}

function addServed(served: Map<string, Served>, endpoints: EndpointSlice['endpoints']): void {
  for (const endpoint of endpoints) {
    const address = addressOf(endpoint);
    if (!address) continue;
    const id = JSON.stringify([address.ip, address.targetRef?.uid]);
    served.set(id, { address, ready: isReady(endpoint) && served.get(id)?.ready !== false });
  }
}

/** Returns the subset of a group of ports; all ports of a group are served by the same addresses. */
function subsetOf(group: readonly Serving[]): EndpointSubset {
  const all = [...new Map(group.flatMap(({ served }) => [...served]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, served]) => served);
  const those = (wanted: boolean) => all.flatMap(({ address, ready }) => (ready === wanted ? [address] : []));
  const ports = group.flatMap(({ port }) => port ?? []);
  return subset(those(true), those(false), ports);
}

/** Builds a subset; empty lists are omitted. */
const subset = (
  addresses: EndpointAddress[],
  notReadyAddresses: EndpointAddress[],
  ports: EndpointPort[],
): EndpointSubset => ({
  ...(addresses.length > 0 && { addresses }),
  ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
  ...(ports.length > 0 && { ports }),
});

/**
 * Returns the sort key of a subset. If pods have different port numbers under one name, the order is numeric.
 */
const placeOf = ({ ports = [] }: EndpointSubset) =>
  ports.map(({ name = '', port }) => `${name} ${String(port).padStart(5, '0')}`).join();

const isReady = ({ conditions }: Endpoint) => conditions.ready !== false;

/**
 * Returns the address of an endpoint, or undefined. A terminating pod is in no Endpoints, unless its Service
 * publishes all addresses; its slice then marks it as ready.
 */
function addressOf(endpoint: Endpoint): EndpointAddress | undefined {
  const { addresses, conditions, hostname, nodeName, targetRef } = endpoint;
  const [ip] = addresses;
  if (ip === undefined || (conditions.terminating && !isReady(endpoint))) return undefined;
  return { ip, hostname, nodeName, targetRef };
}

function portOf({ name, protocol, port, appProtocol }: SlicePort): EndpointPort[] {
  if (port === undefined) return [];
  return [{ ...(name && { name }), protocol, port, appProtocol }];
}

/**
 * Returns the same subsets if they have at most `max` addresses. Otherwise each subset keeps its share of the
 * ready addresses, and of the other addresses as long as there is room.
 */
function atMost(subsets: EndpointSubset[], max: number): EndpointSubset[] {
  const ready = subsets.map(({ addresses = [] }) => addresses.length);
  const notReady = subsets.map(({ notReadyAddresses = [] }) => notReadyAddresses.length);
  if (sum(ready) + sum(notReady) <= max) return subsets;
  const kept = shares(ready, max);
  const alsoKept = shares(notReady, max - sum(kept));
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
    const [some, others] = [addresses.slice(0, kept[index]), notReadyAddresses.slice(0, alsoKept[index])];
    return some.length + others.length > 0 ? [subset(some, others, ports)] : [];
  });
}

/**
 * Returns the share of `max` for each count, in proportion and rounded up as long as part of `max` is left.
 */
function shares(counts: readonly number[], max: number): readonly number[] {
  const total = sum(counts);
  if (total <= max) return counts;
  let left = max;
  return counts.map((count) => {
    const share = Math.min(left, Math.ceil((count * max) / total));
    left -= share;
    return share;
  });
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
