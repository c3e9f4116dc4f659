/**
 * The rules of a Service and its EndpointSlices on one node: for each port, the addresses that clients call
 * and the endpoints behind them. Pure, and sorted, so that the same state always gives the same value.
 */

import { externalAddresses, externalPort, isDelivered } from '../api/core/v1/service/external-addresses.ts';
import { acceptedClients, isServedAt } from '../api/core/v1/service/node-load-balancer.ts';
import type { Service, ServicePort } from '../api/core/v1/service/service.ts';
import type { Endpoint, EndpointSlice } from '../api/discovery/v1/endpoint-slice.ts';

export interface EndpointAddress {
  readonly ip: string;
  readonly port: number;
  /** True if the endpoint runs on this node. */
  readonly local: boolean;
}

export interface ServicePortRules {
  /** The cluster IP; or the addresses for clients outside the cluster, which may have other endpoints. */
  readonly addresses: readonly string[];
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly port: number;
  /** Targets of traffic to `addresses`. */
  readonly endpoints: readonly EndpointAddress[];
  /** True if a client keeps its endpoint. */
  readonly affinity: boolean;
  readonly nodePort: NodePortRules | undefined;
  /** The same port of this node, if it serves the Service as its load balancer. */
  readonly balancerPort?: NodePortRules;
  /** Ranges of the clients that may call `addresses`; undefined for all. */
  readonly clients?: readonly string[];
}

export interface NodePortRules {
  readonly port: number;
  readonly endpoints: readonly EndpointAddress[];
  /** Masquerade the client's address, so that the answer returns through this node. */
  readonly masquerade: boolean;
  /** Ranges of the clients that may call the port; undefined for all. */
  readonly clients?: readonly string[];
}

export interface ThisNode {
  readonly nodeName: string;
  readonly nodeIP?: string;
}

/**
 * Returns the port rules of a service on a node; none for headless services, for ExternalName
 * and for a service whose cluster IP is not allocated yet.
 */
export function serviceRules(
  service: Service,
  slices: readonly EndpointSlice[],
  { nodeName, nodeIP }: ThisNode,
  /**
   * Returns whether the external address is served for this Service on the port; `port` has the form of
   * `externalPort`.
   */
  isServed: (address: string, port: string) => boolean = () => true,
): readonly ServicePortRules[] {
  const { spec } = service;
  const { clusterIP } = spec;
  if (!clusterIP || !isDelivered(service)) return [];
  const all = externalAddresses(service);
  const clients = acceptedClients(service);
  const isBalanced = isServedAt(service, nodeIP);
  return (spec.ports ?? []).flatMap((port) => {
    const external = all.filter((address) => isServed(address, externalPort(address, port)));
    const targets = endpointsOf(port, slices, nodeName);
    const every = {
      protocol: protocolOf(port),
      port: port.port,
      affinity: spec.sessionAffinity === 'ClientIP',
    };
    const internal = {
      ...every,
      addresses: [clusterIP],
      endpoints: localOnly(targets, spec.internalTrafficPolicy === 'Local'),
      nodePort: nodePortRules(service, port, targets),
      ...(isBalanced && {
        balancerPort: { ...fromOutside(service, port.port, targets), ...(clients && { clients }) },
      }),
    };
    if (external.length === 0) return [internal];
    const endpoints = localOnly(targets, spec.externalTrafficPolicy === 'Local');
    const outer = { ...every, addresses: external, endpoints, nodePort: undefined };
    return [internal, { ...outer, ...(clients && { clients }) }];
  });
}

function nodePortRules(
  service: Service,
  port: ServicePort,
  endpoints: readonly EndpointAddress[],
): NodePortRules | undefined {
  if (!port.nodePort || service.spec.type === 'ClusterIP') return undefined;
  return fromOutside(service, port.nodePort, endpoints);
}

function fromOutside({ spec }: Service, port: number, endpoints: readonly EndpointAddress[]): NodePortRules {
  const local = spec.externalTrafficPolicy === 'Local';
  return { port, endpoints: localOnly(endpoints, local), masquerade: !local };
}

const protocolOf = (port: ServicePort) => port.protocol.toLowerCase() as 'tcp' | 'udp' | 'sctp';

const localOnly = (endpoints: readonly EndpointAddress[], only: boolean) =>
  only ? endpoints.filter((endpoint) => endpoint.local) : endpoints;

/**
 * Returns the usable endpoints of one service port: the ready ones or, if there are none, those that still
 * serve while they terminate (KEP-1669).
 */
function endpointsOf(
  port: ServicePort,
  slices: readonly EndpointSlice[],
  nodeName: string,
): readonly EndpointAddress[] {
  const ready = new Map<string, EndpointAddress>();
  const terminating = new Map<string, EndpointAddress>();
  for (const { endpoint, port: number } of candidates(port, slices)) {
    const ip = endpoint.addresses[0];
    if (ip === undefined) continue;
    const address = { ip, port: number, local: endpoint.nodeName === nodeName };
    if (endpoint.conditions.ready !== false) ready.set(`${ip}:${number}`, address);
    else if (endpoint.conditions.serving && endpoint.conditions.terminating) {
      terminating.set(`${ip}:${number}`, address);
    }
  }
  const usable = ready.size > 0 ? ready : terminating;
  return [...usable].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, address]) => address);
}

function* candidates(
  port: ServicePort,
  slices: readonly EndpointSlice[],
): Generator<{ endpoint: Endpoint; port: number }> {
  for (const slice of slices) {
    if (slice.addressType !== 'IPv4') continue;
    const target = slice.ports.find(
      (candidate) => candidate.name === (port.name ?? '') && candidate.protocol === port.protocol,
    );
    if (target?.port === undefined) continue;
    for (const endpoint of slice.endpoints) yield { endpoint, port: target.port };
  }
}
