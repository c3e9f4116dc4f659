/**
 * Rejects Dns objects whose host is not allowed, or belongs to another namespace. All pods resolve a host to
 * the web server of their own node, so an editor of one namespace could otherwise take any name for the whole
 * cluster. An unchanged host is not checked again. The number of paths of a namespace is limited too, because
 * a node serves the paths of all namespaces by one web server.
 */
import { type Lease, leaseResource } from '../../../api/coordination/v1/lease.ts';
import { placesOf } from '../../../api/coordination/v1/master-lease.ts';
import { type Node, nodeResource } from '../../../api/core/v1/node/node.ts';
import { type Ingress, ingressResource } from '../../../api/networking/v1/ingress.ts';
import { invalidCause } from '../../../apimachinery/field-error.ts';
import { type ResourceDefinition, storagePrefix } from '../../../apimachinery/resource-definition.ts';
import { newInvalid } from '../../../apimachinery/status-error.ts';
import type { AdmissionPlugin } from '../../../apiserver/admission/plugin.ts';
import { waitForNow } from '../../../apiserver/reads/freshness.ts';
import type { KubeContext } from '../../../kube-apiserver/context.ts';
import type { CacheIndex, IndexDeclaration } from '../../../storage/cache.ts';
import { type Dns, dnsResource } from '../api/dns.ts';
import { hostHolder } from '../api/dns-holder.ts';
import { dnsHostProblem } from '../api/dns-host-problem.ts';
import { maxPathsOfNamespace, pathCount } from '../api/dns-limit.ts';

type Parts = Pick<KubeContext, 'cache' | 'clock' | 'clusterDomain' | 'latest'>;

const dnsesByHost: IndexDeclaration = {
  name: 'Dns objects by host',
  prefix: storagePrefix(dnsResource),
  keysOf: (object) => [(object as Dns).spec.host],
};

const ingressesByHost: IndexDeclaration = {
  name: 'Ingresses by host',
  prefix: storagePrefix(ingressResource),
  keysOf: (object) => ((object as Ingress).spec.rules ?? []).flatMap(({ host }) => host?.toLowerCase() || []),
};

/** `domains`: the domains below which hosts are allowed. */
export const dnsHosts = (server: Parts, domains: readonly string[]): AdmissionPlugin =>
  plugin(server, domains, server.cache.index(dnsesByHost), server.cache.index(ingressesByHost));

const plugin = (
  server: Parts,
  domains: readonly string[],
  byHost: CacheIndex,
  ingresses: CacheIndex,
): AdmissionPlugin => ({
  name: 'DnsHosts',
  async validate({ definition, namespace, name, object, old }) {
    if (definition.group !== dnsResource.group || definition.plural !== dnsResource.plural || !object) return;
    checkPaths(server, definition, namespace, object as Dns, old as Dns | undefined);
    const { host } = (object as Dns).spec;
    if (host === (old as Dns | undefined)?.spec.host) return;
    const { clusterDomain } = server;
    const refuse = (problem: string) =>
      newInvalid(definition, name, [invalidCause('spec.host', host, problem)]);
    const problem = dnsHostProblem(host, { domains, clusterDomain, machines: machinesOf(server) });
    if (problem !== undefined) throw refuse(problem);
    // Another master may have stored the first object of the host a moment ago.
    await waitForNow(server, new AbortController());
    const taken = takenBy(host, namespace, byHost, ingresses);
    if (taken !== undefined) throw refuse(taken);
  },
});

/** Returns why objects of the namespace may not have the host; undefined if they may. */
function takenBy(
  host: string,
  namespace: string,
  byHost: CacheIndex,
  ingresses: CacheIndex,
): string | undefined {
  const holder = hostHolder(byHost.get(host).map(({ object: stored }) => stored as Dns));
  if (holder !== undefined && holder !== namespace) return `belongs to the namespace ${holder}`;
  // If a Dns and an Ingress have the same host, nodes serve the Dns.
  const other = ingresses.get(host).find(({ object: { metadata } }) => metadata.namespace !== namespace);
  return other && `an Ingress of the namespace ${other.object.metadata.namespace} has this host`;
}

/**
 * Rejects more paths than a namespace may have. Two concurrent writes may both pass; the excess paths are
 * then not served.
 */
function checkPaths(
  { cache }: Parts,
  definition: ResourceDefinition,
  namespace: string,
  dns: Dns,
  old: Dns | undefined,
): void {
  if (old && dns.spec.paths.length <= old.spec.paths.length) return;
  const stored = cache
    .list(storagePrefix(dnsResource, namespace))
    .map(({ object }) => object as Dns)
    .filter(({ metadata }) => metadata.uid !== old?.metadata.uid);
  const count = pathCount([...stored, dns]);
  if (count <= maxPathsOfNamespace) return;
  const detail = `Dns objects of a namespace may have ${maxPathsOfNamespace} paths together, and would have ${count}`;
  throw newInvalid(definition, dns.metadata.name, [
    invalidCause('spec.paths', dns.spec.paths.length, detail),
  ]);
}

/** Returns the names of nodes and masters, as their objects have them. */
function machinesOf({ cache }: Parts): string[] {
  const nodes = cache.list(storagePrefix(nodeResource)).map(({ object }) => object as Node);
  const leases = cache.list(storagePrefix(leaseResource, 'kube-system')).map(({ object }) => object as Lease);
  return [
    ...nodes.map(({ metadata: { name } }) => name),
    ...nodes.flatMap(({ status }) =>
      (status?.addresses ?? []).flatMap(({ type, address }) => (type.endsWith('IP') ? [] : [address])),
    ),
    ...placesOf(leases).flatMap(({ hostname }) => hostname ?? []),
  ];
}
