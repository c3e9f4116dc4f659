/**
 * Rolls out a Deployment's pod template over ReplicaSets. Invariants: decisions are based only on a cache
 * that shows the controller's own last writes; every write names the version on which it was decided, so that
 * a decision on old data is rejected.
 */
import { type Deployment, deploymentResource } from '../../../api/apps/v1/deployment.ts';
import { type ReplicaSet, replicaSetResource } from '../../../api/apps/v1/replica-set.ts';
import { type Pod, podResource } from '../../../api/core/v1/pod.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { controllerOf, type Draft, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { isAlreadyExists } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
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

export function deploymentController(context: ControllerContext): ControllerDefinition {
  const { client, clock, events, informers, log } = context;
  const deploymentInformer = informers.informerFor(deploymentResource);
  const deployments = deploymentInformer.lister;
  const setInformer = informers.informerFor(replicaSetResource);
  const sets = setInformer.lister;
  const podInformer = informers.informerFor(podResource);
  const pods = podInformer.lister;
  podInformer.addIndex(controllerIndex, byController);
  const writes = new ObservedWrites(client, replicaSetResource, setInformer);
  const ownWrites = new ObservedWrites(client, deploymentResource, deploymentInformer);

  function deploymentsOf(set: ReplicaSet): readonly ObjectKey[] {
    const owner = controllerOf(set);
    if (owner) return owner.kind === 'Deployment' ? [`${set.metadata.namespace}/${owner.name}`] : [];
    return deployments
      .list(set.metadata.namespace)
      .filter((one) => matches(selectorFromLabelSelector(one.spec.selector), set.metadata.labels))
      .map(objectKey);
  }

  /**
   * Returns the Deployments with strategy Recreate for a pod; only these depend on pods, because they wait
   * until the old ones are gone.
   */
  function recreatesOf(pod: Pod): readonly ObjectKey[] {
    const owner = controllerOf(pod);
    const set = owner?.kind === 'ReplicaSet' && sets.get(`${pod.metadata.namespace}/${owner.name}`);
    if (!set) return [];
    return deploymentsOf(set).filter((key) => deployments.get(key)?.spec.strategy.type === 'Recreate');
  }

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const deployment = deployments.get(key);
    if (!deployment) return undefined;
    const settled = (await writes.settled(key, clock.now())) && (await ownWrites.settled(key, clock.now()));
    if (!settled) return { requeueAfter: verifyAfter };
    const selector = selectorFromLabelSelector(deployment.spec.selector);
    const claims = planClaims(deployment, selector, sets.list(deployment.metadata.namespace));
    const owned = await carryOutClaims(client, replicaSetResource, deploymentResource, deployment, claims);
    const ownedPods = owned.flatMap((set) => pods.byIndex(controllerIndex, controlledBy(set)));
    const plan = planDeployment(deployment, owned, ownedPods, clock.now());
    let current = deployment;
    for (const action of plan.actions) {
      const next = await carryOut(key, current, action);
      if (next === 'stop') return undefined;
      current = next;
    }
    if (plan.statusChanged) await writeStatus(key, current, plan.status);
    return plan.requeueAfter === undefined ? undefined : { requeueAfter: plan.requeueAfter };
  }

  async function writeStatus(
    key: ObjectKey,
    deployment: Deployment,
    status: DeploymentStatus,
  ): Promise<void> {
    const written = await ifPresent(
      client.resource(deploymentResource).updateStatus({ ...deepCopy(deployment), status }),
    );
    if (written) ownWrites.written(key, written, clock.now());
  }

  /** Resolves to the Deployment after the action, or to 'stop' if the plan is no longer valid. */
  async function carryOut(
    key: ObjectKey,
    deployment: Deployment,
    action: DeploymentAction,
  ): Promise<Deployment | 'stop'> {
    switch (action.type) {
      case 'createReplicaSet':
        return createSet(key, deployment, action.draft, action.message);
      case 'updateReplicaSet': {
        const set = await ifPresent(client.resource(replicaSetResource).update(action.set));
        if (!set) return 'stop';
        writes.written(key, set, clock.now());
        if (action.message) events.event(deployment, 'Normal', 'ScalingReplicaSet', action.message);
        return deployment;
      }
      case 'deleteReplicaSet':
        await deleteSet(key, action.set);
        return deployment;
      case 'setRevision': {
        const next = deepCopy(deployment);
        next.metadata.annotations = { ...next.metadata.annotations, [revisionAnnotation]: action.revision };
        const written = await ifPresent(client.resource(deploymentResource).update(next));
        if (!written) return 'stop';
        ownWrites.written(key, written, clock.now());
        return written;
      }
    }
  }

  async function createSet(
    key: ObjectKey,
    deployment: Deployment,
    draft: Draft<ReplicaSet>,
    message: string | undefined,
  ) {
    const owned = {
      ...draft,
      metadata: { ...draft.metadata, ownerReferences: [controllerReference(deploymentResource, deployment)] },
    };
    try {
      const set = await client.resource(replicaSetResource).create(owned);
      writes.written(key, set, clock.now());
      if (message) events.event(deployment, 'Normal', 'ScalingReplicaSet', message);
      return deployment;
    } catch (error) {
      if (isAlreadyExists(error)) return settleCollision(key, deployment, draft);
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
   * Resolves a name collision. The controller's own set that the cache did not show yet is no collision; a
   * set of another owner requires another name.
   */
  async function settleCollision(
    key: ObjectKey,
    deployment: Deployment,
    draft: Draft<ReplicaSet>,
  ): Promise<'stop'> {
    const taken = await client
      .resource(replicaSetResource)
      .get(draft.metadata.name ?? '', draft.metadata.namespace);
    if (
      controllerOf(taken)?.uid === deployment.metadata.uid &&
      sameTemplate(taken.spec.template, deployment.spec.template)
    ) {
      writes.written(key, taken, clock.now());
      return 'stop';
    }
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    log.info('template hash collides with another replica set', { deployment: key, collisionCount });
    await writeStatus(key, deployment, { ...deployment.status, collisionCount });
    return 'stop';
  }

  async function deleteSet(key: ObjectKey, set: ReplicaSet): Promise<void> {
    const { name, namespace, uid } = set.metadata;
    await ifPresent(client.resource(replicaSetResource).delete(name, namespace, { preconditions: { uid } }));
    writes.removed(key, set, clock.now());
  }

  return {
    name: 'deployment',
    watches: [
      watched(deploymentResource, (deployment) => [objectKey(deployment)]),
      watched(replicaSetResource, deploymentsOf),
      watched(podResource, recreatesOf),
    ],
    reconcile,
  };
}
