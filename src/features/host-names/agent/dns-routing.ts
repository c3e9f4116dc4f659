/**
 * Dns objects on one node: a front of the node's web server that forwards their paths to Services, and the
 * resolution of their host names, for pods by cluster DNS and optionally for the node itself by /etc/hosts.
 */
import type { Node } from '../../../api/core/v1/node/node.ts';
import type { Service } from '../../../api/core/v1/service/service.ts';
import type { Wake } from '../../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { Informer, InformerFactory } from '../../../client/informer.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import { oldestHolder } from '../../../web-server/host-holders.ts';
import { NotServedError } from '../../../web-server/not-served.ts';
import type { Front } from '../../../web-server/web-server.ts';
import { dnsResource } from '../api/dns.ts';
import type { DnsServed } from '../api/dns-served.ts';
import { isOwnName } from '../api/dns-target.ts';
import { dnsSites } from './dns-sites.ts';
import { type HostsBlock, writeHostsBlock } from './hosts-file.ts';
import { routesOf } from './routes.ts';

export interface DnsRoutingOptions {
  /** Informers that are not started yet: the routing registers the informer of Dns objects. */
  readonly informers: InformerFactory;
  readonly services: Informer<Service>;
  readonly events: EventRecorder;
  readonly log: Logger;
  /** Wakes the web server after each change. */
  readonly wake: Wake;
  readonly hosts: HostsBlock;
  /**
   * True if the node's own programs resolve the hosts too: users who may write a Dns object then influence
   * the node's name resolution.
   */
  readonly writesHosts: boolean;
  readonly nodeName: string;
  /** Cluster DNS keeps resolving the names of this domain, whatever hosts Dns objects have. */
  readonly clusterDomain: string;
  /** Called with the state after every round, even if nothing has changed. */
  readonly onState: (state: DnsServed) => void;
}

export interface DnsRouting {
  /**
   * Returns the addresses of a Dns object's host for pods of this node; undefined if there is no such host.
   */
  hostAddresses(name: string): readonly string[] | undefined;
  readonly front: Front;
  /** Removes the names from the hosts file; call it when the web server is no longer configured. */
  end(): Promise<void>;
}

const nothingToServe: DnsServed = { reason: 'NothingToServe', message: 'there is no Dns object' };
const serving: DnsServed = { reason: 'Serving', message: 'Dns objects are served' };

/** Returns the state of a node that serves the hosts `taken` for other objects. */
function servingWithout(taken: readonly string[]): DnsServed {
  if (taken.length === 0) return serving;
  const hosts = taken.slice(0, 3).join(', ');
  const message = `hosts ${hosts} are served for older routes of Gateways in other namespaces`;
  return { ...serving, message };
}

export function createDnsRouting(options: DnsRoutingOptions): DnsRouting {
  const { services, log, clusterDomain } = options;
  const dnses = options.informers.informerFor(dnsResource);
  const addresses = [options.hosts.address];
  let names: ReadonlySet<string> = new Set();
  const changed = () => options.wake.call();
  const dnsChanged = () => {
    const hosts = dnses.lister.list().map(({ spec }) => spec.host);
    names = new Set(hosts.filter((host) => !isOwnName(host, clusterDomain)));
    changed();
  };
  dnses.addEventHandler({ onAdd: dnsChanged, onUpdate: dnsChanged, onDelete: dnsChanged });
  const serviceChanged = () => {
    if (dnses.lister.list().length > 0) changed();
  };
  services.addEventHandler({ onAdd: serviceChanged, onUpdate: serviceChanged, onDelete: serviceChanged });
  const reports = stateReports(options);

  const front: Front = {
    async plan() {
      const all = dnses.lister.list();
      const hosts = routesOf(all, (namespace, name) => services.lister.get(`${namespace}/${name}`));
      const byHost = Map.groupBy(all, ({ spec }) => spec.host);
      // While the setting is off, a block that was written earlier is removed.
      await writeHostsBlock(options.hosts, options.writesHosts ? [...names].sort() : []);
      return {
        isNeeded: hosts.length > 0,
        sites: dnsSites(hosts),
        holderOf: ({ host }) => oldestHolder(byHost.get(host) ?? []),
        certificates: new Map(),
        wantsTls: false,
      };
    },
    served: (isNeeded, { taken }) => reports.succeeded(isNeeded ? servingWithout(taken) : nothingToServe),
    failed: reports.failed,
  };

  return {
    hostAddresses: (name) => (names.has(name) ? addresses : undefined),
    front,
    end: () =>
      writeHostsBlock(options.hosts, []).catch((error) =>
        log.warn('cannot remove the names of Dns objects from the hosts file', {
          error: errorMessage(error),
        }),
      ),
  };
}

/**
 * Returns the functions that report the state after each round. A problem is logged, and recorded as an
 * event, once until it changes.
 */
function stateReports({ onState, events, log, nodeName }: DnsRoutingOptions) {
  /** A node may record events about itself, not about other objects. */
  const node: Pick<Node, 'apiVersion' | 'kind' | 'metadata'> = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, uid: nodeName, resourceVersion: '', creationTimestamp: '' },
  };
  let lastProblem = '';
  return {
    failed(error: unknown): void {
      const message = errorMessage(error);
      onState({ reason: error instanceof NotServedError ? error.reason : 'RoutingFailed', message });
      if (message === lastProblem) return;
      lastProblem = message;
      log.error('Dns objects are not served; trying again', { error: message });
      events.event(node, 'Warning', 'RoutingFailed', `Dns objects are not served: ${message}`);
    },

    succeeded(state: DnsServed): void {
      onState(state);
      if (lastProblem) log.info('Dns objects are served again');
      lastProblem = '';
    },
  };
}
