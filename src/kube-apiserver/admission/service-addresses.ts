/**
 * Checks the external addresses of Services: every node sends traffic to such an address to the pods of the
 * Service, even if the address has another owner (CVE-2020-8554). The external IPs of spec must be in a range
 * that the administrator allows (upstream: the plugin DenyServiceExternalIPs allows none); no address may
 * belong to the cluster or its machines. An address that the Service already has is not checked again: nodes
 * ignore it if it is reserved.
 */
import { type Lease, leaseResource } from '../../api/coordination/v1/lease.ts';
import { placesOf } from '../../api/coordination/v1/master-lease.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import {
  externalPortCount,
  externalPortsOf,
  maxExternalPorts,
} from '../../api/core/v1/service/external-addresses.ts';
import { clusterRanges, reservedReader } from '../../api/core/v1/service/reserved-addresses.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { cidrsOf, type ServiceCIDR, serviceCIDRResource } from '../../api/networking/v1/service-cidr.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newForbidden, newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import { waitForNow } from '../../apiserver/reads/freshness.ts';
import { canonicalAddress, hasAddress, rangeAround } from '../../base/addresses.ts';
import type { CacheIndex, IndexDeclaration } from '../../storage/cache.ts';
import type { KubeContext } from '../context.ts';

type Parts = Pick<
  KubeContext,
  'cache' | 'clock' | 'clusterCIDR' | 'externalIPRanges' | 'latest' | 'serviceCIDR'
>;

const servicesByPort: IndexDeclaration = {
  name: 'Services by external address and port',
  prefix: storagePrefix(serviceResource),
  keysOf: (object) => externalPortsOf(object as Service),
};

interface Named {
  readonly path: string;
  readonly address: string;
}

export const serviceAddresses = (server: Parts): AdmissionPlugin =>
  plugin(server, server.cache.index(servicesByPort));

const plugin = (server: Parts, byPort: CacheIndex): AdmissionPlugin => ({
  name: 'ServiceExternalAddresses',
  async validate(admission) {
    const { group, plural } = admission.definition;
    if (group === serviceResource.group && plural === serviceResource.plural)
      await check(server, byPort, admission);
  },
});

async function check(server: Parts, byPort: CacheIndex, admission: Admission): Promise<void> {
  const { definition, namespace, name, subresource, object, old } = admission;
  if (!object) return;
  const [service, before] = [object as Service, old as Service | undefined];
  requireFewPorts(name, service, before);
  // The role `edit` cannot set the addresses of a load balancer.
  if (subresource !== 'status') await refuseTaken(server, byPort, namespace, service, before);
  const external = newOnes(externalIPsOf(service), before && externalIPsOf(before));
  const taken = newOnes(takenIngressOf(service), before && takenIngressOf(before));
  if (external.length === 0 && taken.length === 0) return;
  requireAllowed(name, external, server.externalIPRanges);
  const causes = reservedCauses(server, [...external, ...taken]);
  if (causes.length > 0) throw newInvalid(definition, name, causes);
}

/** Returns a cause for each address of the cluster or its machines. */
function reservedCauses(server: Parts, addresses: ReturnType<typeof newOnes>): StatusCause[] {
  const problemOf = reservedReader({
    ranges: [...clusterRanges(server), ...furtherRanges(server), ...podRanges(server)],
    machines: machines(server),
  });
  return addresses.flatMap(({ path, address }): StatusCause[] => {
    const whose = problemOf(address);
    return whose === undefined
      ? []
      : [invalidCause(path, address, `belongs to ${whose}: no Service may use it`)];
  });
}

/** Rejects more external ports than a Service may have, unless it had as many before. */
function requireFewPorts(name: string, service: Service, before: Service | undefined): void {
  const count = externalPortCount(service);
  if (count > maxExternalPorts && !(before && count <= externalPortCount(before)))
    throw newInvalid(serviceResource, name, [invalidCause('spec.externalIPs', count, tooManyPorts)]);
}

/**
 * Rejects an address and port of another namespace. The older of two stored Services has precedence, so an
 * old Service must not add an address later that another Service already has.
 */
async function refuseTaken(
  server: Parts,
  byPort: CacheIndex,
  namespace: string,
  service: Service,
  before: Service | undefined,
): Promise<void> {
  const known = new Set(before ? externalPortsOf(before) : []);
  const wanted = externalPortsOf(service).filter((port) => !known.has(port));
  if (wanted.length === 0) return;
  // Another master may have stored the other Service a moment ago.
  await waitForNow(server, new AbortController());
  for (const port of wanted) {
    const rival = byPort.get(port).find(({ object }) => object.metadata.namespace !== namespace);
    if (!rival) continue;
    const detail = `belongs to a Service of the namespace ${rival.object.metadata.namespace}`;
    throw newInvalid(serviceResource, service.metadata.name, [
      invalidCause('spec.externalIPs', port, detail),
    ]);
  }
}

/** Rejects an address that is in none of the ranges that the administrator allows. */
function requireAllowed(name: string, external: readonly Named[], ranges: readonly string[]): void {
  const allowed = ranges.flatMap((text) => rangeAround(text) ?? []);
  const outside = external.find(({ address }) => !allowed.some((range) => hasAddress(range, address)));
  if (outside) throw newForbidden(serviceResource, name, notAllowed(outside, ranges));
}

const tooManyPorts = `must have at most ${maxExternalPorts} pairs of an external address and a port`;

const notAllowed = ({ path, address }: Named, ranges: readonly string[]) =>
  `${path}: ${address} is not in a range that this cluster allows; ${
    ranges.length > 0 ? `allowed are ${ranges.join(', ')}` : 'none is allowed'
  } (an administrator names ranges by the master's --service-external-ip-ranges)`;

const externalIPsOf = ({ spec }: Service): Named[] =>
  (spec.externalIPs ?? []).map((address, index) => ({ path: `spec.externalIPs[${index}]`, address }));

/** Returns the addresses of a load balancer whose traffic nodes deliver to pods directly (KEP-1860). */
const takenIngressOf = ({ status }: Service): Named[] =>
  (status?.loadBalancer.ingress ?? []).flatMap(({ ip, ipMode }, index) =>
    ip && ipMode !== 'Proxy' ? [{ path: `status.loadBalancer.ingress[${index}].ip`, address: ip }] : [],
  );

/** Returns the addresses that `before` does not have, in any spelling. */
function newOnes(now: readonly Named[], before: readonly Named[] = []): readonly Named[] {
  const known = new Set(before.map(({ address }) => canonicalAddress(address)));
  return now.filter(({ address }) => !known.has(canonicalAddress(address)));
}

const nodesOf = ({ cache }: Parts) =>
  cache.list(storagePrefix(nodeResource)).map(({ object }) => object as Node);

/** Returns the pod ranges of all nodes, which may be outside the cluster's pod range. */
const podRanges = (server: Parts) =>
  nodesOf(server).flatMap(({ metadata, spec: { podCIDR, podCIDRs } }) =>
    (podCIDRs ?? (podCIDR ? [podCIDR] : [])).map((range) => ({
      range,
      what: `the range of the pods of node ${metadata.name}`,
    })),
  );

const furtherRanges = ({ cache }: Parts) =>
  cache
    .list(storagePrefix(serviceCIDRResource))
    .flatMap(({ object }) => cidrsOf(object as ServiceCIDR))
    .map((range) => ({ range, what: 'the range of Services' }));

function* machines(server: Parts): Generator<{ address: string; what: string }> {
  for (const { metadata, status } of nodesOf(server))
    for (const { type, address } of status?.addresses ?? [])
      if (type.endsWith('IP')) yield { address, what: `node ${metadata.name}` };
  const leases = server.cache
    .list(storagePrefix(leaseResource, 'kube-system'))
    .map(({ object }) => object as Lease);
  for (const { address } of placesOf(leases)) yield { address, what: 'a master' };
}
