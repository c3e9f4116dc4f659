/** Sets the status of each Dns: whether its paths lead to Services and whether the nodes serve it. */
import { type Node, nodeResource } from '../../../api/core/v1/node/node.ts';
import { type Service, serviceResource } from '../../../api/core/v1/service/service.ts';
import { type AccountRights, read, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Lister } from '../../../client/informer.ts';
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

export const dnsRights: AccountRights = {
  own: [[read, 'minik8s.io', 'dnses'], ['update', 'minik8s.io', 'dnses/status'], writeEvents],
};

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

function define(options: DnsControllerOptions, context: ControllerContext): ControllerDefinition {
  const controller = new DnsController(options, context);
  return {
    name: 'dns',
    watches: [
      watched(dnsResource, (dns) => controller.dnsKeys(dns)),
      watched(nodeResource, (node) => controller.nodeKeys(node)),
      watched(serviceResource, (service) => controller.serviceKeys(objectKey(service))),
    ],
    reconcile: (key) => controller.reconcile(key),
  };
}

class DnsController {
  readonly #context: ControllerContext;
  readonly #clusterDomain: string;
  readonly #services: Lister<Service>;
  readonly #dnses: Lister<Dns>;
  readonly #nodes: Lister<Node>;
  /** Namespaces by the host that belongs to them. */
  readonly #holders = new Map<string, string>();
  /** Namespaces with more paths than are served. */
  readonly #crowded = new Set<string>();
  /** Fingerprints of the existing nodes, by name; most changes of a node are irrelevant here. */
  readonly #fingerprints = new Map<string, string>();

  constructor({ clusterDomain }: DnsControllerOptions, context: ControllerContext) {
    const { informers } = context;
    const dnses = informers.informerFor(dnsResource);
    dnses.addIndex(byService, servicesOf);
    dnses.addIndex(byHost, ({ spec }) => [spec.host]);
    this.#context = context;
    this.#clusterDomain = clusterDomain;
    this.#services = informers.informerFor(serviceResource).lister;
    this.#dnses = dnses.lister;
    this.#nodes = informers.informerFor(nodeResource).lister;
  }

  /** Returns the objects whose paths lead to the Service. */
  serviceKeys(service: ObjectKey): readonly ObjectKey[] {
    return this.#dnses.byIndex(byService, service).map(objectKey);
  }

  nodeKeys({ metadata: { name } }: Node): readonly ObjectKey[] {
    const node = this.#nodes.get(name);
    const fingerprint = node && servingFingerprint(node);
    if (this.#fingerprints.get(name) === fingerprint) return [];
    if (fingerprint === undefined) this.#fingerprints.delete(name);
    else this.#fingerprints.set(name, fingerprint);
    return this.#dnses.list().map(objectKey);
  }

  dnsKeys(dns: Dns): readonly ObjectKey[] {
    return [...new Set([objectKey(dns), ...this.#keysOfHost(dns), ...this.#keysOfNamespace(dns)])];
  }

  /** Returns all objects of the host if the host now belongs to another namespace. */
  #keysOfHost(dns: Dns): readonly ObjectKey[] {
    const { host } = dns.spec;
    const all = this.#ofHost(dns);
    const holder = hostHolder(all);
    if (this.#holders.get(host) === holder) return [];
    if (holder === undefined) this.#holders.delete(host);
    else this.#holders.set(host, holder);
    return all.map(objectKey);
  }

  /** Returns all objects of a namespace that has, or had, more paths than are served. */
  #keysOfNamespace({ metadata: { namespace = '' } }: Dns): readonly ObjectKey[] {
    const all = this.#dnses.list(namespace);
    const wasCrowded = this.#crowded.delete(namespace);
    const isCrowded = pathCount(all) > maxPathsOfNamespace;
    if (isCrowded) this.#crowded.add(namespace);
    return isCrowded || wasCrowded ? all.map(objectKey) : [];
  }

  async reconcile(key: ObjectKey): Promise<undefined> {
    const dns = this.#dnses.get(key);
    if (!dns || isTerminating(dns)) return;
    const serviceOf = (name: string) => this.#services.get(`${dns.metadata.namespace}/${name}`);
    const holder = hostHolder(this.#ofHost(dns)) ?? '';
    const { status, changed, problem } = planDnsStatus(dns, {
      serviceOf,
      clusterDomain: this.#clusterDomain,
      holder,
      isWithinLimit: withinLimit(this.#dnses.list(dns.metadata.namespace)).includes(dns),
      nodes: this.#nodes.list(),
      now: rfc3339(this.#context.clock.now()),
    });
    if (!changed) return;
    const written = await ifPresent(
      this.#context.client.resource(dnsResource).updateStatus({ ...deepCopy(dns), status }),
    );
    if (written && problem) this.#context.events.event(dns, 'Warning', problem.reason, problem.message);
  }

  #ofHost({ spec }: Dns): readonly Dns[] {
    return this.#dnses.byIndex(byHost, spec.host);
  }
}
