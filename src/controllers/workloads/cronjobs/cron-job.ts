/** Creates Jobs by a schedule, and keeps a limited number of ended Jobs. */

import { type CronJob, cronJobResource } from '../../../api/batch/v1/cron-job.ts';
import { type Job, jobResource } from '../../../api/batch/v1/job.ts';
import type { ObjectReference } from '../../../api/core/v1/types.gen.ts';
import { type AccountRights, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy, deepEqual } from '../../../apimachinery/equality.ts';
import { controllerOf, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import type { Lister } from '../../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { byController, controlledBy, controllerIndex, ownedBy } from '../../../controller-runtime/owner.ts';
import { scheduledJob } from './cron-job-draft.ts';
import { type CronJobPlan, planCronJob, withActive, withStarted } from './cron-job-plan.ts';

export const cronJobRights: AccountRights = {
  kubernetes: [
    ['get list watch update', 'batch', 'cronjobs'],
    ['get list watch create update patch delete', 'batch', 'jobs'],
    ['update', 'batch', 'cronjobs/status'],
    ['update', 'batch', 'cronjobs/finalizers'],
    ['list watch delete', 'core', 'pods'],
    writeEvents,
  ],
};

export const cronJobController = (context: ControllerContext): ControllerDefinition =>
  new CronJobController(context).definition();

class CronJobController {
  readonly #context: ControllerContext;
  readonly #cronJobs: Lister<CronJob>;
  readonly #jobs: Lister<Job>;
  readonly #ownWrites: ObservedWrites<CronJob>;
  readonly #jobWrites: ObservedWrites<Job>;
  /**
   * Last seen schedule of each CronJob, and the time of its change: due times of a new schedule before that
   * are ignored.
   */
  readonly #schedules = new Map<ObjectKey, { readonly id: string; readonly since: number | undefined }>();
  /** Last missed time of each CronJob that was reported, with the uid. */
  readonly #missed = new Map<ObjectKey, readonly [uid: string, at: number]>();

  constructor(context: ControllerContext) {
    const { informers, client } = context;
    this.#context = context;
    const informer = informers.informerFor(cronJobResource);
    this.#cronJobs = informer.lister;
    const jobInformer = informers.informerFor(jobResource);
    this.#jobs = jobInformer.lister;
    jobInformer.addIndex(controllerIndex, byController);
    this.#ownWrites = new ObservedWrites(client, cronJobResource, informer);
    this.#jobWrites = new ObservedWrites(client, jobResource, jobInformer);
  }

  definition(): ControllerDefinition {
    return {
      name: 'cronjob',
      watches: [
        watched(cronJobResource, (cronJob) => [objectKey(cronJob)]),
        watched(jobResource, ownedBy(cronJobResource.kind)),
      ],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { clock, events } = this.#context;
    const cronJob = this.#cronJobs.get(key);
    if (!cronJob) {
      this.#schedules.delete(key);
      this.#missed.delete(key);
      return undefined;
    }
    const now = clock.now();
    const since = this.#sinceOf(key, cronJob, now);
    const settled = (await this.#ownWrites.settled(key, now)) && (await this.#jobWrites.settled(key, now));
    if (!settled) return { requeueAfter: verifyAfter };
    const own = this.#jobs.byIndex(controllerIndex, controlledBy(cronJob));
    const [uid, at] = this.#missed.get(key) ?? [];
    const reportedMissed = uid === cronJob.metadata.uid ? at : undefined;
    const missing = await this.#missingOf(cronJob, own);
    const plan = planCronJob(cronJob, { jobs: own, missing, since, reportedMissed, now });
    if (plan.missed !== undefined) this.#missed.set(key, [cronJob.metadata.uid, plan.missed]);
    const failures: unknown[] = [];
    for (const job of plan.remove) await this.#remove(cronJob, job).catch((error) => failures.push(error));
    const status = await this.#start(cronJob, plan).catch((error: unknown) => {
      failures.push(error);
      return plan.status;
    });
    await this.#write(cronJob, status);
    for (const { type, reason, message } of plan.news) events.event(cronJob, type, reason, message);
    if (failures.length > 0) throw failures[0];
    return plan.again === undefined ? undefined : { requeueAfter: plan.again };
  }

  #sinceOf(key: ObjectKey, { metadata, spec }: CronJob, now: number): number | undefined {
    const id = JSON.stringify([metadata.uid, spec.schedule, spec.timeZone]);
    const seen = this.#schedules.get(key);
    if (seen?.id === id) return seen.since;
    const isChange = seen?.id.startsWith(JSON.stringify([metadata.uid]).slice(0, -1)) ?? false;
    const since = isChange ? now : undefined;
    this.#schedules.set(key, { id, since });
    return since;
  }

  /** Returns the uids of the listed Jobs that the server does not have either. */
  async #missingOf(cronJob: CronJob, own: readonly Job[]): Promise<ReadonlySet<string>> {
    const known = new Set(own.map(({ metadata }) => metadata.uid));
    const missing = new Set<string>();
    for (const reference of cronJob.status?.active ?? []) {
      const { uid = '' } = reference;
      if (!known.has(uid) && !(await this.#listed(cronJob, reference))) missing.add(uid);
    }
    return missing;
  }

  /**
   * Returns the referenced Job if its uid matches and the CronJob owns it: the list may be written by others
   * too.
   */
  async #listed({ metadata }: CronJob, { name = '', uid }: ObjectReference): Promise<Job | undefined> {
    const { client } = this.#context;
    const job = await ifPresent(client.resource(jobResource).get(name, metadata.namespace));
    return job && job.metadata.uid === uid && controllerOf(job)?.uid === metadata.uid ? job : undefined;
  }

  /** Creates the due Job, if any. Returns the status with it. */
  async #start(cronJob: CronJob, plan: CronJobPlan): Promise<CronJobPlan['status']> {
    if (!plan.start) return plan.status;
    const { at, replace } = plan.start;
    for (const reference of replace) {
      const job = await this.#listed(cronJob, reference);
      if (job) await this.#remove(cronJob, job);
    }
    const replaced = new Set(replace);
    const left = withActive(
      plan.status,
      (plan.status.active ?? []).filter((one) => !replaced.has(one)),
    );
    const job = await this.#create(cronJob, at);
    return job ? withStarted(left, job, at) : left;
  }

  /**
   * Creates the Job, or returns a Job that was created before and is not in the status yet. Returns undefined
   * if its name is taken by an object of another owner.
   */
  async #create(cronJob: CronJob, at: number): Promise<Job | undefined> {
    const { client, clock, events } = this.#context;
    const draft = scheduledJob(cronJob, at);
    try {
      const job = await client.resource(jobResource).create(draft);
      this.#jobWrites.written(objectKey(cronJob), job, clock.now());
      events.event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
      return job;
    } catch (error) {
      if (isAlreadyExists(error)) {
        const job = await client
          .resource(jobResource)
          .get(draft.metadata.name ?? '', draft.metadata.namespace);
        return controllerOf(job)?.uid === cronJob.metadata.uid ? job : undefined;
      }
      if (!isNamespaceTerminating(error))
        events.event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${errorMessage(error)}`);
      throw error;
    }
  }

  async #remove(cronJob: CronJob, job: Job): Promise<void> {
    const { client, clock, events } = this.#context;
    const { name, namespace, uid } = job.metadata;
    const options = { propagationPolicy: 'Background' as const, preconditions: { uid } };
    try {
      await client.resource(jobResource).delete(name, namespace, options);
      this.#jobWrites.removed(objectKey(cronJob), job, clock.now());
      events.event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
    } catch (error) {
      if (isNotFound(error)) return;
      events.event(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${errorMessage(error)}`);
      throw error;
    }
  }

  async #write(cronJob: CronJob, status: CronJobPlan['status']): Promise<void> {
    const { client, clock } = this.#context;
    if (deepEqual(status, cronJob.status ?? {})) return;
    const next = { ...deepCopy(cronJob), status };
    const written = await ifPresent(client.resource(cronJobResource).updateStatus(next));
    if (written) this.#ownWrites.written(objectKey(cronJob), written, clock.now());
  }
}
