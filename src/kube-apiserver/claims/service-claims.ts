/**
 * Allocates cluster IPs and node ports of Services. Each is a claim in the store, owned by the Service's uid,
 * so that two servers can never allocate the same one. Candidates are tried in order from a random start.
 */

import { getsNodePorts } from '../../api/core/v1/service/defaults.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newInternalError, newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';
import type { ClaimPlanner } from '../../apiserver/registry/claim-planner.ts';
import type { CacheIndex, IndexDeclaration } from '../../storage/cache.ts';
import type { Claims } from '../../storage/store.ts';
import type { KubeContext } from '../context.ts';
import { type AddressRange, addressAt, parseRange, positionIn } from './address-range.ts';

type ServiceSpec = Service['spec'];

const ipClaim = (ip: string) => `/claims/cluster-ips/${ip}`;
const portClaim = (port: number) => `/claims/node-ports/${port}`;

const needsIP = (spec: ServiceSpec) => spec.type !== 'ExternalName' && spec.clusterIP !== 'None';

const invalid = (service: Service, causes: StatusCause[]) =>
  newInvalid(serviceResource, service.metadata.name, causes);

/** Returns the claims that a stored Service holds. */
function claimsOf(spec: ServiceSpec | undefined): Set<string> {
  const held = new Set<string>();
  if (!spec) return held;
  if (spec.clusterIP && needsIP(spec)) held.add(ipClaim(spec.clusterIP));
  for (const { nodePort } of spec.ports ?? []) if (nodePort) held.add(portClaim(nodePort));
  return held;
}

/** Parts of the server that allocation reads. */
interface Parts extends Pick<KubeContext, 'nodePorts' | 'random' | 'serviceCIDR'> {
  /** Services by the claims they hold, according to the cache. */
  readonly holders: CacheIndex;
}

const servicesByClaim: IndexDeclaration = {
  name: 'services by the claims they hold',
  prefix: storagePrefix(serviceResource),
  keysOf: (object) => claimsOf((object as Service).spec),
};

type Server = Pick<KubeContext, 'cache' | 'nodePorts' | 'random' | 'serviceCIDR'>;

export const serviceClaims = (server: Server): ClaimPlanner =>
  claimPlanner({ ...server, holders: server.cache.index(servicesByClaim) });

const claimPlanner = (server: Parts): ClaimPlanner => ({
  plan(object, old, taken) {
    const service = object as Service;
    const previous = (old as Service | undefined)?.spec;
    const { spec } = service;
    refuseTaken(service, taken, claimsOf(previous));
    if (needsIP(spec) && !spec.clusterIP) {
      spec.clusterIP = allocateIP(server, service, taken);
      spec.clusterIPs = [spec.clusterIP];
    }
    if (getsNodePorts(spec)) allocateNodePorts(server, service, taken);
    checkRanges(server, service, previous);
    return difference(claimsOf(spec), claimsOf(previous), service.metadata.uid);
  },
  held: (object) => ({ release: [...claimsOf((object as Service).spec)] }),
});

function difference(now: ReadonlySet<string>, before: ReadonlySet<string>, owner: string): Claims {
  return {
    acquire: [...now].filter((key) => !before.has(key)).map((key) => ({ key, owner })),
    release: [...before].filter((key) => !now.has(key)),
  };
}

/** Throws Invalid if the user requested an address or port that another Service has. */
function refuseTaken(service: Service, taken: ReadonlySet<string>, own: ReadonlySet<string>): void {
  const { clusterIP, ports = [] } = service.spec;
  const isTaken = (claim: string) => taken.has(claim) && !own.has(claim);
  const causes: StatusCause[] = [];
  if (clusterIP && isTaken(ipClaim(clusterIP))) {
    causes.push(
      invalidCause(
        'spec.clusterIPs',
        [clusterIP],
        `failed to allocate IP ${clusterIP}: provided IP is already allocated`,
      ),
    );
  }
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
    ...clusterIPCauses(server.serviceCIDR, service.spec, previous),
    ...nodePortCauses(server.nodePorts, service.spec, previous),
  ];
  if (causes.length > 0) throw invalid(service, causes);
}

function clusterIPCauses(range: string, spec: ServiceSpec, previous: ServiceSpec | undefined): StatusCause[] {
  const { clusterIP } = spec;
  if (!needsIP(spec) || !clusterIP || clusterIP === previous?.clusterIP) return [];
  if (positionIn(parseRange(range), clusterIP) !== undefined) return [];
  const why = `the provided IP is not in the valid range. The range of valid IPs is ${range}`;
  return [invalidCause('spec.clusterIPs', [clusterIP], `failed to allocate IP ${clusterIP}: ${why}`)];
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

function allocateIP(server: Parts, service: Service, taken: ReadonlySet<string>): string {
  const range = parseRange(server.serviceCIDR);
  // Low addresses are reserved for Services with a chosen address, such as the cluster DNS (KEP-3070).
  const reserved = Math.min(256, Math.max(16, Math.floor(range.size / 16)));
  const isBusy = busyOf(server, taken);
  const dynamic = range.size - reserved;
  const at = (offset: number) => (position: number) => ipClaim(addressAt(range, offset + position));
  const high = firstFree(server, dynamic, at(reserved), isBusy);
  if (high !== undefined) return addressAt(range, reserved + high);
  const low = firstFree(server, Math.min(reserved, range.size), at(0), isBusy);
  if (low !== undefined) return addressAt(range, low);
  throw newInternalError(
    `failed to allocate a serviceIP for ${service.metadata.namespace}/${service.metadata.name}: ${rangeFull(range)}`,
  );
}

const rangeFull = (range: AddressRange) => `all ${range.size} addresses are in use; delete a Service`;

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
