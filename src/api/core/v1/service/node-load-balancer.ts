/**
 * Services of type LoadBalancer that nodes serve at their own addresses: the controller writes the addresses
 * of nodes into the status with the mode `Proxy`, and the proxy of a node that finds its address there
 * delivers the Service's ports. Pure.
 */
import { isTerminating } from '../../../../apimachinery/meta.ts';
import type { Service, ServicePort } from '../types.gen.ts';
import { isDelivered } from './external-addresses.ts';

/** Class of the load balancer that every cluster has. */
export const nodeLoadBalancerClass = 'minik8s.io/nodes';

type Ingress = NonNullable<NonNullable<Service['status']>['loadBalancer']['ingress']>[number];

/** Returns true for an address at which a proxy answers, as nodes do: another controller assigns others. */
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
