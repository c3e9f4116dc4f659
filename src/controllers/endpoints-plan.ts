/**
 * Which Endpoints a Service needs, from the slices that were made of its pods. Pure. What comes out is what
 * k8s.io/kubernetes pkg/controller/endpoint makes of the pods themselves, repacked as pkg/api/v1/endpoints does it.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '../api/core/v1/endpoints.ts';
import type { Service } from '../api/core/v1/service.ts';
import type {
  Endpoint,
  EndpointSlice,
  EndpointPort as SlicePort,
} from '../api/discovery/v1/endpoint-slice.ts';
import { deepEqual } from '../apimachinery/equality.ts';
import type { Draft } from '../apimachinery/meta.ts';
import { inheritedLabels } from './endpointslice-plan.ts';

const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const manager = 'endpoint-controller';
const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity';
/** One object holds them all, so there is an end to how many it can be. */
export const maxAddresses = 1000;

/** Made by this controller, for whatever Service. */
export const isManaged = ({ metadata }: Endpoints) => metadata.labels?.[managedByLabel] === manager;

export type EndpointsPlan =
  | { readonly create: Draft<Endpoints> }
  | { readonly update: Endpoints }
  | undefined;

/** `slices` are those of the Service's pods, all of them; undefined when nothing has to be written. */
export function planEndpoints(
  service: Service,
  slices: readonly EndpointSlice[],
  existing: Endpoints | undefined,
): EndpointsPlan {
  const all = subsetsOf(slices);
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

/** Who serves one port, by address and pod; the value says whether it is ready. */
interface Serving {
  readonly port: EndpointPort | undefined;
  readonly ready: Map<string, boolean>;
}

/**
 * Ports that the same addresses serve share a subset, whatever slices these are in. An address that is not ready in
 * one slice and ready in another is not ready. Endpoints without ports, of a headless Service, are a subset too.
 */
function subsetsOf(slices: readonly EndpointSlice[]): EndpointSubset[] {
  const addresses = new Map<string, EndpointAddress>();
  const serving = new Map<string, Serving>();
  for (const { ports, endpoints } of slices) {
    const served = (ports.length > 0 ? ports.flatMap(portOf) : [undefined]).map((port) => {
      const key = JSON.stringify(port ?? '');
      const known = serving.get(key) ?? { port, ready: new Map<string, boolean>() };
      serving.set(key, known);
      return known;
    });
    for (const endpoint of endpoints) {
      const address = addressOf(endpoint);
      if (!address) continue;
      const id = `${address.ip} ${address.targetRef?.uid ?? ''}`;
      if (!addresses.has(id)) addresses.set(id, address);
      for (const { ready } of served) ready.set(id, isReady(endpoint) && ready.get(id) !== false);
    }
  }
  const groups = Map.groupBy(
    [...serving.values()].filter(({ ready }) => ready.size > 0),
    ({ ready }) => [...ready].sort(byFirst).join(),
  );
  return [...groups.values()].map((group) => subsetOf(group, addresses)).sort(byPort);
}

function subsetOf(group: readonly Serving[], known: ReadonlyMap<string, EndpointAddress>): EndpointSubset {
  const ids = [...(group[0]?.ready ?? [])].sort(byFirst);
  const those = (wanted: boolean) =>
    ids.flatMap(([id, ready]) =>
      ready === wanted ? [known.get(id)].filter((one) => one !== undefined) : [],
    );
  const [addresses, notReadyAddresses] = [those(true), those(false)];
  const ports = group.flatMap(({ port }) => (port ? [port] : []));
  return {
    ...(addresses.length > 0 && { addresses }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
    ...(ports.length > 0 && { ports }),
  };
}

const isReady = ({ conditions }: Endpoint) => conditions.ready !== false;

/** A pod that ends is in no Endpoints, unless its Service publishes all; then its slice calls it ready. */
function addressOf(endpoint: Endpoint): EndpointAddress | undefined {
  const { addresses, conditions, hostname, nodeName, targetRef } = endpoint;
  const [ip] = addresses;
  if (ip === undefined || (conditions.terminating && !isReady(endpoint))) return undefined;
  return {
    ip,
    ...(hostname && { hostname }),
    ...(nodeName && { nodeName }),
    ...(targetRef && { targetRef }),
  };
}

function portOf({ name, protocol, port, appProtocol }: SlicePort): EndpointPort[] {
  if (port === undefined) return [];
  return [{ ...(name && { name }), protocol, port, ...(appProtocol && { appProtocol }) }];
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const byFirst = ([a]: readonly [string, boolean], [b]: readonly [string, boolean]) => compare(a, b);

/** When pods have different port numbers under one name, in the order of the numbers. */
function byPort(a: EndpointSubset, b: EndpointSubset): number {
  const [one, other] = [a.ports?.[0], b.ports?.[0]];
  return compare(one?.name ?? '', other?.name ?? '') || (one?.port ?? 0) - (other?.port ?? 0);
}

/**
 * The same list when it has no more than `max` addresses. Else each subset keeps its part: of the ready ones, and
 * of those that are not as long as there is room.
 */
function atMost(subsets: EndpointSubset[], max: number): EndpointSubset[] {
  const ready = subsets.map(({ addresses = [] }) => addresses.length);
  const notReady = subsets.map(({ notReadyAddresses = [] }) => notReadyAddresses.length);
  if (sum(ready) + sum(notReady) <= max) return subsets;
  const kept = shares(ready, max);
  const alsoKept = shares(notReady, max - sum(kept));
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports }, index) => {
    const [some, others] = [addresses.slice(0, kept[index]), notReadyAddresses.slice(0, alsoKept[index])];
    if (some.length + others.length === 0) return [];
    return [
      {
        ...(some.length > 0 && { addresses: some }),
        ...(others.length > 0 && { notReadyAddresses: others }),
        ...(ports && { ports }),
      },
    ];
  });
}

/** How much each of the counts gets of `max`, in proportion and rounded up as long as there is some left. */
function shares(counts: readonly number[], max: number): number[] {
  const total = sum(counts);
  let left = Math.min(max, total);
  return counts.map((count) => {
    const share = Math.min(left, count, Math.ceil((count / total) * max) || 0);
    left -= share;
    return share;
  });
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
