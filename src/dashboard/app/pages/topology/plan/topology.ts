/** The way of requests through a cluster: Gateway, route, Service, pods by workload, nodes. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../../../../../apimachinery/fields.ts';
import type { Labels } from '../../../../../apimachinery/labels.ts';
import { conditionOf } from '../../../../../why/pod-facts.ts';
import { selectorOf } from '../../../../../why/service-facts.ts';
import { rateText } from '../../../charts/plan/amount-text.ts';
import { podHealth } from '../../../pods/plan/pod-phase.ts';
import { workloadOf } from '../../../pods/plan/workload.ts';
import type { Health, TopologyEdge, TopologyNode } from './graph-parts.ts';
import { routeParts } from './routes.ts';
import { trafficOf } from './traffic.ts';

export interface Topology {
  readonly nodes: readonly TopologyNode[];
  readonly edges: readonly TopologyEdge[];
}

export interface TopologySource {
  readonly ingresses: readonly JsonObject[];
  readonly httpRoutes: readonly JsonObject[];
  readonly grpcRoutes: readonly JsonObject[];
  readonly gateways: readonly JsonObject[];
  readonly services: readonly JsonObject[];
  readonly pods: readonly JsonObject[];
  readonly nodes: readonly JsonObject[];
  /** Items of a list of ServiceTraffic; empty for a user who may not read them. */
  readonly traffic: readonly JsonObject[];
}

interface Group {
  readonly id: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly pods: readonly JsonObject[];
}

/** Returns the graph. Pods of one workload are one box; pods without a Service are left out. */
export function topologyOf(source: TopologySource): Topology {
  const groups = groupsOf(source.pods);
  const byNamespace = Map.groupBy(groups, ({ namespace }) => namespace);
  const services = source.services.map((service) => ({
    service,
    groups: behind(service, byNamespace.get(metadataOf(service).namespace) ?? []),
  }));
  const traffic = trafficOf(source.traffic);
  const used = new Set(services.flatMap((one) => one.groups));
  const shown = groups.filter((group) => used.has(group));
  const serviceBoxes = services.map(({ service, groups: own }) =>
    serviceBox(service, own, traffic.ofService(service)),
  );
  const boxes = new Map(serviceBoxes.map((box) => [box.id, box]));
  const routes = routeParts(source, boxes);
  const nodesInUse = new Set(shown.flatMap(({ pods }) => pods.map((pod) => textAt(pod, 'spec', 'nodeName'))));
  return {
    nodes: [
      ...routes.nodes,
      ...serviceBoxes,
      ...shown.map(groupBox),
      ...source.nodes.filter((node) => nodesInUse.has(metadataOf(node).name)).map(nodeBox),
    ],
    edges: [
      ...routes.edges,
      ...services.flatMap(({ service, groups: own }) =>
        own.map((group) => {
          const perSecond = traffic.toPods(service, group.pods);
          return {
            ...{ from: serviceId(service), to: group.id, health: healthOfPods(group.pods) },
            ...(perSecond > 0 && { perSecond }),
          };
        }),
      ),
      ...shown.flatMap(edgesToNodes),
    ],
  };
}

/** Returns the pods by their workload; the ReplicaSet of a Deployment is named as the Deployment. */
function groupsOf(pods: readonly JsonObject[]): readonly Group[] {
  const groups = new Map<string, Group & { readonly pods: JsonObject[] }>();
  for (const pod of pods) {
    if (['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'))) continue;
    const { namespace } = metadataOf(pod);
    const { kind, name } = workloadOf(pod);
    const id = `${kind} ${namespace}/${name}`;
    const group = groups.get(id);
    if (group) group.pods.push(pod);
    else groups.set(id, { id, kind, namespace, name, pods: [pod] });
  }
  return [...groups.values()];
}

/** Returns the groups of the Service's namespace of which it selects pods. */
function behind(service: JsonObject, groups: readonly Group[]): readonly Group[] {
  const selector = selectorOf(service);
  return selector ? groups.filter(({ pods }) => pods.some((pod) => hasLabels(pod, selector))) : [];
}

function hasLabels(pod: JsonObject, wanted: Labels): boolean {
  const { labels } = metadataOf(pod);
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

const serviceId = (service: JsonObject) =>
  `services ${metadataOf(service).namespace}/${metadataOf(service).name}`;

function serviceBox(service: JsonObject, groups: readonly Group[], perSecond: number): TopologyNode {
  const { namespace, name } = metadataOf(service);
  const ports = recordsAt(service, 'spec', 'ports').map(({ port }) => String(port));
  const type = textAt(service, 'spec', 'type') || 'ClusterIP';
  const pods = groups.flatMap((group) => group.pods);
  return {
    ...{ id: serviceId(service), column: 2, kind: 'services', namespace, name, title: name },
    detail: [
      type === 'ClusterIP' ? '' : type,
      ports.length > 0 ? `:${ports.join(', :')}` : '',
      perSecond > 0 ? `· ${rateText(perSecond)}` : '',
    ]
      .filter(Boolean)
      .join(' '),
    health: selectorOf(service) ? healthOfPods(pods) : 'idle',
  };
}

/** Returns good if all pods are good; bad if none is good or waiting, so that no pods are bad as well. */
function healthOfPods(pods: readonly JsonObject[]): Health {
  const states = pods.map(podHealth).filter((state) => state !== 'ending');
  const good = states.filter((state) => state === 'good').length;
  if (good === 0) return states.includes('waiting') ? 'waiting' : 'bad';
  return good === states.length ? 'good' : 'waiting';
}

function groupBox({ id, kind, namespace, name, pods }: Group): TopologyNode {
  const states = pods.map(podHealth);
  const ready = states.filter((state) => state === 'good').length;
  return {
    ...{ id, column: 3, kind, namespace, name, title: name },
    detail: `${ready} of ${pods.length} ready`,
    health: healthOfPods(pods),
    pods: states,
  };
}

function edgesToNodes({ id, pods }: Group): TopologyEdge[] {
  const byNode = Map.groupBy(pods, (pod) => textAt(pod, 'spec', 'nodeName'));
  return [...byNode]
    .filter(([node]) => node !== '')
    .map(([node, own]) => ({ from: id, to: `nodes ${node}`, health: healthOfPods(own) }));
}

function nodeBox(node: JsonObject): TopologyNode {
  const { name } = metadataOf(node);
  const isReady = conditionOf(node, 'Ready')?.status === 'True';
  const address = recordsAt(node, 'status', 'addresses').find(({ type }) => type === 'InternalIP');
  return {
    ...{ id: `nodes ${name}`, column: 4, kind: 'nodes', namespace: '', name, title: name },
    detail: isReady ? textAt(address, 'address') : 'not ready',
    health: isReady ? 'good' : 'bad',
  };
}
