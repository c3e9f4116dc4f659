/**
 * Dns objects on one node: a web server that forwards their paths to Services, and the resolution of their
 * host names, for pods by cluster DNS and optionally for the node itself by /etc/hosts. The server runs only
 * while a Dns object exists.
 */
import type { Node } from '../../../api/core/v1/node/node.ts';
import type { Service } from '../../../api/core/v1/service/service.ts';
import { Backoff } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import { keepDoing, Wake } from '../../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { Informer, InformerFactory } from '../../../client/informer.ts';
import type { EventRecorder } from '../../../controller-runtime/events.ts';
import { dnsResource } from '../api/dns.ts';
import type { DnsServed } from '../api/dns-served.ts';
import { isOwnName } from '../api/dns-target.ts';
import { type HostsBlock, writeHostsBlock } from './hosts-file.ts';
import type { Nginx } from './nginx.ts';
import { NotServedError } from './not-served.ts';
import { routesOf } from './routes.ts';

export interface DnsRoutingOptions {
  /** Informers that are not started yet: the routing registers the informer of Dns objects. */
  readonly informers: InformerFactory;
  readonly services: Informer<Service>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly nginx: Pick<Nginx, 'serve' | 'remove'>;
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
  /** Runs until the signal aborts; call it when the informers have synced. The web server keeps running. */
  run(signal: AbortSignal): Promise<void>;
}

const nothingToServe: DnsServed = { reason: 'NothingToServe', message: 'there is no Dns object' };
const serving: DnsServed = { reason: 'Serving', message: 'Dns objects are served' };

/** The engine restarts the container by itself; its removal by another program triggers no event here. */
const lookAgainMs = 60_000;
const retry = { initialMs: 500, maxMs: 30_000 };

export function createDnsRouting(options: DnsRoutingOptions): DnsRouting {
  const { services, clock, log, nginx, clusterDomain } = options;
  const dnses = options.informers.informerFor(dnsResource);
  const addresses = [options.hosts.address];
  let names: ReadonlySet<string> = new Set();
  const wake = new Wake();
  const changed = () => wake.call();
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

  async function reconcile(): Promise<void> {
    const hosts = routesOf(dnses.lister.list(), (namespace, name) =>
      services.lister.get(`${namespace}/${name}`),
    );
    // A block is removed if it was written while the setting was on.
    await writeHostsBlock(options.hosts, options.writesHosts ? [...names].sort() : []);
    if (hosts.length === 0) await nginx.remove();
    else await nginx.serve(hosts);
    reports.succeeded(hosts.length === 0 ? nothingToServe : serving);
  }

  return {
    hostAddresses: (name) => (names.has(name) ? addresses : undefined),

    async run(signal) {
      const backoff = new Backoff(retry);
      const turns = { wake, restMs: lookAgainMs, backoff, wakesRetry: true, onError: reports.failed };
      await keepDoing({ clock, signal, ...turns }, reconcile);
      await writeHostsBlock(options.hosts, []).catch((error) =>
        log.warn('cannot remove the names of Dns objects from the hosts file', {
          error: errorMessage(error),
        }),
      );
    },
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
