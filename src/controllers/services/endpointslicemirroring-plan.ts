/**
 * Plans the EndpointSlices that mirror user-written Endpoints. Pure. Follows k8s.io/kubernetes
 * pkg/controller/endpointslicemirroring: one slice for all addresses of a family that serve the same ports.
 */

import {
  type EndpointAddress,
  type EndpointSubset,
  type Endpoints,
  skipMirrorLabel,
} from '../../api/core/v1/service/endpoints.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import {
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  lastChangeAnnotation,
  managedByLabel,
  serviceNameLabel,
} from '../../api/discovery/v1/endpoint-slice.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { Draft, OwnerReference } from '../../apimachinery/meta.ts';
import { setTraceNote, traceAnnotation, traceNoteOf } from '../../apimachinery/trace-note.ts';
import { canonicalAddress, isIPv4 } from '../../base/addresses.ts';
import { packKey } from '../../base/packed-key.ts';
import { hasSelector, portsKey, type SlicePlan, slicesManagedBy } from './managed-slices.ts';

export const mirroredSlices = slicesManagedBy('endpointslicemirroring-controller.k8s.io');
/** Maximum number of addresses, which is the capacity of one slice. */
export const maxAddressesPerSubset = 1000;
/** Endpoints with this annotation are leader election locks, not endpoints. */
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
const notMirrored: ReadonlySet<string> = new Set([
  traceAnnotation,
  lastChangeAnnotation,
  'kubectl.kubernetes.io/last-applied-configuration',
]);

/** Returns true for Endpoints of a Service without a selector; other Endpoints are made from slices. */
export const isMirrored = ({ metadata }: Endpoints, service: Service) =>
  !hasSelector(service) &&
  metadata.labels?.[skipMirrorLabel] !== 'true' &&
  metadata.annotations?.[leaderAnnotation] === undefined;

export interface MirrorPlan extends SlicePlan {
  /** Number of addresses that are in no slice because there are too many of them. */
  readonly skipped: number;
}

/** Plans the slices. `existing` are the slices that were mirrored from these Endpoints before. */
export function planMirror(
  endpoints: Endpoints,
  owner: OwnerReference,
  existing: readonly EndpointSlice[],
): MirrorPlan {
  const { groups, skipped } = groupsOf(endpoints.subsets ?? []);
  const metadata = mirroredMetadata(endpoints, owner);
  const plan = { create: [] as Draft<EndpointSlice>[], update: [] as EndpointSlice[] };
  const left = new Set(existing);
  const missing: Group[] = [];
  const put = (slice: EndpointSlice, { ports, endpoints }: Group) => {
    left.delete(slice);
    const next = {
      ...slice,
      metadata: { ...slice.metadata, annotations: undefined, ...metadata },
      endpoints: [...endpoints.values()],
      ports,
    };
    setTraceNote(next, traceNoteOf(slice));
    if (!deepEqual(next, slice)) plan.update.push(next);
  };
  for (const [key, group] of groups) {
    const slice = existing.find((one) => groupKey(one.addressType, one.ports) === key);
    if (slice) put(slice, group);
    else missing.push(group);
  }
  // A slice with obsolete ports is rewritten for a group without a slice, so that a slice always exists.
  for (const group of missing) {
    const free = existing.find((one) => left.has(one) && one.addressType === group.addressType);
    if (free) put(free, group);
    else plan.create.push(newSlice(endpoints, metadata, group));
  }
  return { ...plan, remove: [...left], skipped };
}

interface Group {
  readonly addressType: EndpointSlice['addressType'];
  readonly ports: EndpointPort[];
  /** Endpoints by address and target uid. */
  readonly endpoints: Map<string, Endpoint>;
}

const groupKey = (addressType: EndpointSlice['addressType'], ports: readonly EndpointPort[]) =>
  packKey(addressType, portsKey(ports));

function groupsOf(subsets: readonly EndpointSubset[]) {
  const groups = new Map<string, Group>();
  let skipped = 0;
  const groupOf = (addressType: Group['addressType'], ports: EndpointPort[]): Group => {
    const key = groupKey(addressType, ports);
    const group = groups.get(key) ?? { addressType, ports, endpoints: new Map<string, Endpoint>() };
    groups.set(key, group);
    return group;
  };
  for (const subset of subsets) {
    const ports = portsOf(subset);
    for (const mirrored of addressesOf(subset)) {
      const ip = canonicalAddress(mirrored.address.ip) ?? mirrored.address.ip;
      if (!addEndpoint(groupOf(familyOf(ip), ports), ip, mirrored)) skipped++;
    }
  }
  return { groups, skipped };
}

/** Returns the family of a canonical address: an IPv6 form of an IPv4 address belongs to an IPv4 slice. */
const familyOf = (ip: string): Group['addressType'] => (isIPv4(ip) ? 'IPv4' : 'IPv6');

/** Adds an address to its group unless it is a member. Returns false if the group is full. */
function addEndpoint({ endpoints }: Group, ip: string, { address, ready }: MirroredAddress): boolean {
  const id = packKey(ip, address.targetRef?.uid ?? '');
  if (endpoints.has(id)) return true;
  if (endpoints.size >= maxAddressesPerSubset) return false;
  endpoints.set(id, endpointOf(ip, address, ready));
  return true;
}

interface MirroredAddress {
  readonly address: EndpointAddress;
  readonly ready: boolean;
}

const portsOf = ({ ports = [] }: EndpointSubset): EndpointPort[] =>
  ports.map(({ name = '', protocol, port, appProtocol }) => ({
    name,
    protocol,
    port,
    ...(appProtocol && { appProtocol }),
  }));

const addressesOf = ({ addresses = [], notReadyAddresses = [] }: EndpointSubset): MirroredAddress[] => [
  ...addresses.map((address) => ({ address, ready: true })),
  ...notReadyAddresses.map((address) => ({ address, ready: false })),
];

const endpointOf = (
  ip: string,
  { hostname, nodeName, targetRef }: EndpointAddress,
  ready: boolean,
): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname && { hostname }),
  ...(nodeName && { nodeName }),
  targetRef,
});

function mirroredMetadata({ metadata }: Endpoints, owner: OwnerReference) {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([name]) => !notMirrored.has(name));
  return {
    labels: {
      ...metadata.labels,
      [serviceNameLabel]: metadata.name,
      [managedByLabel]: mirroredSlices.manager,
    },
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    ownerReferences: [owner],
  };
}

const newSlice = (
  { metadata: { name, namespace } }: Endpoints,
  metadata: ReturnType<typeof mirroredMetadata>,
  { addressType, ports, endpoints }: Group,
): Draft<EndpointSlice> => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { generateName: `${name}-`, namespace, ...metadata },
  addressType,
  endpoints: [...endpoints.values()],
  ports,
});
