/**
 * Runs a client pod for each connection that SlurmJobs of a namespace name, while one of them is not
 * finished.
 */
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import { secretResource } from '../../../api/core/v1/secret.ts';
import { serviceAccountResource } from '../../../api/core/v1/service-account/service-account.ts';
import { roleBindingResource } from '../../../api/rbac/v1/role-binding.ts';
import { type Draft, isTerminating, type KubeObject, type ObjectKey } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { slurmClientAccount, slurmClientLabel, slurmSecretAnnotation } from '../api/slurm-client-pod.ts';
import { type SlurmJob, slurmFinalizer, slurmJobResource } from '../api/slurm-job.ts';
import { isLive, planConnection } from './slurm-client-plan.ts';
import { clientAccount, clientBinding, clientPod } from './slurm-pod.ts';

const podScope = { labelSelector: slurmClientLabel };
const accountScope = { fieldSelector: `metadata.name=${slurmClientAccount}` };
/** Index by the key of a connection: NAMESPACE/SECRET. */
const byConnection = 'slurm.connection';

const connectionOfJob = ({ metadata, spec }: SlurmJob) => [
  `${metadata.namespace}/${spec.connection.secretName}`,
];
const connectionOfPod = ({ metadata }: Pod) => {
  const secret = metadata.annotations?.[slurmSecretAnnotation];
  return secret === undefined ? [] : [`${metadata.namespace}/${secret}`];
};

export function slurmController({
  client,
  clock,
  events,
  informers,
}: ControllerContext): ControllerDefinition {
  const jobs = informers.informerFor(slurmJobResource);
  const pods = informers.informerFor(podResource, podScope);
  const accounts = informers.informerFor(serviceAccountResource, accountScope).lister;
  const bindings = informers.informerFor(roleBindingResource, accountScope).lister;
  jobs.addIndex(byConnection, connectionOfJob);
  pods.addIndex(byConnection, connectionOfPod);

  /**
   * Returns the connections of the namespace: objects that all its clients need are restored for each of
   * them.
   */
  const connectionsBeside = ({ metadata }: KubeObject): readonly ObjectKey[] => [
    ...new Set(jobs.lister.list(metadata.namespace).flatMap(connectionOfJob)),
  ];

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const [namespace = '', secretName = ''] = key.split('/');
    const state = {
      jobs: jobs.lister.byIndex(byConnection, key),
      pods: pods.lister.byIndex(byConnection, key),
      now: clock.now(),
    };
    const secretIsThere = state.jobs.some(isTerminating) ? await hasSecret(namespace, secretName) : undefined;
    let plan = planConnection({ ...state, secretIsThere, namespaceEnds: false });
    if (plan.needsClient && !(await ensureClient(namespace, secretName, state.pods)))
      plan = planConnection({ ...state, secretIsThere, namespaceEnds: true });
    for (const { job, left } of plan.release) await release(job, left);
    for (const pod of plan.remove) await remove(podResource, pod);
    for (const job of plan.expired) await remove(slurmJobResource, job);
    return plan.again === undefined ? undefined : { requeueAfter: plan.again };
  }

  async function hasSecret(namespace: string, name: string): Promise<boolean> {
    try {
      await client.resource(secretResource).get(name, namespace);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Ensures that the client exists. Returns false if nothing can be created in the namespace any more. */
  async function ensureClient(namespace: string, secretName: string, own: readonly Pod[]): Promise<boolean> {
    const name = `${namespace}/${slurmClientAccount}`;
    try {
      if (!accounts.get(name)) await make(serviceAccountResource, clientAccount(namespace));
      if (!bindings.get(name)) await make(roleBindingResource, clientBinding(namespace));
      const leaving = own.filter((pod) => !isLive(pod));
      if (leaving.length === own.length) await make(podResource, clientPod(namespace, secretName, leaving));
      return true;
    } catch (error) {
      if (isNamespaceTerminating(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  async function make<T extends KubeObject>(kind: ResourceDefinition<T>, draft: Draft<T>): Promise<void> {
    try {
      await client.resource(kind).create(draft);
    } catch (error) {
      // The cache does not show the object yet.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async function release(job: SlurmJob, left: string | undefined): Promise<void> {
    const { name, namespace = '', uid, resourceVersion, finalizers = [] } = job.metadata;
    if (left !== undefined && job.status?.jobID !== undefined) {
      const message = `job ${job.status.jobID} may go on in Slurm: ${left}`;
      events.event(job, 'Warning', 'NotCanceled', message);
    }
    const rest = finalizers.filter((finalizer) => finalizer !== slurmFinalizer);
    const body = { metadata: { uid, resourceVersion, finalizers: rest } };
    await ifPresent(client.resource(slurmJobResource).patch(name, namespace, 'merge', body));
  }

  async function remove<T extends KubeObject>(kind: ResourceDefinition<T>, object: T): Promise<void> {
    const { name, namespace, uid } = object.metadata;
    await ifPresent(client.resource(kind).delete(name, namespace, { preconditions: { uid } }));
  }

  return {
    name: 'slurm',
    watches: [
      watched(slurmJobResource, connectionOfJob),
      watched(podResource, connectionOfPod, podScope),
      watched(serviceAccountResource, connectionsBeside, accountScope),
      watched(roleBindingResource, connectionsBeside, accountScope),
    ],
    reconcile,
  };
}
