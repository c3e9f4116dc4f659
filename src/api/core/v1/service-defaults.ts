/**
 * Defaults of services, and what a service keeps when it is updated (upstream: core/v1/defaults.go and
 * registry/core/service). Cluster IPs and node ports are given by the API server's allocators, not here.
 */
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { Service, ServicePort } from './service.ts';

const clientIPTimeoutSeconds = 10800;

/** Kept and defaulted; every LoadBalancer has node ports here, and is warned when it asks for none. */
type Spec = Service['spec'] & { allocateLoadBalancerNodePorts?: boolean };

/** A Service without any cluster IP: a DNS name that points elsewhere. */
const isExternalName = (spec: Spec) => spec.type === 'ExternalName';
export const isHeadless = (spec: Spec) => spec.clusterIP === 'None';
export const hasNodePorts = (spec: Spec) => spec.type === 'NodePort' || spec.type === 'LoadBalancer';

/** Whether its ports get one where they name none; some load balancers reach the pods without. */
export const getsNodePorts = (spec: Spec) =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

/** Reached from outside the cluster, so that it matters which node takes the traffic. */
export const isExternallyAccessible = (spec: Spec) =>
  hasNodePorts(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);

export function setServiceDefaults({ spec }: { spec: Spec }): void {
  for (const port of spec.ports ?? []) {
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '')
      port.targetPort = port.port;
  }
  if (spec.sessionAffinity === 'ClientIP') {
    const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? clientIPTimeoutSeconds;
    spec.sessionAffinityConfig = { ...spec.sessionAffinityConfig, clientIP: { timeoutSeconds } };
  } else delete spec.sessionAffinityConfig;
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  if (isExternalName(spec)) return;
  spec.internalTrafficPolicy ??= 'Cluster';
  spec.ipFamilies ??= ['IPv4'];
  spec.ipFamilyPolicy ??= 'SingleStack';
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
  if (!spec.clusterIP && spec.clusterIPs?.[0]) spec.clusterIP = spec.clusterIPs[0];
}

/**
 * A client that replaces a service need not know what the server allocated: what it leaves out stays. What only
 * made sense for the old type, and was not touched, goes with that type.
 */
export function keepAllocations({ spec }: { spec: Spec }, { spec: old }: { spec: Spec }): void {
  keepClusterIP(spec, old);
  keepNodePorts(spec, old);
  if (isExternalName(old) && !isExternalName(spec) && spec.externalName === old.externalName)
    delete spec.externalName;
  if (!isExternallyAccessible(spec) && spec.externalTrafficPolicy === old.externalTrafficPolicy)
    delete spec.externalTrafficPolicy;
  if (
    spec.type !== 'LoadBalancer' &&
    spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts
  )
    delete spec.allocateLoadBalancerNodePorts;
}

function keepClusterIP(spec: Spec, old: Spec): void {
  if (isExternalName(old)) return;
  if (!isExternalName(spec)) {
    spec.clusterIP ||= old.clusterIP;
    const changed = spec.clusterIP !== old.clusterIP;
    if (!changed && !spec.clusterIPs?.length) spec.clusterIPs = old.clusterIPs;
    // Changing one of the two fields changes the other too.
    if (changed && spec.clusterIP && deepEqual(spec.clusterIPs, old.clusterIPs))
      spec.clusterIPs = [spec.clusterIP];
    return;
  }
  if (spec.clusterIP === old.clusterIP && deepEqual(spec.clusterIPs, old.clusterIPs)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  for (const field of ['internalTrafficPolicy', 'ipFamilies', 'ipFamilyPolicy'] as const)
    if (deepEqual(spec[field], old[field])) delete spec[field];
}

/** What one Service has once. */
const portOf = ({ port, protocol }: ServicePort) => `${protocol}/${port}`;

function keepNodePorts(spec: Spec, old: Spec): void {
  if (!hasNodePorts(old)) return;
  const ports = spec.ports ?? [];
  if (!hasNodePorts(spec)) {
    const numbers = (list: readonly ServicePort[]) => list.map((port) => port.nodePort ?? 0).sort();
    if (deepEqual(numbers(ports), numbers(old.ports ?? []))) for (const port of ports) delete port.nodePort;
    return;
  }
  const used = new Set(ports.map((port) => port.nodePort));
  const given = new Map((old.ports ?? []).toReversed().map((port) => [portOf(port), port.nodePort]));
  for (const port of ports) {
    const before = given.get(portOf(port));
    if (port.nodePort || !before || used.has(before)) continue;
    port.nodePort = before;
    used.add(before);
  }
}
