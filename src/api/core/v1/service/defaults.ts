/**
 * Defaults of services, and the fields that a service keeps in an update (upstream: core/v1/defaults.go and
 * registry/core/service). The API server's allocators assign cluster IPs, their families and node ports.
 */

import { deepEqual } from '../../../../apimachinery/equality.ts';
import type { Service, ServicePort } from '../types.gen.ts';

/** Default of `sessionAffinityConfig.clientIP.timeoutSeconds`, in seconds. */
export const clientIPTimeoutSeconds = 10800;

/**
 * Specification of a Service. A LoadBalancer with `allocateLoadBalancerNodePorts: false` gets no node ports;
 * the field defaults to true.
 */
type Spec = Service['spec'] & { allocateLoadBalancerNodePorts?: boolean };

/** Returns true for a Service without any cluster IP: a DNS name that is an alias of another. */
const isExternalName = (spec: Spec) => spec.type === 'ExternalName';
export const isHeadless = (spec: Spec) => spec.clusterIP === 'None';
export const hasNodePorts = (spec: Spec) => spec.type === 'NodePort' || spec.type === 'LoadBalancer';

/**
 * Returns true if ports without a node port get one; some load balancers reach the pods without node ports.
 */
export const getsNodePorts = (spec: Spec) =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

/**
 * Returns true if the Service is reachable from outside the cluster, so that the node that receives the
 * traffic matters.
 */
export const isExternallyAccessible = (spec: Spec) =>
  hasNodePorts(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);

/** Returns true if a load balancer must check which nodes have pods of the Service. */
export const needsHealthCheck = (spec: Spec) =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';

export function setServiceDefaults({ spec }: { spec: Spec }): void {
  for (const port of spec.ports ?? []) if (!port.targetPort) port.targetPort = port.port;
  if (spec.sessionAffinity === 'ClientIP') {
    const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? clientIPTimeoutSeconds;
    spec.sessionAffinityConfig = { ...spec.sessionAffinityConfig, clientIP: { timeoutSeconds } };
  } else delete spec.sessionAffinityConfig;
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  if (isExternalName(spec)) return;
  spec.internalTrafficPolicy ??= 'Cluster';
}

/** Sets `clusterIP` from `clusterIPs`, or the other way round, where only one of them is set. */
export function setBothClusterIPs({ spec }: { spec: Spec }): void {
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
  if (!spec.clusterIP && spec.clusterIPs?.[0]) spec.clusterIP = spec.clusterIPs[0];
}

/**
 * Keeps allocated values that an update omits, since clients may omit them. Values that only applied to
 * the old type, and were not changed, are removed with that type; so is the status of a load balancer.
 * Upstream keeps `loadBalancerSourceRanges`, which protects: an update that leaves the type has to remove it.
 */
export function keepAllocations(service: Service, { spec: old }: Service): void {
  const { spec } = service;
  keepClusterIP(spec, old);
  if (!isExternalName(spec)) setBothClusterIPs(service);
  keepNodePorts(spec, old);
  keepHealthCheckPort(spec, old);
  if (isExternalName(old) && !isExternalName(spec) && spec.externalName === old.externalName)
    delete spec.externalName;
  if (!isExternallyAccessible(spec) && spec.externalTrafficPolicy === old.externalTrafficPolicy)
    delete spec.externalTrafficPolicy;
  if (spec.type === 'LoadBalancer') return;
  if (old.type === 'LoadBalancer') removeLoadBalancerFields(spec, old);
  if (service.status) service.status.loadBalancer = {};
}

function removeLoadBalancerFields(spec: Spec, old: Spec): void {
  for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const)
    if (spec[field] === old[field]) delete spec[field];
}

function keepHealthCheckPort(spec: Spec, old: Spec): void {
  if (!needsHealthCheck(old) || !old.healthCheckNodePort) return;
  if (needsHealthCheck(spec)) spec.healthCheckNodePort ||= old.healthCheckNodePort;
  else if (spec.healthCheckNodePort === old.healthCheckNodePort) delete spec.healthCheckNodePort;
}

function keepClusterIP(spec: Spec, old: Spec): void {
  if (isExternalName(old)) return;
  if (isExternalName(spec)) {
    removeClusterFields(spec, old);
    return;
  }
  spec.clusterIP ||= spec.clusterIPs?.[0] || old.clusterIP;
  const changed = spec.clusterIP !== old.clusterIP;
  if (!changed && !spec.clusterIPs?.length) spec.clusterIPs = old.clusterIPs;
  // A change of one of the two fields also changes the other.
  if (changed && spec.clusterIP && deepEqual(spec.clusterIPs, old.clusterIPs))
    spec.clusterIPs = [spec.clusterIP];
}

/** Removes unchanged values that a Service without an IP of the cluster does not have. */
function removeClusterFields(spec: Spec, old: Spec): void {
  if (spec.clusterIP === old.clusterIP && deepEqual(spec.clusterIPs, old.clusterIPs)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  for (const field of ['internalTrafficPolicy', 'ipFamilies', 'ipFamilyPolicy'] as const)
    if (deepEqual(spec[field], old[field])) delete spec[field];
}

/** Returns the identity of a port within a Service. */
const portOf = ({ port, protocol }: ServicePort) => `${protocol}/${port}`;

function keepNodePorts(spec: Spec, old: Spec): void {
  if (!hasNodePorts(old)) return;
  const [ports, oldPorts] = [spec.ports ?? [], old.ports ?? []];
  if (!hasNodePorts(spec)) {
    removeNodePorts(ports, oldPorts);
    return;
  }
  const used = new Set(ports.map((port) => port.nodePort));
  const given = new Map(oldPorts.toReversed().map((port) => [portOf(port), port.nodePort]));
  for (const port of ports) {
    const before = given.get(portOf(port));
    if (port.nodePort || !before || used.has(before)) continue;
    port.nodePort = before;
    used.add(before);
  }
}

/** Removes the node ports, unless the update has one that the Service did not have. */
function removeNodePorts(ports: readonly ServicePort[], old: readonly ServicePort[]): void {
  const had = new Set(old.map((port) => port.nodePort));
  if (ports.every(({ nodePort }) => !nodePort || had.has(nodePort)))
    for (const port of ports) delete port.nodePort;
}
