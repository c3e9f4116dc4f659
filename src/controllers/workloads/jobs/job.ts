/**
 * Runs pods until enough of them have succeeded or too many have failed (k8s.io/kubernetes
 * pkg/controller/job).
 */

import { type Job, jobResource } from '../../../api/batch/v1/job.ts';
import { isFinished } from '../../../api/batch/v1/job-conditions.ts';
import type { JobStatus } from '../../../api/batch/v1/types.gen.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { type AccountRights, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy, deepEqual } from '../../../apimachinery/equality.ts';
import { selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import type { Lister } from '../../../client/informer.ts';
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

export const jobRights: AccountRights = {
  kubernetes: [
    ['get list watch update patch', 'batch', 'jobs'],
    ['update', 'batch', 'jobs/status'],
    ['update', 'batch', 'jobs/finalizers'],
    ['list watch create patch delete', 'core', 'pods'],
    writeEvents,
  ],
  // These controllers look up pods that their cache does not show for too long.
  own: [['get', 'core', 'pods']],
};

export const jobController = (context: ControllerContext): ControllerDefinition =>
  new JobController(context).definition();

class JobController {
  readonly #context: ControllerContext;
  readonly #jobs: Lister<Job>;
  readonly #pods: OwnedPods<Job>;
  readonly #ownWrites: ObservedWrites<Job>;
  /** Recorded back-off of each Job; after a restart it is computed from the pods. */
  readonly #backoffs = new Map<ObjectKey, { readonly uid: string; readonly backoff: Backoff }>();

  constructor(context: ControllerContext) {
    const { informers, client } = context;
    this.#context = context;
    const informer = informers.informerFor(jobResource);
    this.#jobs = informer.lister;
    this.#pods = new OwnedPods(context, {
      resource: jobResource,
      selectorOf: ({ spec }) => selectorFromLabelSelector(spec.selector),
      mayAdopt: (_, job) => !isFinished(job) && !isManagedElsewhere(job),
      finalizer: trackingFinalizer,
    });
    this.#ownWrites = new ObservedWrites(client, jobResource, informer);
  }

  definition(): ControllerDefinition {
    return {
      name: 'job',
      workers: 8,
      watches: [watched(jobResource, (job) => [objectKey(job)]), this.#pods.watch],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { clock, events } = this.#context;
    const job = this.#jobs.get(key);
    if (!job || isFinished(job) || isManagedElsewhere(job)) {
      this.#backoffs.delete(key);
      return undefined;
    }
    const settled = (await this.#pods.settled(key)) && (await this.#ownWrites.settled(key, clock.now()));
    if (!settled) return { requeueAfter: verifyAfter };
    const owned = await this.#pods.claim(job);
    const now = clock.now();
    const known = this.#backoffs.get(key);
    const view = viewJob(job, owned, known?.uid === job.metadata.uid ? known.backoff : undefined, now);
    const wanted = planPods(view, now);
    const failure = await this.#carryOut(job, wanted);
    const tracking = planTracking(view, wanted, failure === undefined, now);
    const named = await this.#write(job, tracking.status);
    if (!named) return undefined;
    this.#backoffs.set(key, { uid: job.metadata.uid, backoff: view.backoff });
    if (tracking.turned) events.event(job, 'Normal', tracking.turned, `Job ${tracking.turned.toLowerCase()}`);
    await this.#release(named, owned, tracking);
    if (failure?.error) throw failure.error;
    // The deadline of a Job that is ending is irrelevant; the events of its pods enqueue it.
    const deadline = view.end ? undefined : deadlineIn(view, now);
    const waits = [wanted.again, deadline].filter((wait) => wait !== undefined);
    return waits.length > 0 ? { requeueAfter: Math.min(...waits) } : undefined;
  }

  async #carryOut(job: Job, wanted: PodsWanted): Promise<PodFailure | undefined> {
    const { clock } = this.#context;
    if (wanted.uncounted)
      await doAll(clock, wanted.remove.filter(isTracked), (pod) => this.#pods.letGo(job, pod));
    return (
      (await this.#pods.removeAll(job, wanted.remove)) ?? (await this.#pods.createAll(job, wanted.create))
    );
  }

  /**
   * Removes the finalizers of the pods that the status lists, adds the pods to the counters, and finishes the
   * Job if none is left.
   */
  async #release(job: Job, owned: readonly Pod[], tracking: Tracking): Promise<void> {
    const { clock } = this.#context;
    const results = await settleAll(clock, tracking.release, (pod) => this.#pods.letGo(job, pod));
    const gone = new Set(tracking.release.filter((_, index) => results[index]?.status === 'fulfilled'));
    const kept = owned.filter((pod) => isTracked(pod) && !gone.has(pod));
    const counted = countReleased(job.status ?? {}, new Set(kept.map(({ metadata }) => metadata.uid)));
    const failed = results.find((result) => result.status === 'rejected');
    const last = failed ? undefined : finished(counted, tracking, clock.now());
    const written = await this.#write(job, last ?? counted);
    if (written && last && tracking.end) this.#emitEnd(written, tracking.end);
    if (failed) throw failed.reason;
  }

  #emitEnd(job: Job, { type, reason, message }: NonNullable<Tracking['end']>): void {
    const { events } = this.#context;
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
  async #write(job: Job, status: JobStatus): Promise<Job | undefined> {
    const { client, clock } = this.#context;
    if (deepEqual(status, job.status)) return job;
    const written = await ifPresent(client.resource(jobResource).updateStatus({ ...deepCopy(job), status }));
    if (written) this.#ownWrites.written(objectKey(job), written, clock.now());
    return written;
  }
}
