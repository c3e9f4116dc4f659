/**
 * Services of type LoadBalancer that nodes serve at their own addresses: the controller writes the addresses
 * of nodes into the status with the mode `Proxy`, and the proxy of a node that finds its address there
 * delivers the Service's ports. Pure.
 */
import { isTerminating } from '../../../../apimachinery/meta.ts';
import { familyOf } from '../../../../base/address-families.ts';
import type { Service, ServicePort } from '../types.gen.ts';
import { isDelivered, servedFamilies } from './external-addresses.ts';

/** Class of the load balancer that every cluster has. */
export const nodeLoadBalancerClass = 'minik8s.io/nodes';
/** Class of the addresses of the pool (address-pool.ts). */
export const poolLoadBalancerClass = 'minik8s.io/pool';

/** Reasons of the events that nodes report about Services of type LoadBalancer. */
export const balancerReasons: ReadonlySet<string> = new Set([
  'AddressAnnounced',
  'AddressInUse',
  'HealthPortNotServed',
  'PortHeldByProcess',
]);

type Ingress = NonNullable<NonNullable<Service['status']>['loadBalancer']['ingress']>[number];

/**
 * Returns true for an address with the mode Proxy, as those of nodes have. Others are of another controller.
 */
const isProxied = ({ ip, ipMode }: Ingress): boolean => Boolean(ip) && ipMode === 'Proxy';

/**
 * Returns true for a Service that nodes serve: its class is the cluster's own or, without a class, no other
 * controller has assigned an address.
 */
export function isNodeLoadBalancer(service: Service): boolean {
  const { spec, status } = service;
  if (spec.type !== 'LoadBalancer' || !isDelivered(service) || isTerminating(service)) return false;
  const { loadBalancerClass } = spec;
  if (loadBalancerClass !== undefined) return loadBalancerClass === nodeLoadBalancerClass;
  return (status?.loadBalancer.ingress ?? []).every(isProxied);
}

/** Returns which of the cluster's load balancers serves a Service of type LoadBalancer, by its class. */
export function balancerOfClass({ spec }: Service, hasPool: boolean): 'nodes' | 'pool' | undefined {
  const { type, loadBalancerClass } = spec;
  if (type !== 'LoadBalancer') return undefined;
  if (loadBalancerClass === undefined) return hasPool ? 'pool' : 'nodes';
  if (loadBalancerClass === poolLoadBalancerClass) return 'pool';
  return loadBalancerClass === nodeLoadBalancerClass ? 'nodes' : undefined;
}

/**
 * Returns true for a Service that gets an address of the pool. A Service without a class is left alone if
 * another controller has assigned an address; `isOwn` is true for an address of the pool.
 */
export function isPoolLoadBalancer(
  service: Service,
  hasPool: boolean,
  isOwn: (address: string) => boolean,
): boolean {
  if (!isDelivered(service) || isTerminating(service)) return false;
  if (balancerOfClass(service, hasPool) !== 'pool') return false;
  if (service.spec.loadBalancerClass !== undefined) return true;
  const all = service.status?.loadBalancer.ingress ?? [];
  return all.every((one) => isProxied(one) || (one.ip !== undefined && isOwn(one.ip)));
}

/** Annotations with which other load balancers let users choose an address, and which mean the same here. */
const addressAnnotations = [
  'metallb.io/loadBalancerIPs',
  'metallb.universe.tf/loadBalancerIPs',
  'kube-vip.io/loadbalancerIPs',
  'lbipam.cilium.io/ips',
  'io.cilium/lb-ipam-ips',
];

/**
 * Returns the addresses that the Service requests: the one of its spec, or the first one of each of its
 * families in the annotations.
 */
export function requestedAddresses({ metadata, spec }: Service): readonly string[] {
  if (spec.loadBalancerIP) return [spec.loadBalancerIP];
  const values = addressAnnotations.flatMap((name) => metadata.annotations?.[name]?.split(',') ?? []);
  const given = values.map((value) => value.trim());
  return servedFamilies(spec).flatMap((family) => given.find((value) => familyOf(value) === family) ?? []);
}

/** Returns true if the node with the address is one at which the Service is served. */
export const isServedAt = (service: Service, nodeIP: string | undefined): boolean =>
  nodeIP !== undefined &&
  isNodeLoadBalancer(service) &&
  (service.status?.loadBalancer.ingress ?? []).some(({ ip }) => ip === nodeIP);

/** Returns the text of a port of all nodes, such as `TCP 80`. */
export const nodePortText = ({ protocol, port }: Pick<ServicePort, 'protocol' | 'port'>): string =>
  `${protocol} ${port}`;

const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';

/**
 * Returns the ranges of the clients that a load balancer accepts; undefined if it accepts all. The annotation
 * counts only without the list (upstream: GetLoadBalancerSourceRanges).
 */
export function acceptedClients({ metadata, spec }: Service): readonly string[] | undefined {
  if (spec.type !== 'LoadBalancer') return undefined;
  const annotation = metadata.annotations?.[sourceRangesAnnotation]?.trim() ?? '';
  const given = spec.loadBalancerSourceRanges ?? [];
  const ranges = given.length > 0 || annotation === '' ? given : annotation.split(',');
  return ranges.length === 0 ? undefined : ranges.map((range) => range.trim());
}
