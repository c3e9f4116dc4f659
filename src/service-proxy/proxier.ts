/**
 * Keeps the kernel's service rules in sync with Services and EndpointSlices. Informer events only mark
 * services as changed; a round reads the current objects and applies all differences in one transaction,
 * while new marks are collected for the next round. The kernel is never listed: after a failed transaction
 * the whole table is written again.
 */

import { zoneLabel } from '../api/core/v1/node/labels.ts';
import { nodeResource } from '../api/core/v1/node/node.ts';
import { type ClusterPlaces, ExternalPorts } from '../api/core/v1/service/external-ports.ts';
import { isServedAt } from '../api/core/v1/service/node-load-balancer.ts';
import { type Service, type ServicePort, serviceResource } from '../api/core/v1/service/service.ts';
import { apiService } from '../api/core/v1/system-objects.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
  lastChangeAnnotation,
  serviceNameLabel,
} from '../api/discovery/v1/endpoint-slice.ts';
import { type KubeObject, type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { unlessAborted } from '../base/abort.ts';
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { type Failure, keepDoing, Wake } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Family } from '../base/metrics/exposition.ts';
import type { Informer, InformerFactory, Lister } from '../client/informer.ts';
import type { EventRecorder } from '../controller-runtime/events.ts';
import { deleteFlows } from '../os/conntrack.ts';
import type { Exec } from '../os/exec.ts';
import type { RuleKeeper } from '../os/rule-watch.ts';
import { ElementTable } from './element-table.ts';
import { elementsOf, noElements } from './elements.ts';
import { HealthPorts, localEndpoints } from './health-ports.ts';
import { heldPorts, lookAgainMs, ownPortsOwner } from './own-ports.ts';
import { ProxyCounts } from './proxy-counts.ts';
import { chainsOf, fixedChains, renderDifference, renderTable, table } from './render.ts';
import { serviceRules } from './service-map.ts';
import { staleFlows } from './stale-flows.ts';
import { readStickyClients, type StickyClients } from './sticky-clients.ts';

/** Traffic to an address of `serviceCIDR` that belongs to no service is rejected at once. */
export interface ProxierOptions extends Required<ClusterPlaces> {
  /** Informers that are not started yet: the proxier registers the informers it reads. */
  readonly informers: InformerFactory;
  /**
   * Informers of the metadata of Nodes. The caller starts them, possibly after `run`, which waits for them.
   */
  readonly nodeInformers: InformerFactory;
  readonly exec: Exec;
  /** Reports rules that another program has deleted; undefined where they are not watched. */
  readonly rules: RuleKeeper | undefined;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Proxier {
  /**
   * Runs until the signal aborts; call it when the informers have synced. The rules are kept in the kernel.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Returns the metrics, under kube-proxy's names. */
  families(): readonly Family[];
  /** Returns the ports of load balancers that a process of this machine holds, with their Services. */
  heldPorts(): readonly HeldBalancerPort[];
}

export interface HeldBalancerPort {
  /** Such as `tcp`. */
  readonly protocol: string;
  readonly port: number;
  /** Keys of the Services. */
  readonly services: readonly ObjectKey[];
}

/** Index of EndpointSlices by the key of their Service, which the proxier adds to its informer. */
export const bySlice = 'service';
/** The key of the Service whose endpoints are the masters. */
const mastersKey = `${apiService.namespace}/${apiService.name}`;
/** Number of chains that may be added before the whole table is written again without unused ones. */
const maxUnusedChains = 500;
const retry = { initialMs: 100, maxMs: 30_000 };

/** Returns the key of a slice's service; empty if the slice has no such label. */
function serviceKeysOf(slice: EndpointSlice): readonly ObjectKey[] {
  const name = slice.metadata.labels?.[serviceNameLabel];
  return name ? [`${slice.metadata.namespace}/${name}`] : [];
}

/** Returns the key of a Service's port in the map of the load balancers' ports. */
const balancerKey = ({ protocol, port }: ServicePort): string => `${protocol.toLowerCase()} . ${port}`;

const mastersIn = (slices: Lister<EndpointSlice>): readonly string[] =>
  slices
    .byIndex(bySlice, mastersKey)
    .flatMap(({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses))
    .sort();

/**
 * Returns the time of the change that caused a slice, in milliseconds since the epoch; undefined if the slice
 * has none, or the same as before.
 */
function triggerOf([now, before]: readonly EndpointSlice[]): number | undefined {
  const changedAt = now?.metadata.annotations?.[lastChangeAnnotation];
  if (changedAt === undefined || changedAt === before?.metadata.annotations?.[lastChangeAnnotation])
    return undefined;
  const at = Date.parse(changedAt);
  return Number.isNaN(at) ? undefined : at;
}

export function createProxier(options: ProxierOptions): Proxier {
  return new ServiceProxier(options);
}

class ServiceProxier implements Proxier {
  readonly #options: ProxierOptions;
  readonly #counts: ProxyCounts;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #nodes: Informer<KubeObject>;
  readonly #external: ExternalPorts;
  readonly #elements = new ElementTable();
  readonly #health: HealthPorts;
  readonly #changed = new Set<ObjectKey>();
  readonly #wake = new Wake();
  /** Objects that exist before the first round do not count as changed. */
  #isStarted = false;
  /** Zone of this node. */
  #zone: string | undefined;
  /** Number of chains above which the whole table is written again. */
  #chainLimit = maxUnusedChains;
  /** The chains in the kernel; undefined if the whole table must be written. */
  #chains: ReadonlySet<string> | undefined;

  constructor(options: ProxierOptions) {
    const { informers, nodeInformers, clock } = options;
    this.#options = options;
    this.#counts = new ProxyCounts(clock);
    this.#external = new ExternalPorts(options);
    this.#health = new HealthPorts({
      address: options.nodeIP,
      onError: (service, port, error) => {
        const message = `node ${options.nodeName} cannot answer health checks on port ${port}: ${errorMessage(error)}`;
        options.events.event(service, 'Warning', 'HealthPortNotServed', message);
      },
    });
    this.#services = informers.informerFor(serviceResource);
    this.#slices = informers.informerFor(endpointSliceResource);
    this.#slices.addIndex(bySlice, serviceKeysOf);
    this.#nodes = nodeInformers.informerFor<KubeObject>({ ...nodeResource, part: 'metadata' });
    this.#listen();
    options.rules?.keep({
      what: 'Services',
      owns: (chain) => this.#chains !== undefined && fixedChains.has(chain),
      restore: () => this.#restore(),
    });
  }

  /** Lets a round write the whole table, unless that is due anyway. */
  #restore(): void {
    if (this.#chains === undefined) return;
    this.#chains = undefined;
    this.#wake.call();
  }

  families(): readonly Family[] {
    return this.#counts.families();
  }

  async run(signal: AbortSignal): Promise<void> {
    // The proxier waits for the Nodes, since an address of a node must never be routed to a Service.
    try {
      await unlessAborted(signal, this.#nodes.synced);
    } catch {
      return;
    }
    const onError = (error: unknown, { retryMs }: Failure) => {
      this.#chains = undefined;
      this.#options.log.error('the nft rules of Services were not applied; writing all of them again', {
        error: errorMessage(error),
        inMs: retryMs,
      });
    };
    const { clock } = this.#options;
    const backoff = new Backoff(retry);
    await keepDoing({ clock, signal, wake: this.#wake, backoff, onError }, async () => {
      this.#readChanged();
      const hasBalancers = await this.#readOwnPorts();
      await this.#counts.sync(() => this.#apply());
      this.#isStarted = true;
      return hasBalancers || this.#health.isUsed ? lookAgainMs : undefined;
    });
    this.#health.close();
  }

  #listen(): void {
    const serviceChanged = (service: Service) => this.#serviceChanged(service);
    this.#services.addEventHandler({
      onAdd: serviceChanged,
      onUpdate: serviceChanged,
      onDelete: serviceChanged,
    });
    this.#slices.addEventHandler({
      onAdd: (slice) => this.#slicesChanged(slice),
      onUpdate: (slice, old) => this.#slicesChanged(slice, old),
      onDelete: (slice) => this.#slicesChanged(slice),
    });
    const nodeChanged = ({ metadata: { name } }: KubeObject) => this.#nodeChanged(name);
    this.#nodes.addEventHandler({ onAdd: nodeChanged, onUpdate: nodeChanged, onDelete: nodeChanged });
  }

  #nodeChanged(name: string): void {
    const node = this.#nodes.lister.get(name);
    this.#mark(this.#external.setNode(name, node));
    if (name !== this.#options.nodeName) return;
    const zone = node?.metadata.labels?.[zoneLabel] || undefined;
    if (zone === this.#zone) return;
    this.#zone = zone;
    this.#mark(this.#services.lister.list().map(objectKey));
  }

  #serviceChanged(service: Service): void {
    this.#counts.changed('service');
    const key = objectKey(service);
    this.#mark(this.#external.setService(key, this.#services.lister.get(key)));
    this.#mark([key]);
  }

  #slicesChanged(...all: readonly EndpointSlice[]): void {
    this.#counts.changed('endpoint', this.#isStarted ? triggerOf(all) : undefined);
    const keys = all.flatMap(serviceKeysOf);
    this.#mark(keys);
    if (keys.includes(mastersKey)) this.#mark(this.#external.setMasters(mastersIn(this.#slices.lister)));
  }

  /** Marks services for the next round. */
  #mark(keys: Iterable<ObjectKey>): void {
    for (const key of keys) {
      this.#changed.add(key);
      this.#wake.call();
    }
  }

  #readChanged(): void {
    for (const key of new Set([...this.#changed, ...this.#health.failed])) this.#read(key);
    this.#changed.clear();
  }

  #read(key: ObjectKey): void {
    const service = this.#services.lister.get(key);
    const slices = this.#slices.lister.byIndex(bySlice, key);
    const count = localEndpoints(slices, this.#options.nodeName);
    this.#health.set(key, service && { service, localEndpoints: count });
    const isServed = (address: string, port: string) => this.#external.isServed(key, address, port);
    const { nodeName, nodeIP } = this.#options;
    const here = { nodeName, ...(nodeIP !== undefined && { nodeIP }), zone: this.#zone };
    const rules = service ? serviceRules(service, slices, here, isServed) : [];
    this.#elements.replace(key, elementsOf(rules));
  }

  /** Resolves to true if this node serves any port as a load balancer. */
  async #readOwnPorts(): Promise<boolean> {
    const wanted = this.#elements.keysOf('balancer-ports');
    if (wanted.size > 0) {
      const { exec, log } = this.#options;
      try {
        const { stdout } = await exec('ss', ['-Hlntu']);
        this.#setOwnPorts(heldPorts(stdout, wanted));
      } catch (error) {
        log.error('the ports of this machine were not read', { error: errorMessage(error) });
      }
    } else this.#setOwnPorts(new Set());
    return wanted.size > 0;
  }

  #setOwnPorts(held: ReadonlySet<string>): void {
    const before = this.#elements.keysOf('own-ports');
    for (const port of held) if (!before.has(port)) this.#reportOwnPort(port);
    const elements = { ...noElements(), 'own-ports': new Map([...held].map((port) => [port, ''])) };
    this.#elements.replace(ownPortsOwner, elements);
  }

  heldPorts(): readonly HeldBalancerPort[] {
    return [...this.#elements.keysOf('own-ports')].map((key) => {
      const [protocol = '', port] = key.split(' . ');
      const services = this.#balancersOf(key).map(({ service }) => objectKey(service));
      return { protocol, port: Number(port), services };
    });
  }

  /** Returns the load balancers of this node with the port. */
  #balancersOf(key: string): readonly { readonly service: Service; readonly port: ServicePort }[] {
    return this.#services.lister.list().flatMap((service) => {
      const port = service.spec.ports?.find((one) => balancerKey(one) === key);
      return port && isServedAt(service, this.#options.nodeIP) ? [{ service, port }] : [];
    });
  }

  #reportOwnPort(key: string): void {
    const { nodeName, events } = this.#options;
    for (const { service, port } of this.#balancersOf(key)) {
      const message = `a process of node ${nodeName} listens on port ${port.port} (${port.protocol}) and keeps it: this node does not serve the Service there`;
      events.event(service, 'Warning', 'PortHeldByProcess', message);
    }
  }

  /**
   * Lets the next round write the whole table when the kernel holds many chains that nothing jumps to any
   * more: each timeout of session affinity has chains of its own.
   */
  #limitChains(isWhole: boolean): void {
    const chains = this.#chains?.size ?? 0;
    if (isWhole) this.#chainLimit = chains + maxUnusedChains;
    else if (chains > this.#chainLimit) this.#chains = undefined;
  }

  #stickyClients(): Promise<StickyClients> {
    const { exec, log } = this.#options;
    return readStickyClients(exec, table, (error) =>
      log.warn('the clients of Services with session affinity were not read; they may get other endpoints', {
        error: errorMessage(error),
      }),
    );
  }

  async #apply(): Promise<void> {
    const { exec, log, serviceCIDR } = this.#options;
    const chains = this.#chains;
    const difference = this.#elements.difference();
    const added = chains ? difference.added : this.#elements.all();
    const script = chains
      ? renderDifference(chains, difference)
      : renderTable(serviceCIDR, added, await this.#stickyClients());
    if (script) await exec('nft', ['-f', '-'], { input: script });
    this.#chains = new Set([...(chains ?? []), ...chainsOf(added)]);
    this.#elements.commit();
    this.#limitChains(chains === undefined);
    await deleteFlows(exec, log, 'a removed endpoint', staleFlows(difference));
  }
}

/** Removes everything that the proxy created in the kernel; does nothing if there is nothing. */
export async function removeServiceRules(exec: Exec): Promise<void> {
  await exec('nft', ['-f', '-'], { input: `add table ${table}\ndelete table ${table}\n` });
}
