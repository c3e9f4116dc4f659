/** The facts of a pod that network policies depend on. Pure. */
import { isSidecar } from '../../../api/core/v1/container/init-containers.ts';
import { isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Labels } from '../../../apimachinery/labels.ts';
import { canonicalAddress } from '../../../base/addresses.ts';

export type Protocol = 'tcp' | 'udp' | 'sctp';

export interface ContainerPort {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
}

export interface PolicyPod {
  readonly uid: string;
  readonly namespace: string;
  readonly labels: Labels;
  /** Canonical addresses of both families. */
  readonly ips: readonly string[];
  /** Named ports of its containers. */
  readonly ports: readonly ContainerPort[];
}

/** The fields of a Pod that are read; nodes receive no others of pods that are not theirs. */
export type PodPart = Pick<Pod, 'metadata'> & {
  readonly spec: Pick<Pod['spec'], 'hostNetwork' | 'containers' | 'initContainers'>;
  readonly status?: Pod['status'];
};

export const protocolOf = (protocol: string | undefined): Protocol =>
  (protocol ?? 'TCP').toLowerCase() as Protocol;

/**
 * Returns the facts of a pod with the given addresses (default: those in its status). Undefined for a pod
 * without addresses of its own: one in the network of its node, one that has ended, one that has none yet.
 */
export function policyPodOf(pod: PodPart, given?: readonly string[]): PolicyPod | undefined {
  if (pod.spec.hostNetwork || (!given && isPodTerminal(pod as Pod))) return undefined;
  const ips = (given ?? addressesOf(pod)).flatMap((ip) => canonicalAddress(ip) ?? []);
  if (ips.length === 0) return undefined;
  const { uid, namespace = '', labels = {} } = pod.metadata;
  return { uid, namespace, labels, ips, ports: namedPortsOf(pod) };
}

function addressesOf({ status }: PodPart): readonly string[] {
  const all = (status?.podIPs ?? []).flatMap(({ ip }) => ip ?? []);
  return all.length > 0 || !status?.podIP ? all : [status.podIP];
}

function namedPortsOf({ spec }: PodPart): readonly ContainerPort[] {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? []).filter(isSidecar)];
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, protocol, containerPort }) =>
      name ? [{ name, protocol: protocolOf(protocol), port: containerPort }] : [],
    ),
  );
}

/** Returns true if policies see no difference between the two. */
export const samePolicyPod = (a: PolicyPod | undefined, b: PolicyPod | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);
