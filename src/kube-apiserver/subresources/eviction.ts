/**
 * POST pods/NAME/eviction: a deletion that disruption budgets may delay (upstream:
 * registry/core/pod/storage/eviction.go). A pod that may be evicted is charged to its budget before it is
 * deleted, in one write that concurrent evictions see.
 */

import { isPodActive, podCondition, podReady } from '../../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { conditionsOf } from '../../api/policy/v1/disruption-status.ts';
import {
  type PodDisruptionBudget,
  podDisruptionBudgetResource,
} from '../../api/policy/v1/pod-disruption-budget.ts';
import { transitionTime } from '../../apimachinery/conditions.ts';
import { matches, selectorFromLabelSelector } from '../../apimachinery/labels.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { storageKey, storagePrefix } from '../../apimachinery/resource-definition.ts';
import {
  isConflict,
  newBadRequest,
  newForbidden,
  newNotFound,
  newStatusError,
} from '../../apimachinery/status-error.ts';
import { respondOther } from '../../apiserver/encoding/answer.ts';
import { waitForNow } from '../../apiserver/reads/freshness.ts';
import { type DeleteRequest, deleteObject } from '../../apiserver/registry/delete.ts';
import { updateObject } from '../../apiserver/registry/update.ts';
import { isDryRun, type RequestScope } from '../../apiserver/request/request-scope.ts';
import { parseDeleteFields } from '../../apiserver/verbs/delete-options.ts';
import { objectField, readKind, stringField } from '../../apiserver/verbs/read-body.ts';
import { type WriteOptions, writeOptions } from '../../apiserver/write-options.ts';
import { rfc3339 } from '../../base/clock.ts';
import { reviewBody } from './review.ts';

/**
 * Maximum number of pods that were charged and not deleted yet; more mean that the controller does not work
 * (upstream: MaxDisruptedPodSize).
 */
const maxDisrupted = 2000;
/** Maximum number of attempts for a pod that changes meanwhile. */
const maxTries = 5;
const refusal = "Cannot evict pod as it would violate the pod's disruption budget.";

export async function evictPod(scope: RequestScope): Promise<Response> {
  const queryDryRun = isDryRun(scope, 'CreateOptions');
  const write = writeOptions(scope, 'CreateOptions');
  const eviction = await readKind(scope, 'policy.v1.Eviction');
  const { info, user } = scope;
  const named = stringField(objectField(eviction, 'metadata'), 'name');
  if (named && named !== info.name) {
    throw newBadRequest('name in URL does not match name in Eviction object');
  }
  const options = parseDeleteFields(objectField(eviction, 'deleteOptions'), []);
  const dryRun = queryDryRun || options.dryRun;
  await reviewBody(scope, { ...write, dryRun }, { apiVersion: 'policy/v1', kind: 'Eviction', ...eviction });
  await evict(
    scope,
    { ...write, dryRun },
    {
      definition: podResource,
      namespace: info.namespace,
      name: info.name,
      user,
      dryRun,
      options,
      preconditions: options.preconditions,
      isStep: true,
      lastWords: (object) => markEvicted(object as Pod, rfc3339(scope.server.clock.now())),
    },
  );
  const done = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return respondOther(scope, 201, done);
}

/** Evicts the pod. Throws 429 if its budget does not allow it, 500 if several budgets match. */
async function evict(scope: RequestScope, write: WriteOptions, deletion: DeleteRequest): Promise<void> {
  const { server } = scope;
  for (let attempt = 1; ; attempt++) {
    await waitForNow(server, scope);
    const pod = readPod(scope);
    const ruling = await rule(scope, write, pod);
    const asked = ruling.as === 'any' ? deletion : deletionAsSeen(deletion, pod);
    const conflict = await conflictOf(deleteObject(server, asked));
    if (conflict === undefined) return;
    // The pod may have become ready meanwhile, and count for the budget.
    if (asked === deletion || seenOtherwise(deletion, readPod(scope))) throw conflict;
    if (attempt >= maxTries) throw afterLastTry(ruling, conflict);
  }
}

/** Resolves to the conflict that rejects the write, or to undefined; rejects with other errors. */
const conflictOf = (write: Promise<unknown>): Promise<unknown> =>
  write.then(
    () => undefined,
    (error: unknown) => {
      if (isConflict(error)) return error;
      throw error;
    },
  );

/** Returns the deletion of the pod in the version that was read, unless the request names a version. */
const deletionAsSeen = (deletion: DeleteRequest, { metadata: { resourceVersion } }: Pod): DeleteRequest =>
  deletion.preconditions.resourceVersion === undefined
    ? { ...deletion, preconditions: { ...deletion.preconditions, resourceVersion } }
    : deletion;

const afterLastTry = ({ budget }: Ruling, error: unknown) =>
  budget === undefined ? error : notYetCounted(budget);

/**
 * `as` selects the precondition of the deletion: `seen` deletes the pod only if it is unchanged, `any` in any
 * state.
 */
interface Ruling {
  readonly as: 'any' | 'seen';
  /** The budget that allows the eviction of the unchanged pod. */
  readonly budget?: string;
}

async function rule(scope: RequestScope, write: WriteOptions, pod: Pod): Promise<Ruling> {
  const phase = pod.status?.phase ?? 'Pending';
  if (!isPodActive(pod)) return { as: 'any' };
  if (phase === 'Pending') return { as: 'seen' };
  const [budget, ...others] = budgetsOf(scope, pod);
  if (!budget) return { as: 'any' };
  if (others.length > 0) {
    const why =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw newStatusError('InternalError', why);
  }
  if (!podReady(pod) && mayGoUnready(budget)) return { as: 'seen', budget: budget.metadata.name };
  await takeOff(scope, write, budget, pod);
  return { as: 'any' };
}

function readPod({ server, info }: RequestScope): Pod {
  const found = server.cache.get(storageKey(podResource, info.namespace, info.name));
  if (!found) throw newNotFound(podResource, info.name);
  return found.object as Pod;
}

/** Returns whether the conflict is with the client's own precondition. */
const seenOtherwise = ({ preconditions }: DeleteRequest, pod: Pod) =>
  preconditions.uid !== undefined && preconditions.uid !== pod.metadata.uid;

const budgetsOf = ({ server, info }: RequestScope, pod: Pod) =>
  server.cache
    .list(storagePrefix(podDisruptionBudgetResource, info.namespace))
    .map(({ object }) => object as PodDisruptionBudget)
    .filter(({ spec }) => matches(selectorFromLabelSelector(spec.selector), pod.metadata.labels));

/**
 * Returns whether an unready pod may be evicted without a charge: always by the policy AlwaysAllow, and
 * otherwise while enough pods are healthy.
 */
function mayGoUnready({ spec, status }: PodDisruptionBudget): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

async function takeOff(scope: RequestScope, options: WriteOptions, budget: PodDisruptionBudget, pod: Pod) {
  const { server, info } = scope;
  await updateObject(server, {
    definition: podDisruptionBudgetResource,
    namespace: info.namespace,
    name: budget.metadata.name,
    part: 'status',
    subresource: 'status',
    options: { ...options, served: podDisruptionBudgetResource },
    owners: 'kept',
    isStep: true,
    change: (current) => without(current as PodDisruptionBudget, pod, rfc3339(server.clock.now())),
  });
}

function without(budget: PodDisruptionBudget, pod: Pod, now: string): PodDisruptionBudget {
  const { metadata, status } = budget;
  const { name } = metadata;
  const allowed = status?.disruptionsAllowed ?? 0;
  const disrupted = status?.disruptedPods ?? {};
  if (!status || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) throw notYetCounted(name);
  if (Object.keys(disrupted).length > maxDisrupted) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw newForbidden(podDisruptionBudgetResource, name, why);
  }
  if (allowed <= 0) {
    const { desiredHealthy, currentHealthy } = status;
    throw tooMany(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  }
  const next = {
    ...status,
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...disrupted, [pod.metadata.name]: now },
  };
  return { ...budget, status: { ...next, conditions: conditionsOf(next, now) } };
}

const notYetCounted = (budget: string) =>
  tooMany(`The disruption budget ${budget} is still being processed by the server.`, 10);

const tooMany = (message: string, retryAfterSeconds?: number) =>
  newStatusError('TooManyRequests', refusal, {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });

function markEvicted(pod: Pod, now: string): void {
  const old = podCondition(pod, 'DisruptionTarget');
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: transitionTime(old, 'True', now),
  } as const;
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
  (pod as KubeObject & Pod).status = { ...pod.status, conditions: [...others, condition] };
}
