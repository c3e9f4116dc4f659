/** Plans which pods of a Job are created and which are deleted now. Pure. */
import type { Job } from '../../../api/batch/v1/job.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { type Draft, isTerminating } from '../../../apimachinery/meta.ts';
import { rankForDeletion } from '../replicas/replicas-plan.ts';
import { backoffOfIndex, remainingBackoff } from './backoff-plan.ts';
import { firstOutside, indexSetOf, union } from './index-set-plan.ts';
import { indexedPodDraft, jobPodDraft } from './job-pod-draft.ts';
import { indexOf, waitsForEnd, writtenIndexOf } from './job-pods-plan.ts';
import type { Indexes, JobView } from './job-view-plan.ts';

/** Maximum number of pods per reconcile. */
const most = 500;

export interface PodsWanted {
  readonly remove: readonly Pod[];
  /** True if the removed pods do not count as failures. */
  readonly uncounted: boolean;
  readonly create: readonly Draft<Pod>[];
  /** Milliseconds until more pods may be created. */
  readonly again: number | undefined;
}

const nothing: PodsWanted = { remove: [], uncounted: false, create: [], again: undefined };

export function planPods(view: JobView, now: number): PodsWanted {
  const { job, active, end } = view;
  if (end) return { ...nothing, remove: active };
  if (isTerminating(job)) return nothing;
  const wanted = job.spec.suspend ? 0 : wantedActive(view);
  const remove = job.spec.suspend ? active : surplus(view, wanted).slice(0, most);
  // One reconcile either deletes or creates; the next one is based on the result.
  if (remove.length > 0) return { ...nothing, remove, uncounted: true };
  const missing = wanted - active.length - (waitsForEnd(job) ? view.ending.length : 0);
  return missing > 0 ? creations(view, Math.min(missing, most), now) : nothing;
}

function wantedActive({ job, active, succeeded }: JobView): number {
  const { completions, parallelism = 1 } = job.spec;
  // One success completes a Job without a number of completions: running pods continue, and no new pods are
  // created.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

/** Returns the surplus pods. For an indexed Job they include pods without an index of their own. */
function surplus({ job, active, indexes }: JobView, wanted: number): Pod[] {
  const repeated = indexes ? withoutOwnIndex(job, active) : [];
  const more = active.length - repeated.length - wanted;
  if (more <= 0) return repeated;
  const others = new Set(active).difference(new Set(repeated));
  return [...repeated, ...rankForDeletion([...others], []).slice(0, more)];
}

function withoutOwnIndex(job: Job, active: readonly Pod[]): Pod[] {
  const byIndex = Map.groupBy(active, (pod) => indexOf(pod, job));
  return [...byIndex].flatMap(([index, pods]) => {
    if (index === undefined) return pods;
    return pods.length > 1 ? rankForDeletion(pods, []).slice(0, -1) : [];
  });
}

function creations(view: JobView, missing: number, now: number): PodsWanted {
  const { job, indexes, backoff } = view;
  if (job.spec.backoffLimitPerIndex === undefined) {
    const again = remainingBackoff(backoff, now);
    if (again > 0) return { ...nothing, again };
  }
  if (indexes) return indexedCreations(view, indexes, missing, now);
  return { ...nothing, create: Array.from({ length: missing }, () => jobPodDraft(job)) };
}

function indexedCreations(view: JobView, indexes: Indexes, missing: number, now: number): PodsWanted {
  const { job, active, ending } = view;
  const present = waitsForEnd(job) ? [...active, ...ending] : active;
  const taken = union(
    union(indexes.succeeded, indexes.failed ?? []),
    indexSetOf(present.flatMap((pod) => writtenIndexOf(pod) ?? [])),
  );
  const create: Draft<Pod>[] = [];
  let again: number | undefined;
  for (const index of firstOutside(taken, missing, job.spec.completions ?? 0)) {
    const replaced = indexes.replaced.get(index);
    const wait = replaced ? remainingBackoff(backoffOfIndex(replaced), now) : 0;
    if (wait === 0) create.push(indexedPodDraft(job, index, replaced));
    else again = Math.min(wait, again ?? wait);
  }
  return { ...nothing, create, again };
}
