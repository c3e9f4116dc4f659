/**
 * Runs pods until enough of them have succeeded or too many have failed (k8s.io/kubernetes
 * pkg/controller/job).
 */
import { type Job, jobResource } from '../../../api/batch/v1/job.ts';
import { isFinished } from '../../../api/batch/v1/job-conditions.ts';
import type { JobStatus } from '../../../api/batch/v1/types.gen.ts';
import type { Pod } from '../../../api/core/v1/pod.ts';
import { deepCopy, deepEqual } from '../../../apimachinery/equality.ts';
import { selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { doAll, settleAll } from '../../../controller-runtime/settle-all.ts';
import { OwnedPods, type PodFailure } from '../pods/owned-pods.ts';
import type { Backoff } from './backoff-plan.ts';
import { isManagedElsewhere, isTracked, trackingFinalizer } from './job-pods-plan.ts';
import { type PodsWanted, planPods } from './job-pods-wanted-plan.ts';
import { countReleased, finished, planTracking, type Tracking } from './job-tracking-plan.ts';
import { deadlineIn, viewJob } from './job-view-plan.ts';

export function jobController(context: ControllerContext): ControllerDefinition {
  const { client, clock, events, informers } = context;
  const informer = informers.informerFor(jobResource);
  const jobs = informer.lister;
  const pods = new OwnedPods(context, {
    resource: jobResource,
    selectorOf: ({ spec }) => selectorFromLabelSelector(spec.selector),
    mayAdopt: (_, job) => !isFinished(job) && !isManagedElsewhere(job),
    finalizer: trackingFinalizer,
  });
  const ownWrites = new ObservedWrites(client, jobResource, informer);
  /** Recorded back-off of each Job; after a restart it is computed from the pods. */
  const backoffs = new Map<ObjectKey, { readonly uid: string; readonly backoff: Backoff }>();

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const job = jobs.get(key);
    if (!job || isFinished(job) || isManagedElsewhere(job)) {
      backoffs.delete(key);
      return undefined;
    }
    const settled = (await pods.settled(key)) && (await ownWrites.settled(key, clock.now()));
    if (!settled) return { requeueAfter: verifyAfter };
    const owned = await pods.claim(job);
    const now = clock.now();
    const known = backoffs.get(key);
    const view = viewJob(job, owned, known?.uid === job.metadata.uid ? known.backoff : undefined, now);
    const wanted = planPods(view, now);
    const failure = await carryOut(job, wanted);
    const tracking = planTracking(view, wanted, failure === undefined, now);
    const named = await write(job, tracking.status);
    if (!named) return undefined;
    backoffs.set(key, { uid: job.metadata.uid, backoff: view.backoff });
    if (tracking.turned) events.event(job, 'Normal', tracking.turned, `Job ${tracking.turned.toLowerCase()}`);
    await release(named, owned, tracking);
    if (failure?.error) throw failure.error;
    // The deadline of a Job that is ending is irrelevant; the events of its pods enqueue it.
    const deadline = view.end ? undefined : deadlineIn(view, now);
    const waits = [wanted.again, deadline].filter((wait) => wait !== undefined);
    return waits.length > 0 ? { requeueAfter: Math.min(...waits) } : undefined;
  }

  async function carryOut(job: Job, wanted: PodsWanted): Promise<PodFailure | undefined> {
    if (wanted.uncounted) await doAll(clock, wanted.remove.filter(isTracked), (pod) => pods.letGo(job, pod));
    return (await pods.removeAll(job, wanted.remove)) ?? (await pods.createAll(job, wanted.create));
  }

  /**
   * Removes the finalizers of the pods that the status lists, adds the pods to the counters, and finishes the
   * Job if none is left.
   */
  async function release(job: Job, owned: readonly Pod[], tracking: Tracking): Promise<void> {
    const results = await settleAll(clock, tracking.release, (pod) => pods.letGo(job, pod));
    const gone = new Set(tracking.release.filter((_, index) => results[index]?.status === 'fulfilled'));
    const kept = owned.filter((pod) => isTracked(pod) && !gone.has(pod));
    const counted = countReleased(job.status ?? {}, new Set(kept.map(({ metadata }) => metadata.uid)));
    const failed = results.find((result) => result.status === 'rejected');
    const last = failed ? undefined : finished(counted, tracking, clock.now());
    const written = await write(job, last ?? counted);
    if (written && last && tracking.end) tellEnd(written, tracking.end);
    if (failed) throw failed.reason;
  }

  function tellEnd(job: Job, { type, reason, message }: NonNullable<Tracking['end']>): void {
    if (type === 'Failed') {
      events.event(job, 'Warning', reason, message);
      return;
    }
    const { completions } = job.spec;
    if (completions !== undefined && (job.status?.succeeded ?? 0) > completions)
      events.event(
        job,
        'Warning',
        'TooManySucceededPods',
        'Too many succeeded pods running after completion count reached',
      );
    events.event(job, 'Normal', 'Completed', 'Job completed');
  }

  /** Returns the written Job, or undefined if it was deleted. */
  async function write(job: Job, status: JobStatus): Promise<Job | undefined> {
    if (deepEqual(status, job.status)) return job;
    const written = await ifPresent(client.resource(jobResource).updateStatus({ ...deepCopy(job), status }));
    if (written) ownWrites.written(objectKey(job), written, clock.now());
    return written;
  }

  return {
    name: 'job',
    workers: 8,
    watches: [watched(jobResource, (job) => [objectKey(job)]), pods.watch],
    reconcile,
  };
}
