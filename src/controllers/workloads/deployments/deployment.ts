/**
 * Rolls out a Deployment's pod template over ReplicaSets. Invariants: decisions are based only on a cache
 * that shows the controller's own last writes; every write names the version on which it was decided, so that
 * a decision on old data is rejected.
 */

import { type Deployment, deploymentResource } from '../../../api/apps/v1/deployment.ts';
import { type ReplicaSet, replicaSetResource } from '../../../api/apps/v1/replica-set.ts';
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import { type AccountRights, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { controllerOf, type Draft, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { isAlreadyExists } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import type { Lister } from '../../../client/informer.ts';
import { carryOutClaims, controllerReference, planClaims } from '../../../controller-runtime/claim.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites, verifyAfter } from '../../../controller-runtime/observed-writes.ts';
import { byController, controlledBy, controllerIndex } from '../../../controller-runtime/owner.ts';
import { type DeploymentAction, planDeployment, revisionAnnotation } from './deployment-plan.ts';
import type { DeploymentStatus } from './deployment-status.ts';
import { sameTemplate } from './deployment-template.ts';

export const deploymentRights: AccountRights = {
  kubernetes: [
    ['get list watch update', 'apps extensions', 'deployments'],
    ['update', 'apps extensions', 'deployments/status'],
    ['update', 'apps extensions', 'deployments/finalizers'],
    ['get list watch create update patch delete', 'apps extensions', 'replicasets'],
    ['get list watch update', 'core', 'pods'],
    writeEvents,
  ],
};

export const deploymentController = (context: ControllerContext): ControllerDefinition =>
  new DeploymentController(context).definition();

class DeploymentController {
  readonly #context: ControllerContext;
  readonly #deployments: Lister<Deployment>;
  readonly #sets: Lister<ReplicaSet>;
  readonly #pods: Lister<Pod>;
  readonly #writes: ObservedWrites<ReplicaSet>;
  readonly #ownWrites: ObservedWrites<Deployment>;

  constructor(context: ControllerContext) {
    const { informers, client } = context;
    this.#context = context;
    const deploymentInformer = informers.informerFor(deploymentResource);
    this.#deployments = deploymentInformer.lister;
    const setInformer = informers.informerFor(replicaSetResource);
    this.#sets = setInformer.lister;
    const podInformer = informers.informerFor(podResource);
    this.#pods = podInformer.lister;
    podInformer.addIndex(controllerIndex, byController);
    this.#writes = new ObservedWrites(client, replicaSetResource, setInformer);
    this.#ownWrites = new ObservedWrites(client, deploymentResource, deploymentInformer);
  }

  definition(): ControllerDefinition {
    return {
      name: 'deployment',
      watches: [
        watched(deploymentResource, (deployment) => [objectKey(deployment)]),
        watched(replicaSetResource, (set) => this.#deploymentsOf(set)),
        watched(podResource, (pod) => this.#recreatesOf(pod)),
      ],
      reconcile: (key) => this.#reconcile(key),
    };
  }

  #deploymentsOf(set: ReplicaSet): readonly ObjectKey[] {
    const owner = controllerOf(set);
    if (owner) return owner.kind === 'Deployment' ? [`${set.metadata.namespace}/${owner.name}`] : [];
    return this.#deployments
      .list(set.metadata.namespace)
      .filter((one) => matches(selectorFromLabelSelector(one.spec.selector), set.metadata.labels))
      .map(objectKey);
  }

  /**
   * Returns the Deployments with strategy Recreate for a pod; only these depend on pods, because they wait
   * until the old ones are gone.
   */
  #recreatesOf(pod: Pod): readonly ObjectKey[] {
    const owner = controllerOf(pod);
    const set = owner?.kind === 'ReplicaSet' && this.#sets.get(`${pod.metadata.namespace}/${owner.name}`);
    if (!set) return [];
    return this.#deploymentsOf(set).filter(
      (key) => this.#deployments.get(key)?.spec.strategy.type === 'Recreate',
    );
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const { clock, client } = this.#context;
    const deployment = this.#deployments.get(key);
    if (!deployment) return undefined;
    const settled =
      (await this.#writes.settled(key, clock.now())) && (await this.#ownWrites.settled(key, clock.now()));
    if (!settled) return { requeueAfter: verifyAfter };
    const selector = selectorFromLabelSelector(deployment.spec.selector);
    const claims = planClaims(deployment, selector, this.#sets.list(deployment.metadata.namespace));
    const owned = await carryOutClaims(client, replicaSetResource, deploymentResource, deployment, claims);
    const ownedPods = owned.flatMap((set) => this.#pods.byIndex(controllerIndex, controlledBy(set)));
    const plan = planDeployment(deployment, owned, ownedPods, clock.now());
    let current = deployment;
    for (const action of plan.actions) {
      const next = await this.#carryOut(key, current, action);
      if (next === 'stop') return undefined;
      current = next;
    }
    if (plan.statusChanged) await this.#writeStatus(key, current, plan.status);
    return plan.requeueAfter === undefined ? undefined : { requeueAfter: plan.requeueAfter };
  }

  async #writeStatus(key: ObjectKey, deployment: Deployment, status: DeploymentStatus): Promise<void> {
    const { client, clock } = this.#context;
    const written = await ifPresent(
      client.resource(deploymentResource).updateStatus({ ...deepCopy(deployment), status }),
    );
    if (written) this.#ownWrites.written(key, written, clock.now());
  }

  /** Resolves to the Deployment after the action, or to 'stop' if the plan is no longer valid. */
  async #carryOut(
    key: ObjectKey,
    deployment: Deployment,
    action: DeploymentAction,
  ): Promise<Deployment | 'stop'> {
    const { client, clock, events } = this.#context;
    switch (action.type) {
      case 'createReplicaSet':
        return this.#createSet(key, deployment, action.draft, action.message);
      case 'updateReplicaSet': {
        const set = await ifPresent(client.resource(replicaSetResource).update(action.set));
        if (!set) return 'stop';
        this.#writes.written(key, set, clock.now());
        if (action.message) events.event(deployment, 'Normal', 'ScalingReplicaSet', action.message);
        return deployment;
      }
      case 'deleteReplicaSet':
        await this.#deleteSet(key, action.set);
        return deployment;
      case 'setRevision': {
        const next = deepCopy(deployment);
        next.metadata.annotations = { ...next.metadata.annotations, [revisionAnnotation]: action.revision };
        const written = await ifPresent(client.resource(deploymentResource).update(next));
        if (!written) return 'stop';
        this.#ownWrites.written(key, written, clock.now());
        return written;
      }
    }
  }

  async #createSet(
    key: ObjectKey,
    deployment: Deployment,
    draft: Draft<ReplicaSet>,
    message: string | undefined,
  ) {
    const { client, clock, events } = this.#context;
    const owned = {
      ...draft,
      metadata: { ...draft.metadata, ownerReferences: [controllerReference(deploymentResource, deployment)] },
    };
    try {
      const set = await client.resource(replicaSetResource).create(owned);
      this.#writes.written(key, set, clock.now());
      if (message) events.event(deployment, 'Normal', 'ScalingReplicaSet', message);
      return deployment;
    } catch (error) {
      if (isAlreadyExists(error)) return this.#settleCollision(key, deployment, draft);
      events.event(
        deployment,
        'Warning',
        'ReplicaSetCreateError',
        `Failed to create new replica set "${draft.metadata.name}": ${errorMessage(error)}`,
      );
      throw error;
    }
  }

  /**
   * Resolves a name collision. The controller's own set that the cache did not show yet is not a collision; a
   * set of another owner requires another name.
   */
  async #settleCollision(key: ObjectKey, deployment: Deployment, draft: Draft<ReplicaSet>): Promise<'stop'> {
    const { client, clock, log } = this.#context;
    const taken = await client
      .resource(replicaSetResource)
      .get(draft.metadata.name ?? '', draft.metadata.namespace);
    if (
      controllerOf(taken)?.uid === deployment.metadata.uid &&
      sameTemplate(taken.spec.template, deployment.spec.template)
    ) {
      this.#writes.written(key, taken, clock.now());
      return 'stop';
    }
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    log.info('template hash collides with another replica set', { deployment: key, collisionCount });
    await this.#writeStatus(key, deployment, { ...deployment.status, collisionCount });
    return 'stop';
  }

  async #deleteSet(key: ObjectKey, set: ReplicaSet): Promise<void> {
    const { client, clock } = this.#context;
    const { name, namespace, uid } = set.metadata;
    await ifPresent(client.resource(replicaSetResource).delete(name, namespace, { preconditions: { uid } }));
    this.#writes.removed(key, set, clock.now());
  }
}
