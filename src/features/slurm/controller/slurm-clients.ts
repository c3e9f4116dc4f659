/**
 * Runs a client pod for each connection to which SlurmJobs of a namespace refer, as long as one of these jobs
 * is not finished.
 */

import { isPodActive } from '../../../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import { secretResource } from '../../../api/core/v1/secret.ts';
import { serviceAccountResource } from '../../../api/core/v1/service-account/service-account.ts';
import type { ServiceAccount } from '../../../api/core/v1/types.gen.ts';
import { roleBindingResource } from '../../../api/rbac/v1/role-binding.ts';
import { type AccountRights, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import type { RoleBinding } from '../../../api/rbac/v1/types.gen.ts';
import { type Draft, isTerminating, type KubeObject, type ObjectKey } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../../../apimachinery/status-error.ts';
import type { Lister } from '../../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import {
  slurmClientAccount,
  slurmClientLabel,
  slurmClientRole,
  slurmSecretAnnotation,
} from '../api/slurm-client-pod.ts';
import { type SlurmJob, slurmFinalizer, slurmJobResource } from '../api/slurm-job.ts';
import { planConnection } from './slurm-client-plan.ts';
import { clientAccount, clientBinding, clientPod } from './slurm-pod.ts';

export const slurmRights: AccountRights = {
  // The controller checks that the Secret of a connection exists, and binds clients only to the clients'
  // role.
  own: [
    ['get list watch patch delete', 'minik8s.io', 'slurmjobs'],
    ['get list watch create delete', 'core', 'pods'],
    ['get list watch create', 'core', 'serviceaccounts'],
    ['get list watch create', 'rbac.authorization.k8s.io', 'rolebindings'],
    ['bind', 'rbac.authorization.k8s.io', 'clusterroles', slurmClientRole],
    ['get', 'core', 'secrets'],
    writeEvents,
  ],
};

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

export function slurmController(context: ControllerContext): ControllerDefinition {
  const controller = new SlurmClients(context);
  const connectionsBeside = (object: KubeObject) => controller.connectionsBeside(object);
  return {
    name: 'slurm',
    watches: [
      watched(slurmJobResource, connectionOfJob),
      watched(podResource, connectionOfPod, podScope),
      watched(serviceAccountResource, connectionsBeside, accountScope),
      watched(roleBindingResource, connectionsBeside, accountScope),
    ],
    reconcile: (key) => controller.reconcile(key),
  };
}

class SlurmClients {
  readonly #context: ControllerContext;
  readonly #jobs: Lister<SlurmJob>;
  readonly #pods: Lister<Pod>;
  readonly #accounts: Lister<ServiceAccount>;
  readonly #bindings: Lister<RoleBinding>;

  constructor(context: ControllerContext) {
    const { informers } = context;
    const jobs = informers.informerFor(slurmJobResource);
    const pods = informers.informerFor(podResource, podScope);
    jobs.addIndex(byConnection, connectionOfJob);
    pods.addIndex(byConnection, connectionOfPod);
    this.#context = context;
    this.#jobs = jobs.lister;
    this.#pods = pods.lister;
    this.#accounts = informers.informerFor(serviceAccountResource, accountScope).lister;
    this.#bindings = informers.informerFor(roleBindingResource, accountScope).lister;
  }

  /**
   * Returns the connections in the namespace of an object that all their clients need: the reconcile of each
   * connection creates the object again after it was deleted.
   */
  connectionsBeside({ metadata }: KubeObject): readonly ObjectKey[] {
    return [...new Set(this.#jobs.list(metadata.namespace).flatMap(connectionOfJob))];
  }

  async reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const [namespace = '', secretName = ''] = key.split('/');
    const state = {
      jobs: this.#jobs.byIndex(byConnection, key),
      pods: this.#pods.byIndex(byConnection, key),
      now: this.#context.clock.now(),
    };
    const secretIsThere = state.jobs.some(isTerminating)
      ? await this.#hasSecret(namespace, secretName)
      : undefined;
    let plan = planConnection({ ...state, secretIsThere, namespaceEnds: false });
    if (plan.needsClient && !(await this.#ensureClient(namespace, secretName, state.pods)))
      plan = planConnection({ ...state, secretIsThere, namespaceEnds: true });
    for (const { job, left } of plan.release) await this.#release(job, left);
    for (const pod of plan.remove) await this.#remove(podResource, pod);
    for (const job of plan.expired) await this.#remove(slurmJobResource, job);
    return plan.again === undefined ? undefined : { requeueAfter: plan.again };
  }

  async #hasSecret(namespace: string, name: string): Promise<boolean> {
    const found = await ifPresent(this.#context.client.resource(secretResource).get(name, namespace));
    return found !== undefined;
  }

  /** Ensures that the client exists. Returns false if nothing can be created in the namespace any more. */
  async #ensureClient(namespace: string, secretName: string, own: readonly Pod[]): Promise<boolean> {
    const name = `${namespace}/${slurmClientAccount}`;
    try {
      if (!this.#accounts.get(name)) await this.#make(serviceAccountResource, clientAccount(namespace));
      if (!this.#bindings.get(name)) await this.#make(roleBindingResource, clientBinding(namespace));
      const leaving = own.filter((pod) => !isPodActive(pod));
      if (leaving.length === own.length)
        await this.#make(podResource, clientPod(namespace, secretName, leaving));
      return true;
    } catch (error) {
      if (isNamespaceTerminating(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  async #make<T extends KubeObject>(kind: ResourceDefinition<T>, draft: Draft<T>): Promise<void> {
    try {
      await this.#context.client.resource(kind).create(draft);
    } catch (error) {
      // The cache does not show the object yet.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #release(job: SlurmJob, left: string | undefined): Promise<void> {
    const { name, namespace = '', uid, resourceVersion, finalizers = [] } = job.metadata;
    if (left !== undefined && job.status?.jobID !== undefined) {
      const message = `job ${job.status.jobID} may continue in Slurm: ${left}`;
      this.#context.events.event(job, 'Warning', 'NotCanceled', message);
    }
    const rest = finalizers.filter((finalizer) => finalizer !== slurmFinalizer);
    const body = { metadata: { uid, resourceVersion, finalizers: rest } };
    await ifPresent(this.#context.client.resource(slurmJobResource).patch(name, namespace, 'merge', body));
  }

  async #remove<T extends KubeObject>(kind: ResourceDefinition<T>, object: T): Promise<void> {
    const { name, namespace, uid } = object.metadata;
    await ifPresent(this.#context.client.resource(kind).delete(name, namespace, { preconditions: { uid } }));
  }
}
