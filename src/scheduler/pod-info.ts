/** What a pod asks for and what nodes have, as numbers. Pure. */
import type { Node } from '../api/core/v1/node.ts';
import type { Pod } from '../api/core/v1/pod.ts';
import { amounts, podRequests } from '../api/core/v1/pod-requests.ts';
import { addressKind, canonicalAddress } from '../base/addresses.ts';
import type { HostPort, PodInfo, Resources } from './framework.ts';

/** What a container that names no request counts with in scores (upstream's DefaultMilliCPURequest and so on). */
const typicalRequest = { cpu: 100, memory: 200 * 1024 * 1024 } as const;

function hostPorts(pod: Pod): HostPort[] {
  const { hostNetwork } = pod.spec;
  return pod.spec.containers.flatMap((container) =>
    (container.ports ?? []).flatMap(({ hostPort, containerPort, hostIP, protocol }) => {
      const port = hostPort || (hostNetwork && containerPort);
      return port ? [{ ip: addressOf(hostIP), protocol, port }] : [];
    }),
  );
}

/** One text for one address, and none for all of them, however that is spelled. */
const addressOf = (hostIP: string | undefined) =>
  hostIP && addressKind(hostIP) !== 'unspecified' ? canonicalAddress(hostIP) : undefined;

export function podInfo(pod: Pod): PodInfo {
  const requests = podRequests(pod);
  const weighed = new Map(requests);
  for (const [name, typical] of Object.entries(typicalRequest))
    if (!weighed.get(name)) weighed.set(name, typical * pod.spec.containers.length);
  return { pod, requests, weighed, hostPorts: hostPorts(pod) };
}

export const allocatable = (node: Node): Resources =>
  amounts(node.status?.allocatable ?? node.status?.capacity);
