/**
 * Scrape targets of objects, with the label names of Prometheus' own service discovery of Kubernetes
 * (discovery/kubernetes in its source), so that one set of relabelings serves both. Pure.
 */
import type { Node } from '../../api/core/v1/node/node.ts';
import { podCondition } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import type { Container } from '../../api/core/v1/types.gen.ts';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import { controllerOf, type KubeObject } from '../../apimachinery/meta.ts';
import { isIPv6 } from '../../base/addresses.ts';

export type TargetLabels = Readonly<Record<string, string>>;

export interface Target {
  readonly address: string;
  readonly labels: TargetLabels;
}

/** Targets of one object. */
export interface Targets {
  /** Labels of every target. */
  readonly labels: TargetLabels;
  /** Must be iterated once; targets are created during iteration, since a small object can have very many. */
  readonly targets: Iterable<Target>;
}

/** Prefix of the annotations that become labels: others are often long, and none is about metrics. */
const annotationPrefix = 'prometheus.io/';
export const scrapeAnnotation = `${annotationPrefix}scrape`;
/** Name of a container port that is scraped without an annotation. */
export const metricsPort = 'metrics';

/** Returns whether a pod has metrics and an address at which they can be read. */
export const isScraped = ({ metadata, spec, status }: Pod) =>
  status?.podIP !== undefined &&
  (metadata.annotations?.[scrapeAnnotation] !== undefined ||
    [...spec.containers, ...(spec.initContainers ?? [])].some(({ ports = [] }) =>
      ports.some(({ name }) => name === metricsPort),
    ));

export function nodeTargets(node: Node): Targets {
  const { addresses = [], conditions = [], daemonEndpoints } = node.status ?? {};
  const address = addresses.find(({ type }) => type === 'InternalIP')?.address;
  const port = daemonEndpoints?.kubeletEndpoint?.Port;
  const labels = {
    ...objectLabels('node', node),
    ...Object.fromEntries(
      conditions.map(({ type, status }) => [
        meta(`node_condition_${sanitized(type.toLowerCase())}`),
        status.toLowerCase(),
      ]),
    ),
    ...Object.fromEntries(
      // The first address of a type counts, so it is written last.
      [...addresses].reverse().map((one) => [meta(`node_address_${sanitized(one.type)}`), one.address]),
    ),
  };
  if (address === undefined || port === undefined) return { labels, targets: [] };
  return {
    labels,
    targets: [{ address: hostAndPort(address, port), labels: { instance: node.metadata.name } }],
  };
}

/** Returns a target for each port of the pod's containers, and one for a container without ports. */
export const podTargets = (pod: Pod): Targets => ({
  labels: { ...podLabels(pod), [meta('namespace')]: pod.metadata.namespace ?? '' },
  targets: ofContainers(pod),
});

function* ofContainers(pod: Pod): Generator<Target> {
  const podIP = pod.status?.podIP;
  if (podIP === undefined) return;
  for (const { container, isInit, id } of containersOf(pod)) {
    const own = { ...containerLabels(container, isInit), [meta('pod_container_id')]: id };
    const { ports = [] } = container;
    if (ports.length === 0) yield { address: bracketed(podIP), labels: own };
    for (const port of ports) {
      yield {
        address: hostAndPort(podIP, port.containerPort),
        labels: { ...own, ...portLabels(port) },
      };
    }
  }
}

/**
 * Returns the targets behind a Service: one for each port of each endpoint of a slice. `podOf` finds a pod of
 * the Service's namespace.
 */
export const sliceTargets = (
  slice: EndpointSlice,
  service: Service,
  podOf: (name: string) => Pod | undefined,
): Targets => ({
  labels: {
    ...objectLabels('endpointslice', slice),
    ...objectLabels('service', service),
    [meta('namespace')]: slice.metadata.namespace ?? '',
    [meta('endpointslice_address_type')]: slice.addressType,
  },
  targets: ofEndpoints(slice, podOf),
});

/** Returns the name of the pod of the slice's namespace that the endpoint refers to. */
const podNameOf = ({ targetRef }: Endpoint, namespace: string | undefined) =>
  targetRef?.kind === 'Pod' && targetRef.namespace === namespace ? targetRef.name : undefined;

function* ofEndpoints(
  { metadata, endpoints, ports }: EndpointSlice,
  podOf: (name: string) => Pod | undefined,
): Generator<Target> {
  for (const endpoint of endpoints) {
    const podName = podNameOf(endpoint, metadata.namespace);
    const pod = podName ? podOf(podName) : undefined;
    const own = { ...endpointLabels(endpoint), ...(pod && podLabels(pod)) };
    for (const port of ports) {
      const labels = { ...own, ...slicePortLabels(port), ...ofSamePort(pod, port.port) };
      for (const host of endpoint.addresses) yield { address: addressOf(host, port), labels };
    }
  }
}

const addressOf = (host: string, { port }: EndpointPort) =>
  port === undefined ? bracketed(host) : hostAndPort(host, port);

const meta = (name: string) => `__meta_kubernetes_${name}`;

/** Returns the text as a part of a label name. */
const sanitized = (text: string) => text.replace(/[^a-zA-Z0-9_]/g, '_');

const bracketed = (address: string) => (isIPv6(address) ? `[${address}]` : address);
const hostAndPort = (address: string, port: number) => `${bracketed(address)}:${port}`;

function objectLabels(role: string, { metadata }: KubeObject): TargetLabels {
  const of = (what: string, entries: readonly (readonly [string, string])[]) =>
    entries.flatMap(([name, value]) => [
      [meta(`${role}_${what}_${sanitized(name)}`), value] as const,
      [meta(`${role}_${what}present_${sanitized(name)}`), 'true'] as const,
    ]);
  const annotations = Object.entries(metadata.annotations ?? {});
  return Object.fromEntries([
    [meta(`${role}_name`), metadata.name],
    ...of('label', Object.entries(metadata.labels ?? {})),
    ...of(
      'annotation',
      annotations.filter(([name]) => name.startsWith(annotationPrefix)),
    ),
  ]);
}

function podLabels(pod: Pod): TargetLabels {
  const { metadata, spec, status } = pod;
  const controller = controllerOf(pod);
  return {
    ...objectLabels('pod', pod),
    [meta('pod_ip')]: status?.podIP ?? '',
    [meta('pod_ready')]: podCondition(pod, 'Ready')?.status.toLowerCase() ?? 'unknown',
    [meta('pod_phase')]: status?.phase ?? '',
    [meta('pod_node_name')]: spec.nodeName ?? '',
    [meta('pod_host_ip')]: status?.hostIP ?? '',
    [meta('pod_uid')]: metadata.uid,
    ...(controller && {
      [meta('pod_controller_kind')]: controller.kind,
      [meta('pod_controller_name')]: controller.name,
    }),
  };
}

interface ContainerOf {
  readonly container: Container;
  readonly isInit: boolean;
  readonly id: string;
}

function containersOf({ spec, status }: Pod): readonly ContainerOf[] {
  const of = (isInit: boolean): ContainerOf[] => {
    const all = isInit ? (spec.initContainers ?? []) : spec.containers;
    const statuses = (isInit ? status?.initContainerStatuses : status?.containerStatuses) ?? [];
    const ids = new Map(statuses.map(({ name, containerID }) => [name, containerID ?? '']));
    return all.map((container) => ({ container, isInit, id: ids.get(container.name) ?? '' }));
  };
  return [...of(false), ...of(true)];
}

const containerLabels = ({ name, image = '' }: Container, isInit: boolean): TargetLabels => ({
  [meta('pod_container_name')]: name,
  [meta('pod_container_image')]: image,
  [meta('pod_container_init')]: String(isInit),
});

const portLabels = ({ name = '', containerPort, protocol }: NonNullable<Container['ports']>[number]) => ({
  [meta('pod_container_port_name')]: name,
  [meta('pod_container_port_number')]: String(containerPort),
  [meta('pod_container_port_protocol')]: protocol,
});

const slicePortLabels = ({ name, protocol, port, appProtocol }: EndpointPort): TargetLabels => ({
  [meta('endpointslice_port_name')]: name,
  [meta('endpointslice_port_protocol')]: protocol,
  ...(port !== undefined && { [meta('endpointslice_port')]: String(port) }),
  ...(appProtocol !== undefined && { [meta('endpointslice_port_app_protocol')]: appProtocol }),
});

function endpointLabels({ conditions, hostname, nodeName, targetRef, zone }: Endpoint): TargetLabels {
  const values = {
    endpoint_conditions_ready: conditions.ready,
    endpoint_conditions_serving: conditions.serving,
    endpoint_conditions_terminating: conditions.terminating,
    endpoint_hostname: hostname,
    endpoint_node_name: nodeName,
    endpoint_zone: zone,
    address_target_kind: targetRef && (targetRef.kind ?? ''),
    address_target_name: targetRef && (targetRef.name ?? ''),
  };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[meta(`endpointslice_${name}`), String(value)]],
    ),
  );
}

/** Returns the labels of the container that declares the port; of the last one, if several do. */
function ofSamePort(pod: Pod | undefined, wanted: number | undefined): TargetLabels {
  if (!pod || wanted === undefined) return {};
  let found: TargetLabels = {};
  for (const { container, isInit } of containersOf(pod)) {
    const port = container.ports?.find(({ containerPort }) => containerPort === wanted);
    if (port) found = { ...containerLabels(container, isInit), ...portLabels(port) };
  }
  return found;
}
