/**
 * Removes the tracking finalizer from pods that no Job will count: pods of a deleted or finished Job, and
 * pods without an owner. They could not be deleted otherwise.
 */
import { type Job, jobResource } from '../../../api/batch/v1/job.ts';
import { isFinished } from '../../../api/batch/v1/job-conditions.ts';
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import { type AccountRights, read } from '../../../api/rbac/v1/rule-rows.ts';
import { controllerOf, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { byController, controlledBy, controllerIndex } from '../../../controller-runtime/owner.ts';
import { withoutFinalizer } from '../pods/owned-pods.ts';
import { isManagedElsewhere, isTracked, trackingFinalizer } from './job-pods-plan.ts';

export const jobOrphansRights: AccountRights = {
  kubernetes: [
    [read, 'batch', 'jobs'],
    ['list watch patch', 'core', 'pods'],
  ],
};

export function jobOrphans({ client, informers }: ControllerContext): ControllerDefinition {
  const jobs = informers.informerFor(jobResource).lister;
  const informer = informers.informerFor(podResource);
  const pods = informer.lister;
  informer.addIndex(controllerIndex, byController);

  /** Returns the Job of a pod, as far as the cache shows it. */
  function jobOf(pod: Pod): Job | undefined {
    const owner = controllerOf(pod);
    const job = owner && jobs.get(objectKey({ metadata: { ...pod.metadata, name: owner.name } }));
    return job?.metadata.uid === owner?.uid ? job : undefined;
  }

  /**
   * Returns true if the finalizer may be removed. It is false for pods of other owners, which manage the
   * finalizer themselves.
   */
  function mayBeLeft(pod: Pod): boolean {
    const owner = controllerOf(pod);
    const isOfJob = owner?.kind === jobResource.kind && owner.apiVersion === apiVersionOf(jobResource);
    return isTracked(pod) && (!owner || (isOfJob && !willBeCounted(jobOf(pod))));
  }

  async function reconcile(key: ObjectKey): Promise<undefined> {
    const pod = pods.get(key);
    if (!pod || !mayBeLeft(pod)) return;
    const owner = controllerOf(pod);
    // The cache may not show the Job yet: another controller may have created its pods at once.
    if (owner && !jobOf(pod)) {
      const live = await ifPresent(client.resource(jobResource).get(owner.name, pod.metadata.namespace));
      if (live?.metadata.uid === owner.uid && willBeCounted(live)) return;
    }
    await ifPresent(withoutFinalizer(client, pod, trackingFinalizer));
  }

  return {
    name: 'job-orphans',
    watches: [
      watched(podResource, (pod) => (isTracked(pod) ? [objectKey(pod)] : [])),
      // Pods of a running Job are not orphans. They are checked only once the Job has ended or is no longer
      // in the cache.
      watched(jobResource, (job) => {
        const current = jobs.get(objectKey(job));
        if (current?.metadata.uid === job.metadata.uid && !isFinished(current)) return [];
        return pods.byIndex(controllerIndex, controlledBy(job)).filter(mayBeLeft).map(objectKey);
      }),
    ],
    reconcile,
  };
}

/** Returns true if the pod will be counted, by this controller or by the one that the Job names. */
const willBeCounted = (job: Job | undefined) =>
  job !== undefined && (isManagedElsewhere(job) || !isFinished(job));
