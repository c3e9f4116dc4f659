/**
 * Plans the next step of a Deployment from its ReplicaSets, their pods and the time. Pure. A plan is one
 * stage of a rollout; the events of its actions lead to the next one. A converged Deployment yields an empty
 * plan. Follows k8s.io/kubernetes pkg/controller/deployment.
 */
import type { Deployment } from '../../../api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../api/apps/v1/replica-set.ts';
import { isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { deepCopy, deepEqual } from '../../../apimachinery/equality.ts';
import { parseInt64 } from '../../../apimachinery/int64.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import { isTerminating } from '../../../apimachinery/meta.ts';
import { traceAnnotation } from '../../../apimachinery/trace-note.ts';
import {
  desiredReplicasAnnotation,
  isScalingEvent,
  maxReplicasAnnotation,
  newSetReplicas,
  proportionalScale,
  rolloutLimits,
  type Scale,
  shrinkOldSets,
} from './deployment-rollout.ts';
import { type DeploymentStatus, deadlineIn, isComplete, planStatus } from './deployment-status.ts';
import { findNewReplicaSet, oldestFirst, podTemplateHashLabel, templateHash } from './deployment-template.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
export const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history';

/**
 * Annotations that describe the Deployment itself and are not copied to its sets. Annotations that a set
 * already has take precedence.
 */
const ownAnnotations = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionHistoryAnnotation,
  traceAnnotation,
  'deprecated.deployment.rollback.to',
]);

export type DeploymentAction =
  /** `message` is set if the size changes (for a new set from 0); it is recorded as an event. */
  | {
      readonly type: 'createReplicaSet';
      readonly draft: Draft<ReplicaSet>;
      readonly message: string | undefined;
    }
  | SetUpdate
  | { readonly type: 'deleteReplicaSet'; readonly set: ReplicaSet }
  | { readonly type: 'setRevision'; readonly revision: string };

interface SetUpdate {
  readonly type: 'updateReplicaSet';
  readonly set: ReplicaSet;
  readonly message: string | undefined;
}

export interface DeploymentPlan {
  readonly actions: readonly DeploymentAction[];
  readonly status: DeploymentStatus;
  readonly statusChanged: boolean;
  /** Milliseconds until the rollout may have missed its deadline. */
  readonly requeueAfter: number | undefined;
}

/** Plans the actions. `sets` are the sets that the Deployment owns; `pods` are the pods of these sets. */
export function planDeployment(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  pods: readonly Pod[],
  now: number,
): DeploymentPlan {
  const newSet = findNewReplicaSet(deployment, sets);
  const old = sets.filter((set) => set !== newSet);
  const rollout = isTerminating(deployment) ? { actions: [] } : planRollout(deployment, newSet, old, pods);
  const status = planStatus(deployment, newSet, old, rollout.created, now);
  const finished = rollout.actions.length === 0 && (isComplete(deployment, status) || deployment.spec.paused);
  const actions = finished && !isTerminating(deployment) ? cleanUp(deployment, old) : rollout.actions;
  return {
    actions,
    status,
    statusChanged: !deepEqual(status, deployment.status),
    requeueAfter: deadlineIn(deployment, status, now),
  };
}

interface Rollout {
  readonly actions: readonly DeploymentAction[];
  /** Name of the new set, if this plan creates it. */
  readonly created?: string;
}

function planRollout(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  pods: readonly Pod[],
): Rollout {
  const { paused, strategy } = deployment.spec;
  const all = newSet ? [...old, newSet] : old;
  if (paused || (strategy.type === 'RollingUpdate' && isScalingEvent(deployment, all))) {
    const sized = resize(deployment, proportionalScale(deployment, newSet, old));
    return { actions: sized.length > 0 || !newSet ? sized : syncRevision(deployment, newSet, old) };
  }
  const shrinking = strategy.type === 'Recreate' ? stopOldSets(deployment, old, pods) : undefined;
  if (shrinking) return { actions: shrinking };
  return newSet ? planSizes(deployment, newSet, old) : createNewSet(deployment, old);
}

/** Returns the actions that stop all old pods, or undefined if none is left. */
function stopOldSets(deployment: Deployment, old: readonly ReplicaSet[], pods: readonly Pod[]) {
  const shrinking = resize(
    deployment,
    old.filter((set) => set.spec.replicas > 0).map((set) => ({ set, replicas: 0 })),
  );
  return shrinking.length > 0 || oldPodsRun(old, pods) ? shrinking : undefined;
}

function planSizes(deployment: Deployment, newSet: ReplicaSet, old: readonly ReplicaSet[]): Rollout {
  const replicas = newSetReplicas(deployment, newSet, old);
  const [sized] = resize(deployment, [{ set: newSet, replicas }]);
  const own = syncRevision(deployment, newSet, old, sized);
  // Growing the new set and shrinking the old ones are separate stages: the second depends on the result of
  // the first.
  const shrunk =
    replicas === newSet.spec.replicas ? resize(deployment, shrinkOldSets(deployment, newSet, old)) : [];
  return { actions: [...own, ...shrunk] };
}

function oldPodsRun(old: readonly ReplicaSet[], pods: readonly Pod[]): boolean {
  const uids = new Set(old.map((set) => set.metadata.uid));
  return pods.some(
    (pod) => !isPodTerminal(pod) && pod.metadata.ownerReferences?.some((owner) => uids.has(owner.uid)),
  );
}

/**
 * Returns the revision. Any user may have written the annotation, so any 64-bit number is accepted; other
 * values count as none.
 */
const revisionOf = (object: { metadata: { annotations?: Record<string, string> | undefined } }) =>
  parseInt64(object.metadata.annotations?.[revisionAnnotation]) ?? 0n;

const greater = (a: bigint, b: bigint) => (a > b ? a : b);

const nextRevision = (old: readonly ReplicaSet[]) => old.map(revisionOf).reduce(greater, 0n) + 1n;

function createNewSet(deployment: Deployment, old: readonly ReplicaSet[]): Rollout {
  const { spec } = deployment;
  const hash = templateHash(spec.template, deployment.status?.collisionCount);
  const name = `${deployment.metadata.name}-${hash}`;
  const replicas = newSetReplicas(deployment, undefined, old);
  const revision = String(nextRevision(old));
  const labels = { ...spec.template.metadata.labels, [podTemplateHashLabel]: hash };
  const draft: Draft<ReplicaSet> = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: deployment.metadata.namespace,
      labels,
      annotations: {
        ...copiedAnnotations(deployment),
        ...sizeAnnotations(deployment),
        [revisionAnnotation]: revision,
      },
    },
    spec: {
      replicas,
      minReadySeconds: spec.minReadySeconds,
      selector: {
        ...spec.selector,
        matchLabels: { ...spec.selector.matchLabels, [podTemplateHashLabel]: hash },
      },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
  const actions: DeploymentAction[] = [
    {
      type: 'createReplicaSet',
      draft: deepCopy(draft),
      message: scaled(name, 0, replicas),
    },
  ];
  if (deployment.metadata.annotations?.[revisionAnnotation] !== revision)
    actions.push({ type: 'setRevision', revision });
  return { actions, created: name };
}

/**
 * Updates the new set, which carries the highest revision, the Deployment's annotations and its
 * minReadySeconds. A rollback gives an old set a new revision and records its former ones. `sized` is an
 * update of the set that is already in the plan and then includes these changes.
 */
function syncRevision(
  deployment: Deployment,
  newSet: ReplicaSet,
  old: readonly ReplicaSet[],
  sized?: SetUpdate,
): DeploymentAction[] {
  const set = deepCopy(sized?.set ?? newSet);
  const before = revisionOf(newSet);
  const revision = greater(before, nextRevision(old));
  const annotations: Record<string, string> = {
    ...set.metadata.annotations,
    ...copiedAnnotations(deployment),
    ...sizeAnnotations(deployment),
    [revisionAnnotation]: String(revision),
  };
  if (before > 0n && revision > before) {
    const history = newSet.metadata.annotations?.[revisionHistoryAnnotation];
    annotations[revisionHistoryAnnotation] = history ? `${history},${before}` : String(before);
  }
  set.metadata.annotations = annotations;
  set.spec.minReadySeconds = deployment.spec.minReadySeconds;
  const actions: DeploymentAction[] = [];
  if (!deepEqual(set, newSet)) actions.push({ type: 'updateReplicaSet', set, message: sized?.message });
  if (deployment.metadata.annotations?.[revisionAnnotation] !== String(revision))
    actions.push({ type: 'setRevision', revision: String(revision) });
  return actions;
}

const copiedAnnotations = (deployment: Deployment) =>
  Object.fromEntries(
    Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key)),
  );

const sizeAnnotations = (deployment: Deployment) => ({
  [desiredReplicasAnnotation]: String(deployment.spec.replicas),
  [maxReplicasAnnotation]: String(deployment.spec.replicas + rolloutLimits(deployment).maxSurge),
});

/** Returns updates for the sets whose size or size annotations change. */
function resize(deployment: Deployment, scales: readonly Scale[]): SetUpdate[] {
  return scales.flatMap(({ set, replicas }) => {
    const next = deepCopy(set);
    next.spec.replicas = replicas;
    next.metadata.annotations = { ...next.metadata.annotations, ...sizeAnnotations(deployment) };
    const message = scaled(set.metadata.name, set.spec.replicas, replicas);
    return deepEqual(next, set) ? [] : [{ type: 'updateReplicaSet', set: next, message }];
  });
}

/** Returns the message of the event, or undefined if the size stays. */
const scaled = (name: string, before: number, after: number): string | undefined =>
  before === after
    ? undefined
    : `Scaled ${after > before ? 'up' : 'down'} replica set ${name} from ${before} to ${after}`;

/** Deletes the oldest sets beyond revisionHistoryLimit that have no pods left. */
function cleanUp(deployment: Deployment, old: readonly ReplicaSet[]): DeploymentAction[] {
  const alive = oldestFirst(old.filter((set) => !isTerminating(set))).sort((a, b) =>
    Number(revisionOf(a) - revisionOf(b)),
  );
  const surplus = Math.max(0, alive.length - deployment.spec.revisionHistoryLimit);
  return alive
    .slice(0, surplus)
    .filter(
      ({ metadata, spec, status }) =>
        status !== undefined &&
        spec.replicas === 0 &&
        status.replicas === 0 &&
        status.observedGeneration === metadata.generation,
    )
    .map((set) => ({ type: 'deleteReplicaSet', set }));
}
