/**
 * Allocates cluster IPs and node ports of Services. Each is a claim in the store, owned by the Service's uid,
 * so that two servers can never allocate the same one. Candidates are tried in order from a random start.
 */

import { validateClusterIPs } from '../../api/core/v1/service/cluster-ips.ts';
import { getsNodePorts } from '../../api/core/v1/service/defaults.ts';
import { chooseFamilies } from '../../api/core/v1/service/families.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newInternalError, newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';
import type { ClaimPlanner } from '../../apiserver/registry/claim-planner.ts';
import { type AddressFamily, familiesOf, familyOf, familyRanges } from '../../base/address-families.ts';
import { canonicalAddress } from '../../base/addresses.ts';
import type { CacheIndex, IndexDeclaration } from '../../storage/cache.ts';
import type { Claims } from '../../storage/store.ts';
import type { KubeContext } from '../context.ts';
import { type AddressRange, addressAt, positionIn } from './address-range.ts';
import { type ServiceRanges, serviceRanges } from './service-ranges.ts';

type ServiceSpec = Service['spec'];

export const ipClaim = (ip: string) => `/claims/cluster-ips/${canonicalAddress(ip) ?? ip}`;
const portClaim = (port: number) => `/claims/node-ports/${port}`;

const needsIP = (spec: ServiceSpec) => spec.type !== 'ExternalName' && spec.clusterIP !== 'None';

/** Returns the cluster IPs that a Service has or requests. */
const clusterIPsOf = (spec: ServiceSpec): readonly string[] => {
  if (!needsIP(spec)) return [];
  return spec.clusterIPs?.length ? spec.clusterIPs : [spec.clusterIP ?? ''].filter((ip) => ip !== '');
};

const invalid = (service: Service, causes: StatusCause[]) =>
  newInvalid(serviceResource, service.metadata.name, causes);

/** Returns the claims that a stored Service holds. */
function claimsOf(spec: ServiceSpec | undefined): Set<string> {
  const held = new Set<string>();
  if (!spec) return held;
  for (const ip of clusterIPsOf(spec)) held.add(ipClaim(ip));
  for (const { nodePort } of spec.ports ?? []) if (nodePort) held.add(portClaim(nodePort));
  return held;
}

/** Parts of the server that allocation reads. */
interface Parts extends Pick<KubeContext, 'nodePorts' | 'random' | 'serviceCIDR'> {
  /** Services by the claims they hold, according to the cache. */
  readonly holders: CacheIndex;
  readonly ranges: ServiceRanges;
}

const servicesByClaim: IndexDeclaration = {
  name: 'services by the claims they hold',
  prefix: storagePrefix(serviceResource),
  keysOf: (object) => claimsOf((object as Service).spec),
};

type Server = Pick<KubeContext, 'cache' | 'nodePorts' | 'random' | 'serviceCIDR'>;

export const serviceClaims = (server: Server): ClaimPlanner =>
  claimPlanner({
    ...server,
    holders: server.cache.index(servicesByClaim),
    ranges: serviceRanges(server),
  });

const claimPlanner = (server: Parts): ClaimPlanner => ({
  plan(object, old, taken) {
    const service = object as Service;
    const previous = (old as Service | undefined)?.spec;
    const { spec } = service;
    setFamilies(server, service, previous);
    refuseTaken(service, taken, claimsOf(previous));
    if (needsIP(spec)) allocateIPs(server, service, taken);
    if (getsNodePorts(spec)) allocateNodePorts(server, service, taken);
    checkRanges(server, service, previous);
    return difference(claimsOf(spec), claimsOf(previous), service.metadata.uid);
  },
  held: (object) => ({ release: [...claimsOf((object as Service).spec)] }),
});

/** Sets policy and families. Throws Invalid if the cluster cannot serve them, or a cluster IP is invalid. */
function setFamilies({ serviceCIDR }: Parts, service: Service, previous: ServiceSpec | undefined): void {
  const { spec } = service;
  const wrong = spec.type === 'ExternalName' ? [] : validateClusterIPs(spec);
  const causes =
    wrong.length > 0 ? wrong : chooseFamilies(spec, previous, familiesOf(familyRanges(serviceCIDR)));
  if (causes.length > 0) throw invalid(service, causes);
}

function difference(now: ReadonlySet<string>, before: ReadonlySet<string>, owner: string): Claims {
  return {
    acquire: [...now].filter((key) => !before.has(key)).map((key) => ({ key, owner })),
    release: [...before].filter((key) => !now.has(key)),
  };
}

/** Throws Invalid if the user requested an address or port that another Service has. */
function refuseTaken(service: Service, taken: ReadonlySet<string>, own: ReadonlySet<string>): void {
  const { ports = [] } = service.spec;
  const isTaken = (claim: string) => taken.has(claim) && !own.has(claim);
  const requested = clusterIPsOf(service.spec);
  const causes = requested
    .filter((ip) => isTaken(ipClaim(ip)))
    .map((ip) => notAllocated(requested, ip, 'provided IP is already allocated'));
  for (const [index, { nodePort }] of ports.entries()) {
    if (nodePort && isTaken(portClaim(nodePort))) {
      causes.push(
        invalidCause(`spec.ports[${index}].nodePort`, nodePort, 'provided port is already allocated'),
      );
    }
  }
  if (causes.length > 0) throw invalid(service, causes);
}

function checkRanges(server: Parts, service: Service, previous: ServiceSpec | undefined): void {
  const causes = [
    ...clusterIPCauses(server.ranges, service.spec, previous),
    ...nodePortCauses(server.nodePorts, service.spec, previous),
  ];
  if (causes.length > 0) throw invalid(service, causes);
}

const notAllocated = (requested: readonly string[], ip: string, why: string): StatusCause =>
  invalidCause('spec.clusterIPs', requested, `failed to allocate IP ${ip}: ${why}`);

function clusterIPCauses(
  ranges: ServiceRanges,
  spec: ServiceSpec,
  previous: ServiceSpec | undefined,
): StatusCause[] {
  const own = claimsOf(previous);
  const all = clusterIPsOf(spec);
  return all.flatMap((ip) => {
    const known = ranges(familyOf(ip) ?? 'IPv4');
    if (known.length === 0 || own.has(ipClaim(ip))) return [];
    if (known.some((range) => positionIn(range, ip) !== undefined)) return [];
    const texts = known.map(({ cidr }) => cidr).join(', ');
    const why = `the provided IP is not in the valid range. The range of valid IPs is ${texts}`;
    return [notAllocated(all, ip, why)];
  });
}

function nodePortCauses(
  [first, last]: Parts['nodePorts'],
  spec: ServiceSpec,
  previous: ServiceSpec | undefined,
): StatusCause[] {
  const why = `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
  // A node port from another range is kept if the Service already had it.
  const own = claimsOf(previous);
  return (spec.ports ?? []).flatMap(({ nodePort }, index) => {
    if (!nodePort || (nodePort >= first && nodePort <= last) || own.has(portClaim(nodePort))) return [];
    return [invalidCause(`spec.ports[${index}].nodePort`, nodePort, why)];
  });
}

type IsBusy = (claim: string) => boolean;

/**
 * Returns a function that returns whether to skip a candidate: a claim in `taken`, and after a first failure
 * also a claim that a Service in the cache holds. The first candidate is usually free, and the cache may be
 * behind the store.
 */
const busyOf =
  ({ holders }: Parts, taken: ReadonlySet<string>): IsBusy =>
  (claim) =>
    taken.has(claim) || (taken.size > 0 && holders.has(claim));

/**
 * Returns the first candidate from a random start whose claim is free; undefined if the range is used up or
 * empty.
 */
function firstFree(
  server: Parts,
  size: number,
  claimAt: (position: number) => string,
  isBusy: IsBusy,
): number | undefined {
  const start = Math.floor(server.random.next() * size);
  for (let step = 0; step < size; step++) {
    const position = (start + step) % size;
    if (!isBusy(claimAt(position))) return position;
  }
  return undefined;
}

/** Allocates the cluster IPs that the Service's families lack. */
function allocateIPs(server: Parts, service: Service, taken: ReadonlySet<string>): void {
  const { spec } = service;
  const addresses = [...clusterIPsOf(spec)];
  for (const family of spec.ipFamilies?.slice(addresses.length) ?? []) {
    const ranges = server.ranges(family as AddressFamily);
    // A stored Service may have a family that the cluster does not have any more.
    if (ranges.length > 0) addresses.push(allocateIP(server, ranges, service, taken));
  }
  if (addresses.length === 0) return;
  spec.clusterIPs = addresses;
  spec.clusterIP = addresses[0];
}

function allocateIP(
  server: Parts,
  ranges: readonly AddressRange[],
  service: Service,
  taken: ReadonlySet<string>,
): string {
  const isBusy = busyOf(server, taken);
  for (const range of ranges) {
    const free = firstFreeIn(server, range, isBusy);
    if (free !== undefined) return free;
  }
  const size = ranges.reduce((sum, range) => sum + range.size, 0);
  throw newInternalError(
    `failed to allocate a serviceIP for ${service.metadata.namespace}/${service.metadata.name}: all ${size} addresses are in use; delete a Service or create a ServiceCIDR`,
  );
}

function firstFreeIn(server: Parts, range: AddressRange, isBusy: IsBusy): string | undefined {
  // Low addresses are reserved for Services with a chosen address, such as the cluster DNS (KEP-3070).
  const reserved = Math.min(256, Math.max(16, Math.floor(range.size / 16)));
  const dynamic = range.size - reserved;
  const at = (offset: number) => (position: number) => ipClaim(addressAt(range, offset + position));
  const high = firstFree(server, dynamic, at(reserved), isBusy);
  if (high !== undefined) return addressAt(range, reserved + high);
  const low = firstFree(server, Math.min(reserved, range.size), at(0), isBusy);
  return low === undefined ? undefined : addressAt(range, low);
}

function allocateNodePorts(server: Parts, service: Service, taken: ReadonlySet<string>): void {
  const ports = service.spec.ports ?? [];
  const [first, last] = server.nodePorts;
  const isBusy = busyOf(server, taken);
  const own = claimsOf(service.spec);
  for (const port of ports) {
    if (port.nodePort) continue;
    const position = firstFree(
      server,
      last - first + 1,
      (p) => portClaim(first + p),
      (claim) => own.has(claim) || isBusy(claim),
    );
    if (position === undefined) {
      throw newInternalError(
        `failed to allocate a nodePort: all ports ${first}-${last} are in use; delete a Service of type NodePort`,
      );
    }
    port.nodePort = first + position;
    own.add(portClaim(port.nodePort));
  }
}
