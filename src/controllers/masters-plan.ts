/** Which EndpointSlices the Service of the API needs, from the Leases of the masters that are alive. Pure. */
import type { Lease } from '../api/coordination/v1/lease.ts';
import type { EndpointSlice } from '../api/discovery/v1/endpoint-slice.ts';
import { deepEqual } from '../apimachinery/equality.ts';
import type { Draft } from '../apimachinery/meta.ts';

/** Where a master is reached. */
export interface MasterAddress {
  readonly address: string;
  readonly port: number;
}

/** Upstream labels its API servers' Leases so (kube-apiserver's identity leases). */
export const masterLabel = 'apiserver.kubernetes.io/identity';
export const masterLabels = { [masterLabel]: 'minik8s' };
const serviceName = 'kubernetes';
export const sliceLabels = { 'kubernetes.io/service-name': serviceName };

export const leaseNameOf = ({ address, port }: MasterAddress) => `apiserver-${address}-${port}`;
export const identityOf = ({ address, port }: MasterAddress) => `${address}:${port}`;

/**
 * In order, each once. A master on loopback is no endpoint: no other machine reaches it there. A Lease that names no
 * address is somebody's mistake.
 */
export function mastersOf(leases: readonly Lease[]): MasterAddress[] {
  const identities = new Set(leases.map(({ spec }) => spec.holderIdentity ?? ''));
  return [...identities].sort().flatMap((identity) => {
    const [, address, port] = /^(\d+\.\d+\.\d+\.\d+):(\d+)$/.exec(identity) ?? [];
    return address && port && !address.startsWith('127.') ? [{ address, port: Number(port) }] : [];
  });
}

export interface SlicePlan {
  readonly create: readonly Draft<EndpointSlice>[];
  readonly update: readonly EndpointSlice[];
  readonly remove: readonly EndpointSlice[];
}

/**
 * A slice has one port for all its endpoints, so masters on several ports need one each. `kubernetes`, the name that
 * clients know, keeps the port it has while a master is there, and else is that of the lowest one.
 */
export function planSlices(masters: readonly MasterAddress[], existing: readonly EndpointSlice[]): SlicePlan {
  const byPort = Map.groupBy(masters, ({ port }) => port);
  const held = existing.find(({ metadata }) => metadata.name === serviceName)?.ports[0]?.port;
  const main = held !== undefined && byPort.has(held) ? held : Math.min(...byPort.keys());
  const wanted = new Map(
    [...byPort].map(([port, of]) => {
      const name = port === main ? serviceName : `${serviceName}-${port}`;
      return [name, sliceOf(name, port, of)];
    }),
  );
  const known = new Map(existing.map((slice) => [slice.metadata.name, slice]));
  return {
    create: [...wanted].flatMap(([name, slice]) => (known.has(name) ? [] : [slice])),
    update: existing.flatMap((slice) => {
      const want = wanted.get(slice.metadata.name);
      if (!want || isLike(slice, want)) return [];
      const labels = { ...slice.metadata.labels, ...sliceLabels };
      const { addressType, endpoints, ports } = want;
      return [{ ...slice, metadata: { ...slice.metadata, labels }, addressType, endpoints, ports }];
    }),
    remove: existing.filter(({ metadata: { name } }) => isOurs(name) && !wanted.has(name)),
  };
}

/** A slice that somebody made for the Service under another name is theirs. */
const isOurs = (name: string) => name === serviceName || /^kubernetes-\d+$/.test(name);

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
