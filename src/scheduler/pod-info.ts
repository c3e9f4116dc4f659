/** Converts requests of pods and resources of nodes to numbers and terms. Pure. */

import type { Node } from '../api/core/v1/node/node.ts';
import { claimNamesOf } from '../api/core/v1/pod/claims.ts';
import { hostPorts } from '../api/core/v1/pod/host-ports.ts';
import type { Pod } from '../api/core/v1/pod/pod.ts';
import { priorityOf } from '../api/core/v1/pod/priority.ts';
import { amounts, podRequests } from '../api/core/v1/pod/requests.ts';
import { affinityTerm, type WeightedTerm } from './affinity-term.ts';
import type { PodInfo, Resources } from './node-info.ts';

/**
 * Amounts that a container without requests counts with in scores (upstream's DefaultMilliCPURequest and so
 * on).
 */
const typicalRequest = { cpu: 100, memory: 200 * 1024 * 1024 } as const;

const known = new WeakMap<Pod, PodInfo>();

/** Returns the info of a pod, which is computed once for each version of the pod. */
export function podInfo(pod: Pod): PodInfo {
  const found = known.get(pod);
  if (found) return found;
  const info = readPod(pod);
  known.set(pod, info);
  return info;
}

function readPod(pod: Pod): PodInfo {
  const { metadata, spec } = pod;
  const { namespace = '' } = metadata;
  const requests = podRequests(pod);
  const weighed = new Map(requests);
  for (const [name, typical] of Object.entries(typicalRequest))
    if (!weighed.get(name)) weighed.set(name, typical * spec.containers.length);
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const required = (of: typeof podAffinity | typeof podAntiAffinity) =>
    (of?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => affinityTerm(term, namespace));
  const preferred = (of: typeof podAffinity | typeof podAntiAffinity, sign: 1 | -1): WeightedTerm[] =>
    (of?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ weight, podAffinityTerm }) => ({
      term: affinityTerm(podAffinityTerm, namespace),
      weight: sign * weight,
    }));
  return {
    pod,
    priority: priorityOf(pod),
    requests,
    weighed,
    hostPorts: hostPorts(pod),
    affinity: required(podAffinity),
    antiAffinity: required(podAntiAffinity),
    preferred: [...preferred(podAffinity, 1), ...preferred(podAntiAffinity, -1)],
    claims: claimNamesOf(pod),
  };
}

export const allocatable = (node: Node): Resources =>
  amounts(node.status?.allocatable ?? node.status?.capacity);
