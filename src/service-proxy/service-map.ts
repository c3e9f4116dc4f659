/**
 * The rules of a Service and its EndpointSlices on one node: for each port, the addresses that clients call
 * and the endpoints behind them. Pure, and sorted, so that the same state always gives the same value.
 */

import { clientIPTimeoutSeconds } from '../api/core/v1/service/defaults.ts';
import {
  clusterIPOf,
  externalAddresses,
  externalPort,
  isDelivered,
} from '../api/core/v1/service/external-addresses.ts';
import { acceptedClients, isServedAt } from '../api/core/v1/service/node-load-balancer.ts';
import type { Service, ServicePort } from '../api/core/v1/service/service.ts';
import type { Endpoint, EndpointSlice } from '../api/discovery/v1/endpoint-slice.ts';
import { type AddressFamily, familyOf } from '../base/address-families.ts';
import { canonicalAddress } from '../base/addresses.ts';

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
  /** Seconds that a client keeps its endpoint after its last connection; undefined if it keeps none. */
  readonly affinitySeconds?: number;
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
  readonly nodeIPv6?: string | undefined;
  /** Zone of the node; undefined if it is in none. */
  readonly zone?: string | undefined;
}

/**
 * Returns the port rules of a service on a node, in one family; none for headless services, for ExternalName
 * and for a service that has no cluster IP of the family (yet).
 */
export function serviceRules(
  service: Service,
  slices: readonly EndpointSlice[],
  { nodeName, nodeIP, nodeIPv6, zone }: ThisNode,
  /**
   * Returns whether the external address is served for this Service on the port; `port` has the form of
   * `externalPort`.
   */
  isServed: (address: string, port: string) => boolean = () => true,
  family: AddressFamily = 'IPv4',
): readonly ServicePortRules[] {
  const { spec } = service;
  const clusterIP = clusterIPOf(spec, family);
  if (clusterIP === undefined || !isDelivered(service)) return [];
  const all = externalAddresses(service).filter((address) => familyOf(address) === family);
  const clients = acceptedClients(service);
  const isBalanced = isServedAt(service, family === 'IPv4' ? nodeIP : nodeIPv6);
  const ofFamily = slices.filter(({ addressType }) => addressType === family);
  return (spec.ports ?? []).flatMap((port) => {
    const external = all.filter((address) => isServed(address, externalPort(address, port)));
    const targets = endpointsOf(port, ofFamily, { nodeName, zone });
    const every = {
      protocol: protocolOf(port),
      port: port.port,
      ...affinityOf(service),
    };
    const internal = {
      ...every,
      addresses: [clusterIP],
      endpoints: chosen(targets, spec.internalTrafficPolicy === 'Local'),
      nodePort: nodePortRules(service, port, targets),
      ...(isBalanced && {
        balancerPort: { ...fromOutside(service, port.port, targets), ...(clients && { clients }) },
      }),
    };
    if (external.length === 0) return [internal];
    const endpoints = chosen(targets, spec.externalTrafficPolicy === 'Local');
    const outer = { ...every, addresses: external, endpoints, nodePort: undefined };
    return [internal, { ...outer, ...(clients && { clients }) }];
  });
}

function nodePortRules(service: Service, port: ServicePort, targets: Targets): NodePortRules | undefined {
  if (!port.nodePort || service.spec.type === 'ClusterIP') return undefined;
  return fromOutside(service, port.nodePort, targets);
}

function fromOutside({ spec }: Service, port: number, targets: Targets): NodePortRules {
  const local = spec.externalTrafficPolicy === 'Local';
  return { port, endpoints: chosen(targets, local), masquerade: !local };
}

function affinityOf({ spec }: Service): Pick<ServicePortRules, 'affinitySeconds'> {
  if (spec.sessionAffinity !== 'ClientIP') return {};
  return { affinitySeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? clientIPTimeoutSeconds };
}

const protocolOf = (port: ServicePort) => port.protocol.toLowerCase() as 'tcp' | 'udp' | 'sctp';

interface Targets {
  readonly all: readonly EndpointAddress[];
  /** Endpoints for the zone of the node; all of them if one has no hint, or none has a hint for the zone. */
  readonly near: readonly EndpointAddress[];
}

const chosen = ({ all, near }: Targets, localOnly: boolean) =>
  localOnly ? all.filter((endpoint) => endpoint.local) : near;

/**
 * Returns the usable endpoints of one service port: the ready ones or, if there are none, those that still
 * serve while they terminate (KEP-1669).
 */
function endpointsOf(
  port: ServicePort,
  slices: readonly EndpointSlice[],
  { nodeName, zone }: ThisNode,
): Targets {
  const ready = new Map<string, EndpointAddress>();
  const zones = new Map<string, readonly string[]>();
  const terminating = new Map<string, EndpointAddress>();
  for (const { endpoint, ip, port: number } of candidates(port, slices)) {
    const address = { ip, port: number, local: endpoint.nodeName === nodeName };
    if (endpoint.conditions.ready !== false) {
      ready.set(`${ip}:${number}`, address);
      zones.set(`${ip}:${number}`, zonesOf(endpoint));
    } else if (endpoint.conditions.serving && endpoint.conditions.terminating) {
      terminating.set(`${ip}:${number}`, address);
    }
  }
  const usable = sorted(ready.size > 0 ? ready : terminating);
  return { all: usable, near: ready.size > 0 ? nearOf(ready, zones, zone) : usable };
}

const zonesOf = ({ hints }: Endpoint) => (hints?.forZones ?? []).map(({ name }) => name);

const sorted = (endpoints: ReadonlyMap<string, EndpointAddress>) =>
  [...endpoints].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, address]) => address);

/**
 * Returns the endpoints whose hints name the zone; all of them if one has no hint or none names the zone
 * (upstream: CategorizeEndpoints of pkg/proxy/topology.go).
 */
function nearOf(
  ready: ReadonlyMap<string, EndpointAddress>,
  zones: ReadonlyMap<string, readonly string[]>,
  zone: string | undefined,
): readonly EndpointAddress[] {
  const hints = [...zones.values()];
  const isHinted = hints.every(({ length }) => length > 0);
  const isServed = zone !== undefined && hints.some((names) => names.includes(zone));
  if (!isHinted || !isServed) return sorted(ready);
  return sorted(new Map([...ready].filter(([key]) => zones.get(key)?.includes(zone))));
}

function* candidates(
  port: ServicePort,
  slices: readonly EndpointSlice[],
): Generator<{ endpoint: Endpoint; ip: string; port: number }> {
  for (const slice of slices) {
    const target = slice.ports.find(
      (candidate) => candidate.name === (port.name ?? '') && candidate.protocol === port.protocol,
    );
    if (target?.port === undefined) continue;
    for (const endpoint of slice.endpoints) {
      const ip = canonicalAddress(endpoint.addresses[0] ?? '');
      if (ip !== undefined) yield { endpoint, ip, port: target.port };
    }
  }
}
