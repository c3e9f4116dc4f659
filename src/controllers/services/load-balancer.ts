/**
 * Gives Services of type LoadBalancer an address of the pool or, in a cluster without a pool, the addresses
 * of the nodes, where no other controller assigns one. Two Services cannot have one port of the nodes: the
 * oldest has it. An address of the pool belongs to one Service.
 */

import { leaseResource } from '../../api/coordination/v1/lease.ts';
import { configMapResource } from '../../api/core/v1/config-map.ts';
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { poolPlace } from '../../api/core/v1/service/address-pool.ts';
import { ExternalHolders } from '../../api/core/v1/service/external-addresses.ts';
import { type ClusterPlaces, ExternalPorts } from '../../api/core/v1/service/external-ports.ts';
import {
  balancerOfClass,
  isNodeLoadBalancer,
  isPoolLoadBalancer,
  nodePortText,
} from '../../api/core/v1/service/node-load-balancer.ts';
import { poolLeaseScope, serviceOfLease } from '../../api/core/v1/service/pool-lease.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { apiService } from '../../api/core/v1/system-objects.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
  serviceNameLabel,
} from '../../api/discovery/v1/endpoint-slice.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { PoolAddresses, poolScope } from './address-pool.ts';
import { choosePoolAddresses } from './address-pool-plan.ts';
import {
  type BalancerOutcome,
  loadBalancerServed,
  planBalancerStatus,
  planNodeBalancer,
  serves,
} from './load-balancer-plan.ts';

export const loadBalancerRights: AccountRights = {
  kubernetes: [
    [read, 'core', 'services'],
    ['update patch', 'core', 'services/status'],
    ['list watch', 'core', 'nodes'],
    writeEvents,
  ],
  // The controller reads where the pods of Services are, and the ports of masters; it reserves addresses of
  // the pool, which a ConfigMap lists.
  own: [
    [read, 'discovery.k8s.io', 'endpointslices'],
    [read, 'core', 'configmaps', poolPlace.name],
    ['get list watch create delete', 'coordination.k8s.io', 'leases'],
  ],
};

export interface LoadBalancerOptions extends ClusterPlaces {
  /** First and last port of the range of node ports. */
  readonly nodePorts: readonly [number, number];
}

export const loadBalancerController =
  (options: LoadBalancerOptions): ControllerFactory =>
  (context) => {
    const controller = new LoadBalancerController(options, context);
    return controller.definition();
  };

const mastersKey: ObjectKey = `${apiService.namespace}/${apiService.name}`;
const keyOfSlice = ({ metadata: { namespace, labels } }: EndpointSlice): ObjectKey =>
  `${namespace}/${labels?.[serviceNameLabel] ?? ''}`;

class LoadBalancerController {
  readonly #options: LoadBalancerOptions;
  readonly #context: ControllerContext;
  readonly #services: Lister<Service>;
  readonly #nodes: Lister<Node>;
  readonly #slices: Lister<EndpointSlice>;
  readonly #pool: PoolAddresses;
  readonly #places: ExternalPorts;
  readonly #holders = new ExternalHolders((service) => this.#nodePortsOf(service));
  /** State of each node that matters to Services, as a text. */
  readonly #nodeStates = new Map<string, string>();

  constructor(options: LoadBalancerOptions, context: ControllerContext) {
    const { informers } = context;
    this.#options = options;
    this.#context = context;
    this.#services = informers.informerFor(serviceResource).lister;
    this.#nodes = informers.informerFor(nodeResource).lister;
    this.#slices = informers.informerFor(endpointSliceResource).lister;
    this.#pool = new PoolAddresses(context);
    this.#places = new ExternalPorts(options);
  }

  definition(): ControllerDefinition {
    return {
      name: 'service-load-balancer',
      watches: [
        watched(serviceResource, (service) => this.#keysOfService(service)),
        watched(nodeResource, (node) => this.#keysOfNode(node)),
        watched(endpointSliceResource, (slice) => this.#keysOfSlice(slice)),
        watched(configMapResource, () => this.#poolChanged(), poolScope),
        watched(leaseResource, (lease) => [serviceOfLease(lease), ...this.#waiting()], poolLeaseScope),
      ],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  /** Returns the ports of the nodes that the Service requests. */
  #nodePortsOf(service: Service | undefined): readonly string[] {
    if (!service || !isNodeLoadBalancer(service) || this.#classOf(service) !== 'nodes') return [];
    return (service.spec.ports ?? []).map(nodePortText);
  }

  #classOf = (service: Service) => balancerOfClass(service, this.#pool.state !== undefined);

  #keysOfService(service: Service): readonly ObjectKey[] {
    const key = objectKey(service);
    const current = this.#services.get(key);
    const changed = this.#holders.replace(key, current);
    // An external address of a Service that is gone may be what another one waits for.
    const waiting = current ? [] : this.#waiting();
    return concerns(service) ? [...new Set([key, ...changed, ...waiting])] : [...changed];
  }

  /** Returns the Services that have a problem, which a change of another Service may have solved. */
  #waiting(): readonly ObjectKey[] {
    return this.#services.list().filter(hasProblem).map(objectKey);
  }

  #poolChanged(): readonly ObjectKey[] {
    const all = this.#services.list().filter(concerns);
    const changed = all.flatMap((service) => [...this.#holders.replace(objectKey(service), service)]);
    return [...new Set([...all.map(objectKey), ...changed])];
  }

  #keysOfNode({ metadata: { name } }: Node): readonly ObjectKey[] {
    const node = this.#nodes.get(name);
    const moved = [...this.#places.setNode(name, node)];
    const state = node ? stateOf(node) : '';
    if ((this.#nodeStates.get(name) ?? '') === state) return moved;
    if (state === '') this.#nodeStates.delete(name);
    else this.#nodeStates.set(name, state);
    return this.#services.list().filter(concerns).map(objectKey);
  }

  #keysOfSlice(slice: EndpointSlice): readonly ObjectKey[] {
    const key = keyOfSlice(slice);
    if (key === mastersKey) {
      this.#places.setMasters(
        this.#masters()
          .flatMap(({ endpoints }) => endpoints.flatMap((one) => one.addresses))
          .sort(),
      );
      return [...this.#holders.services()];
    }
    const service = this.#services.get(key);
    return service?.spec.externalTrafficPolicy === 'Local' && concerns(service) ? [key] : [];
  }

  async #reconcile(key: ObjectKey): Promise<undefined> {
    const service = this.#services.get(key);
    if (!service || isTerminating(service)) {
      await this.#pool.releaseOthers(key, []);
      return;
    }
    const owned = this.#pool.ownedBy(key);
    const isPooled = isPoolLoadBalancer(service, this.#pool.state !== undefined, (ip) => owned.includes(ip));
    const outcome = isPooled ? await this.#fromPool(service, owned) : this.#fromNodes(service, owned);
    await this.#write(service, outcome);
    const kept = isPooled ? (outcome.ingress ?? []) : [];
    // An address is free only when no status names it any more.
    await this.#pool.releaseOthers(
      key,
      kept.flatMap(({ ip }) => ip ?? []),
    );
  }

  async #write(service: Service, outcome: BalancerOutcome): Promise<void> {
    const { client, clock, events } = this.#context;
    const { status, changed, problem } = planBalancerStatus(service, outcome, rfc3339(clock.now()));
    if (!changed) return;
    const next = { ...deepCopy(service), status } as Service;
    const written = await ifPresent(client.resource(serviceResource).updateStatus(next));
    if (written && problem) events.event(service, 'Warning', problem.reason, problem.message);
  }

  async #fromPool(service: Service, owned: readonly string[]): Promise<BalancerOutcome> {
    const key = objectKey(service);
    const isLocal = service.spec.externalTrafficPolicy === 'Local';
    const serving = isLocal ? this.#nodesWithEndpoint(key) : undefined;
    const names = this.#nodes
      .list()
      .filter(serves)
      .map(({ metadata }) => metadata.name);
    const machines = addressesOfNodes(this.#nodes.list());
    const { addresses, problem } = choosePoolAddresses(service, {
      pool: this.#pool.state,
      owned,
      holderOf: (one) => this.#pool.holderOf(one),
      reservedAs: (one) => this.#places.reservedAs(one) ?? machines.get(one),
      announcers: names.filter((name) => serving?.has(name) ?? true),
    });
    for (const address of addresses) await this.#pool.reserve(key, address);
    return { ingress: addresses.map((ip) => ({ ip, ipMode: 'VIP' as const })), problem };
  }

  #fromNodes(service: Service, owned: readonly string[]): BalancerOutcome {
    const before = service.status?.loadBalancer.ingress ?? [];
    const ingress = before.filter(({ ip }) => ip === undefined || !owned.includes(ip));
    const isClassOfNodes = this.#classOf(service) === 'nodes';
    const key = objectKey(service);
    const reserved = this.#reserved();
    const serving = this.#nodesWithEndpoint(key);
    // Without its addresses of the pool, the Service is treated as one that nodes serve.
    const bare = { ...service, status: { ...service.status, loadBalancer: { ingress } } } as Service;
    const outcome = isClassOfNodes
      ? planNodeBalancer(bare, {
          nodes: this.#nodes.list(),
          holder: (port: string) => this.#holders.holder(port),
          reservedFor: (port: number) => reserved(port),
          hasEndpoint: (node: string) => serving.has(node),
        })
      : { ingress: undefined, problem: undefined };
    return outcome.ingress === undefined && ingress.length < before.length
      ? { ...outcome, ingress }
      : outcome;
  }

  /** Returns the nodes with a ready endpoint of the Service. */
  #nodesWithEndpoint(key: ObjectKey): ReadonlySet<string> {
    const [namespace] = key.split('/');
    const endpoints = this.#slices
      .list(namespace)
      .filter((slice) => keyOfSlice(slice) === key)
      .flatMap((slice) => slice.endpoints);
    return new Set(
      endpoints.flatMap(({ nodeName, conditions }) =>
        nodeName && conditions?.ready !== false ? [nodeName] : [],
      ),
    );
  }

  #masters(): readonly EndpointSlice[] {
    return this.#slices.list(apiService.namespace).filter((slice) => keyOfSlice(slice) === mastersKey);
  }

  /** Returns a function that names what has a port of the machines. */
  #reserved(): (port: number) => string | undefined {
    const [first, last] = this.#options.nodePorts;
    const api = new Set(this.#masters().flatMap(({ ports }) => ports.map(({ port }) => port)));
    const agents = new Set(
      this.#nodes.list().map(({ status }) => status?.daemonEndpoints?.kubeletEndpoint?.Port),
    );
    return (port) => {
      if (port >= first && port <= last) return 'the range of node ports';
      if (api.has(port)) return 'the API server';
      if (agents.has(port)) return 'the agents of the nodes';
      return undefined;
    };
  }
}

/**
 * Returns the owner of each address in a node's status, as a text; a node announces only one of its
 * addresses.
 */
const addressesOfNodes = (nodes: readonly Node[]): ReadonlyMap<string, string> =>
  new Map(
    nodes.flatMap(({ metadata, status }) =>
      (status?.addresses ?? []).map(
        ({ address }) => [address, `the address of node ${metadata.name}`] as const,
      ),
    ),
  );

const hasProblem = ({ status }: Service): boolean =>
  (status?.conditions ?? []).some(({ type }) => type === loadBalancerServed);

/** Returns true for Services that may have an address here, and those with a condition about it. */
const concerns = (service: Service): boolean =>
  balancerOfClass(service, true) !== undefined ||
  hasProblem(service) ||
  (service.status?.loadBalancer.ingress ?? []).length > 0;

const stateOf = ({ metadata, status }: Node): string =>
  JSON.stringify([
    metadata.labels ?? {},
    status?.addresses ?? [],
    status?.daemonEndpoints ?? {},
    (status?.conditions ?? []).find(({ type }) => type === 'Ready')?.status,
  ]);
