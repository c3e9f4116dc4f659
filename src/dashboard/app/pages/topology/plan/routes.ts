/**
 * Routes as they lead to Services: Ingresses, and HTTPRoutes and GRPCRoutes with the Gateways that take them.
 * Pure.
 */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt, valueAt } from '../../../../../apimachinery/fields.ts';
import { backendsOf } from '../../../../../why/ingress-facts.ts';
import { conditionOf } from '../../../../../why/pod-facts.ts';
import type { Health, TopologyEdge, TopologyNode } from './graph-parts.ts';

export const gatewaysKey = 'gateways.gateway.networking.k8s.io';
export const httpRoutesKey = 'httproutes.gateway.networking.k8s.io';
export const grpcRoutesKey = 'grpcroutes.gateway.networking.k8s.io';
export const ingressesKey = 'ingresses.networking.k8s.io';

export const idOf = (key: string, namespace: string, name: string) => `${key} ${namespace}/${name}`;
const idOfObject = (key: string, object: JsonObject) =>
  idOf(key, metadataOf(object).namespace, metadataOf(object).name);

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

export interface RouteParts {
  readonly nodes: readonly TopologyNode[];
  readonly edges: readonly TopologyEdge[];
}

type Boxes = ReadonlyMap<string, TopologyNode>;

interface Route {
  readonly key: string;
  readonly object: JsonObject;
  readonly hosts: readonly string[];
  /** Ids of the boxes of its Services. */
  readonly targets: readonly string[];
  readonly isRefused: boolean;
}

function ofIngress(ingress: JsonObject): Route {
  const { namespace } = metadataOf(ingress);
  return {
    ...{ key: ingressesKey, object: ingress, isRefused: false },
    hosts: recordsAt(ingress, 'spec', 'rules').map((rule) => textAt(rule, 'host') || '*'),
    targets: backendsOf(ingress).map(({ service }) => idOf('services', namespace, service)),
  };
}

/** Reads a route of a Gateway: HTTPRoutes and GRPCRoutes have the same fields for hosts and backends. */
function ofGatewayRoute(key: string, route: JsonObject): Route {
  const { namespace } = metadataOf(route);
  const refs = recordsAt(route, 'spec', 'rules').flatMap((rule) => recordsAt(rule, 'backendRefs'));
  const hosts = texts(valueAt(route, 'spec', 'hostnames'));
  return {
    ...{ key, object: route, isRefused: !isAccepted(route) },
    hosts: hosts.length === 0 ? ['*'] : hosts,
    targets: refs
      .filter((ref) => (textAt(ref, 'kind') || 'Service') === 'Service' && textAt(ref, 'group') === '')
      .map((ref) => idOf('services', textAt(ref, 'namespace') || namespace, textAt(ref, 'name'))),
  };
}

/** A route counts as accepted until a Gateway has refused it. */
const isAccepted = (route: JsonObject): boolean => {
  const parents = recordsAt(route, 'status', 'parents');
  const refused = parents.filter((parent) =>
    recordsAt(parent, 'conditions').some(
      ({ type, status }) => (type === 'Accepted' || type === 'ResolvedRefs') && status === 'False',
    ),
  );
  return refused.length === 0;
};

/** Returns the boxes of routes and Gateways, and the edges between them and to the Services. */
export function routeParts(
  objects: {
    readonly ingresses: readonly JsonObject[];
    readonly httpRoutes: readonly JsonObject[];
    readonly grpcRoutes: readonly JsonObject[];
    readonly gateways: readonly JsonObject[];
  },
  services: Boxes,
): RouteParts {
  const ofGateways = [
    ...objects.httpRoutes.map((route) => ofGatewayRoute(httpRoutesKey, route)),
    ...objects.grpcRoutes.map((route) => ofGatewayRoute(grpcRoutesKey, route)),
  ];
  const routes = [...objects.ingresses.map(ofIngress), ...ofGateways];
  const gateways = new Map(objects.gateways.map(gatewayBox).map((box) => [box.id, box]));
  return {
    nodes: [...gateways.values(), ...routes.map((route) => routeBox(route, services))],
    edges: [
      ...ofGateways.flatMap((route) => edgesOfGateways(route, gateways)),
      ...routes.flatMap((route) => edgesToServices(route, services)),
    ],
  };
}

function routeBox({ key, object, hosts, targets, isRefused }: Route, services: Boxes): TopologyNode {
  const { namespace, name } = metadataOf(object);
  const healths = targets.map((target) => services.get(target)?.health ?? 'bad');
  return {
    ...{ id: idOfObject(key, object), column: 1, kind: key, namespace, name, title: name },
    detail: [...new Set(hosts)].join(', '),
    health: isRefused ? 'bad' : worst(healths),
  };
}

const edgesToServices = ({ key, object, targets }: Route, services: Boxes): TopologyEdge[] =>
  [...new Set(targets)].flatMap((to) => {
    const service = services.get(to);
    return service ? [{ from: idOfObject(key, object), to, health: service.health }] : [];
  });

function edgesOfGateways({ key, object: route, isRefused }: Route, gateways: Boxes): TopologyEdge[] {
  const { namespace } = metadataOf(route);
  const parents = recordsAt(route, 'spec', 'parentRefs')
    .filter((ref) => (textAt(ref, 'kind') || 'Gateway') === 'Gateway')
    .map((ref) => idOf(gatewaysKey, textAt(ref, 'namespace') || namespace, textAt(ref, 'name')));
  return [...new Set(parents)]
    .filter((from) => gateways.has(from))
    .map((from) => ({
      from,
      to: idOfObject(key, route),
      health: isRefused ? 'bad' : 'good',
    }));
}

function gatewayBox(gateway: JsonObject): TopologyNode {
  const { namespace, name } = metadataOf(gateway);
  const ports = recordsAt(gateway, 'spec', 'listeners').map(
    (listener) => `${textAt(listener, 'protocol')} :${String(listener.port)}`,
  );
  return {
    ...{ id: idOfObject(gatewaysKey, gateway), column: 0, kind: gatewaysKey, namespace, name, title: name },
    detail: [...new Set(ports)].join(', '),
    health: healthOfGateway(gateway),
  };
}

function healthOfGateway(gateway: JsonObject): Health {
  const status = conditionOf(gateway, 'Programmed')?.status;
  if (status === undefined || status === 'Unknown') return 'waiting';
  return status === 'True' ? 'good' : 'bad';
}

const worst = (healths: readonly Health[]): Health =>
  (['bad', 'waiting', 'good'] as const).find((one) => healths.includes(one)) ?? 'idle';
