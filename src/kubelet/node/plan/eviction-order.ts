/**
 * The order in which pods are evicted when a node is short of a resource (pkg/kubelet/eviction:
 * rankMemoryPressure and others).
 */
import { initContainersOf } from '../../../api/core/v1/container/init-containers.ts';
import { isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { criticalPriority, priorityOf } from '../../../api/core/v1/pod/priority.ts';
import { containerRequests, podRequests } from '../../../api/core/v1/pod/requests.ts';
import { evictedReason, type PodEnd } from '../../pods/plan/actions.ts';
import { type Shortage, shortageText, size } from './eviction-thresholds.ts';
import { isStatic } from './static-pod.ts';

export interface EvictionCandidate {
  readonly pod: Pod;
  /** Usage of the short resource by container; undefined when it cannot be measured. */
  readonly usage: ReadonlyMap<string, number> | undefined;
}

/** Returns true for static pods and for pods with a system priority. */
export const isCritical = (pod: Pod): boolean => isStatic(pod) || priorityOf(pod) >= criticalPriority;

/**
 * Returns the pods that may be evicted: they have not ended, are not being ended, and are not critical to the
 * system.
 */
export const evictable = (pods: readonly Pod[]): readonly Pod[] =>
  pods.filter(
    (pod) =>
      !isPodTerminal(pod) &&
      pod.metadata.deletionTimestamp === undefined &&
      !pod.status?.conditions?.some(({ type, status }) => type === 'DisruptionTarget' && status === 'True') &&
      !isCritical(pod),
  );

/**
 * Sorts the candidates: first pods whose usage is not known, then pods that use more than they requested (a
 * BestEffort pod requested nothing), then the lowest priority, then the largest usage beyond the request.
 */
export function evictionOrder(
  candidates: readonly EvictionCandidate[],
  { resource }: Pick<Shortage, 'resource'>,
): readonly EvictionCandidate[] {
  const ranked = candidates.map((candidate) => {
    const used = totalOf(candidate.usage);
    const beyond = used - (podRequests(candidate.pod).get(resource) ?? 0);
    return { candidate, known: candidate.usage !== undefined, beyond, priority: priorityOf(candidate.pod) };
  });
  return ranked
    .toSorted(
      (a, b) =>
        Number(a.known) - Number(b.known) ||
        Number(b.beyond > 0) - Number(a.beyond > 0) ||
        a.priority - b.priority ||
        b.beyond - a.beyond,
    )
    .map(({ candidate }) => candidate);
}

const totalOf = (usage: EvictionCandidate['usage']) =>
  [...(usage?.values() ?? [])].reduce((sum, amount) => sum + amount, 0);

/**
 * Returns the pod's end with upstream's message. There is no grace period: the resource would be exhausted
 * before it is over.
 */
export function evictionOf({ pod, usage }: EvictionCandidate, shortage: Shortage): PodEnd {
  const { resource } = shortage;
  const containers = [...pod.spec.containers, ...initContainersOf(pod.spec)].flatMap((container) => {
    const { name, resources } = container;
    const used = usage?.get(name) ?? 0;
    const request = containerRequests(container).get(resource) ?? 0;
    if (used <= request) return [];
    return [
      `Container ${name} was using ${size(resource, used)}, request is ${resources.requests?.[resource] ?? 0}, has larger consumption of ${resource}. `,
    ];
  });
  return {
    reason: evictedReason,
    message: `${shortageText(shortage)}${containers.join('')}`.trimEnd(),
    gracePeriodSeconds: 0,
    signal: shortage.signal,
    disruption: true,
  };
}
