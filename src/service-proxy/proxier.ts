/**
 * Keeps the kernel's service rules in sync with Services and EndpointSlices. Informer events only mark
 * services as changed; a round reads the current objects and applies all differences in one transaction for
 * each family (family-rules.ts), while new marks are collected for the next round.
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
import { type FurtherRanges, familyOfRange } from '../api/networking/v1/service-cidr.ts';
import { type KubeObject, type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { unlessAborted } from '../base/abort.ts';
import { type AddressFamily, addressFamilies, familiesOf, familyRanges } from '../base/address-families.ts';
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { type Failure, keepDoing, Wake } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Family } from '../base/metrics/exposition.ts';
import type { Informer, InformerFactory, Lister } from '../client/informer.ts';
import type { EventRecorder } from '../controller-runtime/events.ts';
import type { Exec } from '../os/exec.ts';
import { deleteTable } from '../os/nft-table.ts';
import type { RuleKeeper } from '../os/rule-watch.ts';
import type { CountedMap } from './connection-counts.ts';
import { type ElementName, elementsOf, noElements } from './elements.ts';
import { FamilyRules } from './family-rules.ts';
import { HealthPorts, localEndpoints } from './health-ports.ts';
import { heldPorts, lookAgainMs, ownPortsOwner } from './own-ports.ts';
import { ProxyCounts } from './proxy-counts.ts';
import { tableOf } from './render.ts';
import { ConnectionReader, type ServiceConnections } from './service-connections.ts';
import { serviceRules } from './service-map.ts';

export interface ProxierOptions extends Required<ClusterPlaces> {
  /** Informers that are not started yet: the proxier registers the informers it reads. */
  readonly informers: InformerFactory;
  /**
   * Informers of the metadata of Nodes. The caller starts them, possibly after `run`, which waits for them.
   */
  readonly nodeInformers: InformerFactory;
  /** Ranges of ServiceCIDRs, in addition to `serviceCIDR`. */
  readonly furtherRanges?: FurtherRanges;
  readonly exec: Exec;
  /** Reports rules that another program has deleted; undefined where they are not watched. */
  readonly rules: RuleKeeper | undefined;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly nodeName: string;
  /** IPv6 address of the node; undefined without one. */
  readonly nodeIPv6?: string | undefined;
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
  /** Reads the connections per second that this node has opened to the endpoints of Services. */
  connections(): Promise<ServiceConnections>;
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
const retry = { initialMs: 100, maxMs: 30_000 };
/** Maps with the Services of counted elements. */
const servicesOnly = ['services'] as const;
const nodePortNames = ['node-ports', 'balancer-ports'] as const;

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
  /** One for each family of the cluster's Services. */
  readonly #families: readonly FamilyRules[];
  readonly #health: HealthPorts;
  readonly #connections: ConnectionReader;
  readonly #changed = new Set<ObjectKey>();
  readonly #wake = new Wake();
  /** Objects that exist before the first round do not count as changed. */
  #isStarted = false;
  /** Zone of this node. */
  #zone: string | undefined;

  constructor(options: ProxierOptions) {
    const { informers, nodeInformers, clock, exec, log } = options;
    this.#options = options;
    const ranges = familyRanges(options.serviceCIDR);
    const { furtherRanges } = options;
    const furtherOf = (family: AddressFamily) => () =>
      (furtherRanges?.current() ?? []).filter((range) => familyOfRange(range) === family);
    this.#families = familiesOf(ranges).map((family) => {
      const serviceCIDR = ranges[family] ?? '';
      return new FamilyRules({ family, serviceCIDR, furtherRanges: furtherOf(family), exec, log });
    });
    furtherRanges?.onChange(() => this.#wake.call());
    this.#counts = new ProxyCounts(clock);
    this.#external = new ExternalPorts(options);
    this.#health = new HealthPorts({
      address: options.nodeIP,
      onError: (service, port, error) => {
        const message = `node ${options.nodeName} cannot answer health checks on port ${port}: ${errorMessage(error)}`;
        options.events.event(service, 'Warning', 'HealthPortNotServed', message);
      },
    });
    this.#connections = new ConnectionReader({
      ...{ exec, clock, log },
      tables: this.#families.map(({ family }) => tableOf(family)),
      serviceOf: (map, key) => this.#serviceOf(map, key),
    });
    this.#services = informers.informerFor(serviceResource);
    this.#slices = informers.informerFor(endpointSliceResource);
    this.#slices.addIndex(bySlice, serviceKeysOf);
    this.#nodes = nodeInformers.informerFor<KubeObject>({ ...nodeResource, part: 'metadata' });
    this.#listen();
    for (const rules of this.#families) rules.watch(options.rules, () => this.#wake.call());
  }

  families(): readonly Family[] {
    return this.#counts.families();
  }

  connections(): Promise<ServiceConnections> {
    return this.#connections.read();
  }

  /** Returns the key of the Service with a counted element. */
  #serviceOf(map: CountedMap, key: string): ObjectKey | undefined {
    const names = map === 'endpoints' ? servicesOnly : nodePortNames;
    for (const { elements } of this.#families)
      for (const name of names) {
        const owner = elements.ownerOf(name, key);
        if (owner !== undefined) return owner;
      }
    return undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    // The proxier waits for the Nodes, since an address of a node must never be routed to a Service.
    try {
      await unlessAborted(signal, this.#nodes.synced);
    } catch {
      return;
    }
    const onError = (error: unknown, { retryMs }: Failure) => {
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
    const { nodeName, nodeIP, nodeIPv6 } = this.#options;
    const here = { nodeName, ...(nodeIP !== undefined && { nodeIP }), nodeIPv6, zone: this.#zone };
    for (const { family, elements } of this.#families) {
      const rules = service ? serviceRules(service, slices, here, isServed, family) : [];
      elements.replace(key, elementsOf(rules, family));
    }
  }

  /** Returns the keys of the elements of one name, in the tables of all families. */
  #keysOf(name: ElementName): ReadonlySet<string> {
    return new Set(this.#families.flatMap(({ elements }) => [...elements.keysOf(name)]));
  }

  /** Resolves to true if this node serves any port as a load balancer. */
  async #readOwnPorts(): Promise<boolean> {
    const wanted = this.#keysOf('balancer-ports');
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
    const before = this.#keysOf('own-ports');
    for (const port of held) if (!before.has(port)) this.#reportOwnPort(port);
    for (const { elements } of this.#families) {
      const served = elements.keysOf('balancer-ports');
      const own = [...held].filter((port) => served.has(port)).map((port) => [port, ''] as const);
      elements.replace(ownPortsOwner, { ...noElements(), 'own-ports': new Map(own) });
    }
  }

  heldPorts(): readonly HeldBalancerPort[] {
    return [...this.#keysOf('own-ports')].map((key) => {
      const [protocol = '', port] = key.split(' . ');
      const services = this.#balancersOf(key).map(({ service }) => objectKey(service));
      return { protocol, port: Number(port), services };
    });
  }

  /** Returns the load balancers of this node with the port. */
  #balancersOf(key: string): readonly { readonly service: Service; readonly port: ServicePort }[] {
    const { nodeIP, nodeIPv6 } = this.#options;
    return this.#services.lister.list().flatMap((service) => {
      const port = service.spec.ports?.find((one) => balancerKey(one) === key);
      const isServed = isServedAt(service, nodeIP) || isServedAt(service, nodeIPv6);
      return port && isServed ? [{ service, port }] : [];
    });
  }

  #reportOwnPort(key: string): void {
    const { nodeName, events } = this.#options;
    for (const { service, port } of this.#balancersOf(key)) {
      const message = `a process of node ${nodeName} listens on port ${port.port} (${port.protocol}) and keeps it: this node does not serve the Service there`;
      events.event(service, 'Warning', 'PortHeldByProcess', message);
    }
  }

  /** Applies the rules of all families; a family that fails keeps no other one from being applied. */
  async #apply(): Promise<void> {
    const failures: unknown[] = [];
    for (const rules of this.#families) await rules.apply().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}

/** Removes everything that the proxy created in the kernel; does nothing if there is nothing. */
export async function removeServiceRules(exec: Exec): Promise<void> {
  for (const family of addressFamilies) await deleteTable(exec, tableOf(family));
}
