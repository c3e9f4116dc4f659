/**
 * Gives Services of type LoadBalancer the addresses of the nodes, where no other controller assigns one. Two
 * Services cannot have one port of the nodes: the oldest has it.
 */
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { ExternalHolders } from '../../api/core/v1/service/external-addresses.ts';
import { isNodeLoadBalancer, nodePortText } from '../../api/core/v1/service/node-load-balancer.ts';
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
import { loadBalancerServed, planBalancerStatus } from './load-balancer-plan.ts';

export const loadBalancerRights: AccountRights = {
  kubernetes: [
    [read, 'core', 'services'],
    ['update patch', 'core', 'services/status'],
    ['list watch', 'core', 'nodes'],
    writeEvents,
  ],
  // The controller reads where the pods of Services are, and the ports of masters.
  own: [[read, 'discovery.k8s.io', 'endpointslices']],
};

export interface LoadBalancerOptions {
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

const portsOf = (service: Service | undefined): readonly string[] =>
  service && isNodeLoadBalancer(service) ? (service.spec.ports ?? []).map(nodePortText) : [];

class LoadBalancerController {
  readonly #options: LoadBalancerOptions;
  readonly #context: ControllerContext;
  readonly #services: Lister<Service>;
  readonly #nodes: Lister<Node>;
  readonly #slices: Lister<EndpointSlice>;
  readonly #holders = new ExternalHolders(portsOf);
  /** State of each node that matters to Services, as a text. */
  readonly #nodeStates = new Map<string, string>();

  constructor(options: LoadBalancerOptions, context: ControllerContext) {
    const { informers } = context;
    this.#options = options;
    this.#context = context;
    this.#services = informers.informerFor(serviceResource).lister;
    this.#nodes = informers.informerFor(nodeResource).lister;
    this.#slices = informers.informerFor(endpointSliceResource).lister;
  }

  definition(): ControllerDefinition {
    return {
      name: 'service-load-balancer',
      watches: [
        watched(serviceResource, (service) => this.#keysOfService(service)),
        watched(nodeResource, (node) => this.#keysOfNode(node)),
        watched(endpointSliceResource, (slice) => this.#keysOfSlice(slice)),
      ],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  #keysOfService(service: Service): readonly ObjectKey[] {
    const key = objectKey(service);
    const changed = this.#holders.replace(key, this.#services.get(key));
    return concerns(service) ? [...new Set([key, ...changed])] : [...changed];
  }

  #keysOfNode({ metadata: { name } }: Node): readonly ObjectKey[] {
    const node = this.#nodes.get(name);
    const state = node ? stateOf(node) : '';
    if ((this.#nodeStates.get(name) ?? '') === state) return [];
    if (state === '') this.#nodeStates.delete(name);
    else this.#nodeStates.set(name, state);
    return [...this.#holders.services()];
  }

  #keysOfSlice(slice: EndpointSlice): readonly ObjectKey[] {
    const key = keyOfSlice(slice);
    if (key === mastersKey) return [...this.#holders.services()];
    const service = this.#services.get(key);
    return service?.spec.externalTrafficPolicy === 'Local' && isNodeLoadBalancer(service) ? [key] : [];
  }

  async #reconcile(key: ObjectKey): Promise<undefined> {
    const { client, clock, events } = this.#context;
    const service = this.#services.get(key);
    if (!service || isTerminating(service)) return undefined;
    const reserved = this.#reserved();
    const serving = this.#nodesWithEndpoint(key);
    const facts = {
      nodes: this.#nodes.list(),
      holder: (port: string) => this.#holders.holder(port),
      reservedFor: (port: number) => reserved(port),
      hasEndpoint: (node: string) => serving.has(node),
    };
    const { status, changed, problem } = planBalancerStatus(service, facts, rfc3339(clock.now()));
    if (!changed) return undefined;
    const next = { ...deepCopy(service), status } as Service;
    const written = await ifPresent(client.resource(serviceResource).updateStatus(next));
    if (written && problem) events.event(service, 'Warning', problem.reason, problem.message);
    return undefined;
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

  /** Returns a function that names what has a port of the machines. */
  #reserved(): (port: number) => string | undefined {
    const [first, last] = this.#options.nodePorts;
    const masters = this.#slices
      .list(apiService.namespace)
      .filter((slice) => keyOfSlice(slice) === mastersKey);
    const api = new Set(masters.flatMap(({ ports }) => ports.map(({ port }) => port)));
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

/** Returns true for Services that nodes serve, and those with a condition about it. */
const concerns = (service: Service): boolean =>
  isNodeLoadBalancer(service) ||
  (service.status?.conditions ?? []).some(({ type }) => type === loadBalancerServed);

const stateOf = ({ metadata, status }: Node): string =>
  JSON.stringify([
    metadata.labels ?? {},
    status?.addresses ?? [],
    status?.daemonEndpoints ?? {},
    (status?.conditions ?? []).find(({ type }) => type === 'Ready')?.status,
  ]);
