/**
 * Plans the status of a Deployment from the statuses of its ReplicaSets (pkg/controller/deployment: sync.go,
 * progress.go). Pure.
 */
import type { Deployment } from '../../../api/apps/v1/deployment.ts';
import type { ReplicaSet } from '../../../api/apps/v1/replica-set.ts';
import {
  findCondition,
  timedCondition,
  withCondition,
  withoutCondition,
  withReplaced,
} from '../../../apimachinery/conditions.ts';
import type { Condition } from '../../../apimachinery/schema.ts';
import { rfc3339 } from '../../../base/time.ts';
import { rolloutLimits, sumReplicas } from './deployment-rollout.ts';

export type DeploymentStatus = NonNullable<Deployment['status']>;

/** Value of progressDeadlineSeconds that means no deadline (MaxInt32). */
const noDeadline = 2147483647;

/** Plans the status. `created` is the name of the set that this reconcile creates. */
export function planStatus(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  created: string | undefined,
  now: number,
): DeploymentStatus {
  const all = newSet ? [...old, newSet] : old;
  const count = (field: 'replicas' | 'readyReplicas' | 'availableReplicas') =>
    all.reduce((sum, set) => sum + (set.status?.[field] ?? 0), 0);
  const available = count('availableReplicas');
  const numbers: DeploymentStatus = {
    ...deployment.status,
    observedGeneration: deployment.metadata.generation,
    replicas: count('replicas'),
    updatedReplicas: newSet?.status?.replicas ?? 0,
    readyReplicas: count('readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sumReplicas(all) - available),
  };
  const time = rfc3339(now);
  const { replicas } = deployment.spec;
  const enough = available >= replicas - rolloutLimits(deployment).maxUnavailable;
  const at = { lastUpdateTime: time, lastTransitionTime: time };
  const conditions = withCondition(deployment.status?.conditions ?? [], {
    type: 'Available',
    ...(enough
      ? {
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        }
      : {
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        }),
    ...at,
  });
  const progressed = withProgress(deployment, numbers, newSet, conditions, created, now);
  const failure = all.map((set) => findCondition(set.status?.conditions, 'ReplicaFailure')).find(Boolean);
  numbers.conditions = failure
    ? withCondition(progressed, { ...failure, ...at })
    : withoutCondition(progressed, 'ReplicaFailure');
  return numbers;
}

/**
 * Returns true if every replica is of the newest template and available. `status` is the result of
 * `planStatus`.
 */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const { replicas } = deployment.spec;
  return (
    status.updatedReplicas === replicas &&
    status.replicas === replicas &&
    status.availableReplicas === replicas
  );
}

/**
 * Returns the milliseconds until the rollout will have missed its deadline, or undefined if no rollout is
 * running.
 */
export function deadlineIn(
  deployment: Deployment,
  status: DeploymentStatus,
  now: number,
): number | undefined {
  const seconds = deployment.spec.progressDeadlineSeconds;
  const current = findCondition(status.conditions, 'Progressing');
  if (seconds === noDeadline || deployment.spec.paused || !current?.lastUpdateTime) return undefined;
  if (isComplete(deployment, status) || isOver(current)) return undefined;
  // Timestamps are whole seconds, so the deadline passes at most one second later.
  return Math.max(0, Date.parse(current.lastUpdateTime) + seconds * 1000 - now) + 1000;
}

const isOver = (condition: Condition) =>
  condition.reason === 'NewReplicaSetAvailable' || condition.reason === 'ProgressDeadlineExceeded';

function withProgress(
  deployment: Deployment,
  status: DeploymentStatus,
  newSet: ReplicaSet | undefined,
  conditions: Condition[],
  created: string | undefined,
  now: number,
): Condition[] {
  if (deployment.spec.progressDeadlineSeconds === noDeadline)
    return withoutCondition(conditions, 'Progressing');
  const next = nextProgress(deployment, status, newSet, conditions, created, now);
  if (!next) return conditions;
  const time = rfc3339(now);
  const condition = { type: 'Progressing', ...next, lastUpdateTime: time, lastTransitionTime: time };
  const current = findCondition(conditions, 'Progressing');
  // Each step forward updates lastUpdateTime, from which the deadline is counted, even if nothing else
  // changes.
  if (next.reason !== 'ReplicaSetUpdated' || !current) return withCondition(conditions, condition);
  return withReplaced(conditions, timedCondition(conditions, condition, time));
}

type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>;

function nextProgress(
  deployment: Deployment,
  status: DeploymentStatus,
  newSet: ReplicaSet | undefined,
  conditions: readonly Condition[],
  created: string | undefined,
  now: number,
): Verdict | undefined {
  const current = findCondition(conditions, 'Progressing');
  if (deployment.spec.paused) return pausedVerdict(current, true);
  if (current?.reason === 'DeploymentPaused') return pausedVerdict(current, false);
  if (created !== undefined)
    return {
      status: 'True',
      reason: 'NewReplicaSetCreated',
      message: `Created new replica set "${created}"`,
    };
  if (newSet && !current)
    return {
      status: 'True',
      reason: 'FoundNewReplicaSet',
      message: `Found new replica set "${newSet.metadata.name}"`,
    };
  const settled = status.replicas === status.updatedReplicas && current?.reason === 'NewReplicaSetAvailable';
  return settled ? undefined : verdictOfRollout(deployment, status, newSet, current, now);
}

function verdictOfRollout(
  deployment: Deployment,
  status: DeploymentStatus,
  newSet: ReplicaSet | undefined,
  current: Condition | undefined,
  now: number,
): Verdict | undefined {
  const what = newSet ? `ReplicaSet "${newSet.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  if (isComplete(deployment, status))
    return {
      status: 'True',
      reason: 'NewReplicaSetAvailable',
      message: `${what} has successfully progressed.`,
    };
  if (hasProgressed(deployment.status ?? {}, status))
    return { status: 'True', reason: 'ReplicaSetUpdated', message: `${what} is progressing.` };
  if (isTimedOut(deployment, current, now))
    return {
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: `${what} has timed out progressing.`,
    };
  return undefined;
}

/**
 * Returns the condition of a paused Deployment. A failed rollout stays failed, so that the reason is not
 * lost.
 */
function pausedVerdict(current: Condition | undefined, paused: boolean): Verdict | undefined {
  if (current?.reason === 'ProgressDeadlineExceeded') return undefined;
  return paused
    ? { status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' }
    : { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' };
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus) => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  const grew = (field: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas') =>
    (after[field] ?? 0) > (before[field] ?? 0);
  return (
    grew('updatedReplicas') || old(after) < old(before) || grew('readyReplicas') || grew('availableReplicas')
  );
}

function isTimedOut(deployment: Deployment, current: Condition | undefined, now: number): boolean {
  if (!current?.lastUpdateTime || current.reason === 'NewReplicaSetAvailable') return false;
  return Date.parse(current.lastUpdateTime) + deployment.spec.progressDeadlineSeconds * 1000 < now;
}
