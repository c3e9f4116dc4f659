/**
 * What a Service and its EndpointSlices mean to one node: for each port, the addresses clients call and the
 * endpoints behind them. Pure, and sorted so that the same state always gives the same value.
 */

import type { Service, ServicePort } from '../api/core/v1/service.ts';
import type { Endpoint, EndpointSlice } from '../api/discovery/v1/endpoint-slice.ts';
import { canonicalAddress, isIPv4 } from '../base/addresses.ts';

export interface EndpointAddress {
  readonly ip: string;
  readonly port: number;
  /** Runs on this node. */
  readonly local: boolean;
}

export interface ServicePortRules {
  /** The cluster IP; or those that clients outside of the cluster call, which may be treated otherwise. */
  readonly addresses: readonly string[];
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  readonly port: number;
  /** Where traffic to `addresses` goes. */
  readonly endpoints: readonly EndpointAddress[];
  /** The same client keeps its endpoint. */
  readonly affinity: boolean;
  readonly nodePort: NodePortRules | undefined;
}

export interface NodePortRules {
  readonly port: number;
  readonly endpoints: readonly EndpointAddress[];
  /** Hide the client's address, so that the answer comes back through this node. */
  readonly masquerade: boolean;
}

/**
 * The port rules of a service on the node `nodeName`; none for headless services, for ExternalName and for a
 * service whose cluster IP is not allocated yet.
 */
export function serviceRules(
  service: Service,
  slices: readonly EndpointSlice[],
  nodeName: string,
  /** Whose an address is that no Service may have; undefined for others. */
  reserved: (address: string) => string | undefined = () => undefined,
): readonly ServicePortRules[] {
  const { spec } = service;
  if (!spec.clusterIP || spec.clusterIP === 'None' || spec.type === 'ExternalName') return [];
  const { clusterIP } = spec;
  const external = externalAddresses(service).filter((address) => reserved(address) === undefined);
  return (spec.ports ?? []).flatMap((port) => {
    const all = endpointsOf(port, slices, nodeName);
    const every = {
      protocol: protocolOf(port),
      port: port.port,
      affinity: spec.sessionAffinity === 'ClientIP',
    };
    const internal = {
      ...every,
      addresses: [clusterIP],
      endpoints: localOnly(all, spec.internalTrafficPolicy === 'Local'),
      nodePort: nodePortRules(service, port, all),
    };
    if (external.length === 0) return [internal];
    const endpoints = localOnly(all, spec.externalTrafficPolicy === 'Local');
    return [internal, { ...every, addresses: external, endpoints, nodePort: undefined }];
  });
}

/** Its external IPs, and those that a load balancer has taken for it and delivers to nodes as they are (KEP-1860). */
function externalAddresses({ spec, status }: Service): readonly string[] {
  const taken = spec.type === 'LoadBalancer' ? (status?.loadBalancer.ingress ?? []) : [];
  const delivered = taken.flatMap(({ ip, ipMode }) => (ip && ipMode !== 'Proxy' ? [ip] : []));
  const all = [...(spec.externalIPs ?? []), ...delivered].flatMap((ip) => canonicalAddress(ip) ?? []);
  // The table is of IPv4: one element of another sort and the kernel would take none of the transaction.
  return [...new Set(all.filter(isIPv4))];
}

function nodePortRules(
  service: Service,
  port: ServicePort,
  endpoints: readonly EndpointAddress[],
): NodePortRules | undefined {
  if (!port.nodePort || service.spec.type === 'ClusterIP') return undefined;
  const local = service.spec.externalTrafficPolicy === 'Local';
  return { port: port.nodePort, endpoints: localOnly(endpoints, local), masquerade: !local };
}

const protocolOf = (port: ServicePort) => port.protocol.toLowerCase() as 'tcp' | 'udp' | 'sctp';

const localOnly = (endpoints: readonly EndpointAddress[], only: boolean) =>
  only ? endpoints.filter((endpoint) => endpoint.local) : endpoints;

/**
 * The usable endpoints of one service port: the ready ones, or, when there are none, those that still serve
 * while they terminate (KEP-1669).
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
