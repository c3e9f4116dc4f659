/** Sets the status of each Dns: whether its paths lead to Services and whether the nodes serve it. */
import { type Node, nodeResource } from '../../../api/core/v1/node/node.ts';
import { serviceResource } from '../../../api/core/v1/service/service.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { rfc3339 } from '../../../base/time.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { type Dns, dnsResource } from '../api/dns.ts';
import { hostHolder } from '../api/dns-holder.ts';
import { maxPathsOfNamespace, pathCount, withinLimit } from '../api/dns-limit.ts';
import { servingFingerprint } from '../api/dns-served.ts';
import { planDnsStatus } from './dns-plan.ts';

const byService = 'dns.service';
const byHost = 'dns.host';

const servicesOf = ({ metadata, spec }: Dns) =>
  spec.paths.map(({ serviceName }) => `${metadata.namespace}/${serviceName}`);

export interface DnsControllerOptions {
  /** Domain of the cluster, such as `cluster.local`. */
  readonly clusterDomain: string;
}

export const dnsController =
  (options: DnsControllerOptions): ControllerFactory =>
  (context) =>
    define(options, context);

function define(
  { clusterDomain }: DnsControllerOptions,
  { client, clock, events, informers }: ControllerContext,
): ControllerDefinition {
  const services = informers.informerFor(serviceResource).lister;
  const dnsInformer = informers.informerFor(dnsResource);
  const nodes = informers.informerFor(nodeResource).lister;
  dnsInformer.addIndex(byService, servicesOf);
  dnsInformer.addIndex(byHost, ({ spec }) => [spec.host]);
  const ofHost = ({ spec }: Dns) => dnsInformer.lister.byIndex(byHost, spec.host);
  /** Namespaces by the host that belongs to them. */
  const holders = new Map<string, string>();
  /** Namespaces with more paths than are served. */
  const crowded = new Set<string>();
  /** Fingerprints of the existing nodes, by name; most changes of a node are irrelevant here. */
  const fingerprints = new Map<string, string>();

  function nodeKeys({ metadata: { name } }: Node): readonly ObjectKey[] {
    const node = nodes.get(name);
    const fingerprint = node && servingFingerprint(node);
    if (fingerprints.get(name) === fingerprint) return [];
    if (fingerprint === undefined) fingerprints.delete(name);
    else fingerprints.set(name, fingerprint);
    return dnsInformer.lister.list().map(objectKey);
  }

  function dnsKeys(dns: Dns): readonly ObjectKey[] {
    return [...new Set([objectKey(dns), ...keysOfHost(dns), ...keysOfNamespace(dns)])];
  }

  /** Returns all objects of the host if the host now belongs to another namespace. */
  function keysOfHost(dns: Dns): readonly ObjectKey[] {
    const { host } = dns.spec;
    const all = ofHost(dns);
    const holder = hostHolder(all);
    if (holders.get(host) === holder) return [];
    if (holder === undefined) holders.delete(host);
    else holders.set(host, holder);
    return all.map(objectKey);
  }

  /** Returns all objects of a namespace that has, or had, more paths than are served. */
  function keysOfNamespace({ metadata: { namespace = '' } }: Dns): readonly ObjectKey[] {
    const all = dnsInformer.lister.list(namespace);
    const wasCrowded = crowded.delete(namespace);
    const isCrowded = pathCount(all) > maxPathsOfNamespace;
    if (isCrowded) crowded.add(namespace);
    return isCrowded || wasCrowded ? all.map(objectKey) : [];
  }

  async function reconcile(key: ObjectKey): Promise<undefined> {
    const dns = dnsInformer.lister.get(key);
    if (!dns || isTerminating(dns)) return;
    const serviceOf = (name: string) => services.get(`${dns.metadata.namespace}/${name}`);
    const holder = hostHolder(ofHost(dns)) ?? '';
    const { status, changed, problem } = planDnsStatus(dns, {
      serviceOf,
      clusterDomain,
      holder,
      isWithinLimit: withinLimit(dnsInformer.lister.list(dns.metadata.namespace)).includes(dns),
      nodes: nodes.list(),
      now: rfc3339(clock.now()),
    });
    if (!changed) return;
    const written = await ifPresent(client.resource(dnsResource).updateStatus({ ...deepCopy(dns), status }));
    if (written && problem) events.event(dns, 'Warning', problem.reason, problem.message);
  }

  return {
    name: 'dns',
    watches: [
      watched(dnsResource, dnsKeys),
      watched(nodeResource, nodeKeys),
      watched(serviceResource, (service) =>
        dnsInformer.lister.byIndex(byService, objectKey(service)).map(objectKey),
      ),
    ],
    reconcile,
  };
}
