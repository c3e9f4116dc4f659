/** Plans the EndpointSlices and Endpoints of the API's Service from the Leases of the live masters. Pure. */
import type { Lease } from '../../api/coordination/v1/lease.ts';
import { addressIn, type MasterAddress, masterLabel } from '../../api/coordination/v1/master-lease.ts';
import { type Endpoints, skipMirrorLabel } from '../../api/core/v1/service/endpoints.ts';
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { Draft } from '../../apimachinery/meta.ts';
import { addressKind } from '../../base/addresses.ts';
import { podSlices } from '../services/endpointslice-plan.ts';
import type { SlicePlan } from '../services/managed-slices.ts';

export const masterLabels = { [masterLabel]: 'minik8s' };
export const serviceName = 'kubernetes';
export const sliceLabels = { 'kubernetes.io/service-name': serviceName };

export const leaseNameOf = ({ address, port }: MasterAddress) => `apiserver-${address}-${port}`;
export const identityOf = ({ address, port }: MasterAddress) => `${address}:${port}`;

/** Returns the identities of the masters. */
export const identitiesOf = (leases: readonly Lease[]): ReadonlySet<string> =>
  new Set(leases.flatMap(({ spec }) => spec.holderIdentity ?? []));

/**
 * Returns the sorted, distinct addresses of the masters. A master on loopback is not an endpoint, because
 * other machines cannot reach it. Leases without a valid address are ignored.
 */
export function mastersOf(leases: readonly Lease[]): MasterAddress[] {
  const identities = new Set(leases.map(({ spec }) => spec.holderIdentity));
  return [...identities].sort().flatMap((identity) => {
    const master = addressIn(identity);
    return master && addressKind(master.address) !== 'loopback' ? [master] : [];
  });
}

/**
 * Plans the slices. A slice has one port for all its endpoints, so masters on several ports require one slice
 * per port. The slice `kubernetes`, whose name clients rely on, keeps its port while a master uses it, and
 * otherwise gets the lowest port.
 */
export function planSlices(masters: readonly MasterAddress[], existing: readonly EndpointSlice[]): SlicePlan {
  const byPort = Map.groupBy(masters, ({ port }) => port);
  const held = existing.find(({ metadata }) => metadata.name === serviceName)?.ports[0]?.port;
  const main = [...byPort.keys()].find((port) => port === held) ?? Math.min(...byPort.keys());
  const wanted = new Map(
    [...byPort].map(([port, of]) => {
      const name = port === main ? serviceName : `${serviceName}-${port}`;
      return [name, sliceOf(name, port, of)];
    }),
  );
  const known = new Set(existing.map(({ metadata }) => metadata.name));
  return {
    create: [...wanted].flatMap(([name, slice]) => (known.has(name) ? [] : [slice])),
    update: existing.flatMap((slice) => {
      const want = wanted.get(slice.metadata.name);
      if (!want || isLike(slice, want)) return [];
      const labels = { ...slice.metadata.labels, ...sliceLabels };
      const { addressType, endpoints, ports } = want;
      return [{ ...slice, metadata: { ...slice.metadata, labels }, addressType, endpoints, ports }];
    }),
    remove: existing.filter((slice) => isOurs(slice) && !wanted.has(slice.metadata.name)),
  };
}

/**
 * Returns true for slices that this controller manages. A slice that a user created for the Service under
 * another name is left alone. Slices of pods that a former selector of the Service chose are removed, because
 * the Service has no pods.
 */
const isOurs = (slice: EndpointSlice) =>
  /^kubernetes(-\d+)?$/.test(slice.metadata.name) || podSlices.serviceOf(slice).length > 0;

function sliceOf(name: string, port: number, masters: readonly MasterAddress[]): Draft<EndpointSlice> {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels: sliceLabels },
    addressType: 'IPv4',
    endpoints: masters.map(({ address }) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: 'https', protocol: 'TCP', port }],
  };
}

function isLike(slice: EndpointSlice, wanted: Draft<EndpointSlice>): boolean {
  const part = ({
    addressType,
    endpoints,
    ports,
  }: Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>) => ({
    addressType,
    endpoints,
    ports,
  });
  return deepEqual(part(slice), part(wanted as EndpointSlice));
}

export interface EndpointsPlan {
  readonly create?: Draft<Endpoints>;
  readonly update?: Endpoints;
  readonly remove?: Endpoints;
}

/**
 * Plans one Endpoints object for all masters, with a subset per port. It is not mirrored, because the masters
 * write the slices themselves.
 */
export function planEndpoints(
  masters: readonly MasterAddress[],
  existing: Endpoints | undefined,
): EndpointsPlan {
  const byPort = Map.groupBy(masters, ({ port }) => port);
  const subsets = [...byPort].map(([port, of]) => ({
    addresses: of.map(({ address }) => ({ ip: address })),
    ports: [{ name: 'https', protocol: 'TCP' as const, port }],
  }));
  if (subsets.length === 0) return existing ? { remove: existing } : {};
  const labels = { ...existing?.metadata.labels, [skipMirrorLabel]: 'true' };
  if (!existing) {
    const metadata = { name: serviceName, namespace: 'default', labels };
    return { create: { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets } };
  }
  if (deepEqual(existing.subsets, subsets) && deepEqual(existing.metadata.labels, labels)) return {};
  return { update: { ...existing, metadata: { ...existing.metadata, labels }, subsets } };
}
