/**
 * Plans which pods a DaemonSet creates and deletes on its nodes, and its status (k8s.io/kubernetes
 * pkg/controller/daemon). Pure.
 */
import type { DaemonSet } from '../../../api/apps/v1/daemon-set.ts';
import {
  isPodTerminal,
  podAvailable,
  podAvailableIn,
  podReady,
} from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { revisionLabel } from '../revisions/revisions-plan.ts';
import { allowsSurge } from './daemon-rollout-plan.ts';
import type { DaemonChanges, Daemons } from './daemons-plan.ts';

export type DaemonSetStatus = NonNullable<DaemonSet['status']>;

export interface EndedPod {
  readonly pod: Pod;
  readonly node: string;
}

export interface DaemonPlan extends DaemonChanges {
  /** Ended pods among those to be removed. */
  readonly failed: readonly EndedPod[];
  readonly succeeded: readonly EndedPod[];
  /** Milliseconds until a failed pod may be replaced. */
  readonly retryIn: number | undefined;
}

/**
 * Plans the pods. `waitFor` returns the milliseconds that a failed pod of a node must stay, which limits the
 * cost of a pod that always fails.
 */
export function planDaemons(daemons: Daemons, waitFor: (node: string) => number): DaemonPlan {
  const create: string[] = [];
  const remove: Pod[] = [];
  const ended: EndedPod[] = [];
  for (const [node, { run, stay }] of daemons.fits) {
    const living = (daemons.pods.get(node) ?? []).filter((pod) => !isTerminating(pod));
    if (run && needsPod(daemons, node, living, waitFor)) create.push(node);
    const running = living.filter((pod) => !isPodTerminal(pod));
    remove.push(...(stay ? tooMany(daemons, running) : living));
    if (stay) ended.push(...living.filter(isPodTerminal).map((pod) => ({ pod, node })));
  }
  const succeeded = ended.filter(({ pod }) => pod.status?.phase === 'Succeeded');
  const waiting = ended
    .filter(({ pod }) => hasFailed(pod))
    .map((one) => ({ ...one, wait: waitFor(one.node) }));
  const failed = waiting.filter(({ wait }) => wait <= 0);
  const waits = waiting.map(({ wait }) => wait).filter((wait) => wait > 0);
  return {
    create,
    remove: [...remove, ...[...failed, ...succeeded].map(({ pod }) => pod), ...lost(daemons)],
    failed,
    succeeded,
    retryIn: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

const hasFailed = ({ status }: Pod) => status?.phase === 'Failed';

/**
 * Returns true if the node needs a pod. A terminating pod delays its replacement unless a node may have two
 * pods. A failed pod is never replaced before the end of its back-off.
 */
function needsPod(
  { set, pods }: Daemons,
  node: string,
  living: readonly Pod[],
  waitFor: (node: string) => number,
): boolean {
  if (!allowsSurge(set)) return !pods.has(node);
  return living.every(isPodTerminal) && (!living.some(hasFailed) || waitFor(node) <= 0);
}

/** Returns the surplus pods among the running pods of a node. */
const tooMany = (daemons: Daemons, running: readonly Pod[]) =>
  allowsSurge(daemons.set) ? tooManyInSurge(daemons, running) : eldestFirst(running).slice(1);

/**
 * Returns the surplus pods during a surge. A node may have two pods: an old one that is ready, and a new one
 * that is not yet available.
 */
function tooManyInSurge({ set, hash, now }: Daemons, running: readonly Pod[]): readonly Pod[] {
  if (running.length <= 1) return [];
  const isNew = (pod: Pod) => pod.metadata.labels?.[revisionLabel] === hash;
  const eldest = eldestFirst(running);
  const [newest, ...moreNew] = eldest.filter(isNew);
  const [old, ...moreOld] = eldest.filter((pod) => !isNew(pod));
  const excess = [...moreNew, ...moreOld];
  if (!newest || !old) return excess;
  const replaced = !podReady(old) || podAvailable(newest, set.spec.minReadySeconds ?? 0, now);
  return replaced ? [...excess, old] : excess;
}

/** Returns unbound pods for nodes that are gone; no other controller removes them. */
const lost = ({ fits, pods }: Daemons): Pod[] =>
  [...pods]
    .filter(([node]) => !fits.has(node))
    .flatMap(([, there]) => there.filter((pod) => !pod.spec.nodeName && !isTerminating(pod)));

/** Sorts bound pods first, then by age. */
function eldestFirst(pods: readonly Pod[]): Pod[] {
  const order = ({ spec, metadata }: Pod) =>
    `${spec.nodeName ? 0 : 1} ${metadata.creationTimestamp} ${metadata.name}`;
  return [...pods].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

export interface StatusPlan {
  readonly status: DaemonSetStatus;
  readonly changed: boolean;
  /** Milliseconds until a ready pod becomes available by the passing of time alone. */
  readonly nextAvailableIn: number | undefined;
}

/** Plans the status. The eldest pod of each node counts. */
export function planStatus({ set, hash, fits, pods, now }: Daemons): StatusPlan {
  const nodes = [...fits].map(([node, { run }]) => ({ run, pod: eldestFirst(pods.get(node) ?? [])[0] }));
  const wanted = nodes.filter(({ run }) => run);
  const there = wanted.flatMap(({ pod }) => pod ?? []);
  const availableIn = (pod: Pod) => podAvailableIn(pod, set.spec.minReadySeconds ?? 0, now);
  const available = there.filter((pod) => availableIn(pod) === 0).length;
  // During a surge the new pod of a node does not count yet; the old one is deleted when the new one is
  // available.
  const later = [...pods.values()].flat().flatMap((pod) => availableIn(pod) || []);
  const status: DaemonSetStatus = {
    ...set.status,
    currentNumberScheduled: there.length,
    numberMisscheduled: nodes.filter(({ run, pod }) => pod && !run).length,
    desiredNumberScheduled: wanted.length,
    numberReady: there.filter(podReady).length,
    observedGeneration: set.metadata.generation,
    updatedNumberScheduled:
      there.filter(({ metadata }) => metadata.labels?.[revisionLabel] === hash).length || undefined,
    numberAvailable: available || undefined,
    numberUnavailable: wanted.length - available || undefined,
  };
  return {
    status,
    changed: !deepEqual(status, set.status),
    nextAvailableIn: later.length > 0 ? Math.min(...later) : undefined,
  };
}
