/**
 * Deletes a finished Job, and its pods first, after its ttlSecondsAfterFinished (k8s.io/kubernetes
 * pkg/controller/ttlafterfinished).
 */
import { type Job, jobResource } from '../../../api/batch/v1/job.ts';
import { finishedCondition } from '../../../api/batch/v1/job-conditions.ts';
import { type AccountRights, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { isTerminating, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';

export const ttlAfterFinishedRights: AccountRights = {
  kubernetes: [['get list watch delete', 'batch', 'jobs'], writeEvents],
};

export function ttlAfterFinished({ client, clock, informers }: ControllerContext): ControllerDefinition {
  const jobs = informers.informerFor(jobResource).lister;

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const cached = jobs.get(key);
    if (!cached) return undefined;
    const wait = expiresIn(cached, clock.now());
    if (wait !== 0) return again(wait);
    // The cache may not show yet that the time to live was extended.
    const { name, namespace } = cached.metadata;
    const live = await ifPresent(client.resource(jobResource).get(name, namespace));
    if (!live) return undefined;
    const left = expiresIn(live, clock.now());
    if (left !== 0) return again(left);
    const { uid, resourceVersion } = live.metadata;
    const options = { propagationPolicy: 'Foreground', preconditions: { uid, resourceVersion } } as const;
    await ifPresent(client.resource(jobResource).delete(name, namespace, options));
    return undefined;
  }

  return {
    name: 'ttl-after-finished',
    watches: [watched(jobResource, (job) => (expiresIn(job, 0) === undefined ? [] : [objectKey(job)]))],
    reconcile,
  };
}

const again = (wait: number | undefined) => (wait === undefined ? undefined : { requeueAfter: wait });

/**
 * Returns the milliseconds until the Job expires, or undefined if it does not, has not ended or is
 * terminating.
 */
function expiresIn(job: Job, now: number): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec;
  const ended = Date.parse(finishedCondition(job)?.lastTransitionTime ?? '');
  if (ttlSecondsAfterFinished === undefined || isTerminating(job) || Number.isNaN(ended)) return undefined;
  return Math.max(0, ended + ttlSecondsAfterFinished * 1000 - now);
}
