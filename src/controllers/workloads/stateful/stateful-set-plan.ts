/**
 * Plans the next steps of a StatefulSet: pods are created in the order of their ordinals and deleted in
 * reverse order, one at a time, unless it is Parallel (k8s.io/kubernetes pkg/controller/statefulset). Pure.
 */
import { isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaim } from '../../../api/core/v1/types.gen.ts';
import { type Draft, isTerminating } from '../../../apimachinery/meta.ts';
import { goesWithPod, planOwners } from './claim-owners-plan.ts';
import { isAvailable, isHealthy, isRunning, type Members } from './stateful-members-plan.ts';
import {
  claimDraft,
  claimsOf,
  mendedPod,
  ordinalOf,
  ordinals,
  podNameOf,
  statefulPod,
} from './stateful-pods-plan.ts';
import { planRollout } from './stateful-rollout-plan.ts';

export type Step =
  /** The claims are created before the pod. */
  | {
      readonly type: 'create';
      readonly pod: Draft<Pod>;
      readonly claims: readonly Draft<PersistentVolumeClaim>[];
    }
  | {
      readonly type: 'createClaims';
      readonly pod: string;
      readonly claims: readonly Draft<PersistentVolumeClaim>[];
    }
  | { readonly type: 'update'; readonly pod: Pod }
  | { readonly type: 'setOwners'; readonly claim: PersistentVolumeClaim; readonly conflict: boolean }
  | { readonly type: 'remove'; readonly pod: Pod }
  /** A pod cannot be created until an event of its claim arrives; time alone does not help. */
  | { readonly type: 'wait'; readonly pod: string; readonly why: string };

/** Steps of one group may run concurrently; a group begins after all steps of the previous one succeeded. */
export type Steps = readonly (readonly Step[])[];

/** Maximum number of pods and claims that are created in one reconcile, or one pod with all its claims. */
export const burst = 500;

export function planSteps(members: Members): Steps {
  const { set, pods } = members;
  const { start, end } = ordinals(set);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod) ?? -1, pod]));
  const surplus = [...byOrdinal]
    .filter(([ordinal]) => ordinal >= 0 && (ordinal < start || ordinal >= end))
    .sort(([a], [b]) => b - a);
  const owners = surplus.flatMap(([ordinal, pod]) => claimSteps(members, pod, ordinal, true));
  const update = () => planRollout(members, byOrdinal).map(remove);
  if (set.spec.podManagementPolicy === 'Parallel') {
    const wanted = parallelSteps(members, byOrdinal);
    const gone = surplus.filter(([, pod]) => !isTerminating(pod)).map(([, pod]) => remove(pod));
    const removed = new Set(wanted.flatMap((step) => (step.type === 'remove' ? [step.pod] : [])));
    return [
      wanted,
      owners,
      gone,
      update().filter((step) => step.type !== 'remove' || !removed.has(step.pod)),
    ];
  }
  const { steps, settled } = orderedSteps(members, byOrdinal);
  if (!settled) return [steps];
  const last = surplus[0]?.[1];
  if (!last) return [steps, update()];
  return [
    steps,
    owners,
    mayGo(
      members,
      last,
      surplus.map(([, pod]) => pod),
    )
      ? [remove(last)]
      : [],
  ];
}

const remove = (pod: Pod): Step => ({ type: 'remove', pod });

/** Returns the steps up to the first ordinal whose pod is not healthy and available. */
function orderedSteps(members: Members, byOrdinal: ReadonlyMap<number, Pod>) {
  const { start, end } = ordinals(members.set);
  const steps: Step[] = [];
  for (let ordinal = start; ordinal < end; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    steps.push(...stepsOf(members, pod, ordinal));
    const settled = pod && isHealthy(pod) && isAvailable(members, pod);
    if (!settled) return { steps, settled: false };
  }
  return { steps, settled: true };
}

function parallelSteps(members: Members, byOrdinal: ReadonlyMap<number, Pod>): Step[] {
  const { start, end } = ordinals(members.set);
  const steps: Step[] = [];
  let made = 0;
  for (let ordinal = start; ordinal < end && made < burst; ordinal++) {
    const wanted = stepsOf(members, byOrdinal.get(ordinal), ordinal);
    for (const step of wanted) made += madeBy(step);
    steps.push(...wanted);
  }
  return steps;
}

function madeBy(step: Step): number {
  if (step.type === 'create') return 1 + step.claims.length;
  return step.type === 'createClaims' ? step.claims.length : 0;
}

/** Returns the steps for one of the wanted pods. */
function stepsOf(members: Members, pod: Pod | undefined, ordinal: number): Step[] {
  const { set } = members;
  if (!pod) return makeSteps(members, ordinal);
  // An ended pod is recreated, however it ended: an evicted pod may report success.
  if (isPodTerminal(pod)) return isTerminating(pod) ? [] : [remove(pod)];
  const steps: Step[] = [];
  const claims = pod.status?.phase === 'Pending' ? missingClaims(members, pod, ordinal) : [];
  if (claims.length > 0) steps.push({ type: 'createClaims', pod: pod.metadata.name, claims });
  const ordered = set.spec.podManagementPolicy !== 'Parallel';
  if (ordered && !(isHealthy(pod) && isAvailable(members, pod))) return steps;
  steps.push(...claimSteps(members, pod, ordinal, false));
  const mended = mendedPod(set, pod, ordinal);
  if (mended) steps.push({ type: 'update', pod: mended });
  return steps;
}

function makeSteps(members: Members, ordinal: number): Step[] {
  const { set, claim } = members;
  const name = podNameOf(set, ordinal);
  for (const wanted of claimsOf(set, ordinal)) {
    const known = claim(wanted.name);
    // The garbage collector will delete the claim.
    if (known && goesWithPod(known.metadata.ownerReferences ?? [], set, name)) return [];
    if (known && isTerminating(known))
      return [{ type: 'wait', pod: name, why: `pvc ${wanted.name} is being deleted` }];
  }
  const { template, revision } = versionFor(members, ordinal);
  const pod = statefulPod(set, template, revision, ordinal);
  const owner = { ...pod, metadata: { ...pod.metadata, name, uid: '' } } as Pod;
  return [
    { type: 'create', pod, claims: missingClaims(members, owner, ordinal) },
    ...claimSteps(members, owner, ordinal, false),
  ];
}

/**
 * Returns the template and revision of an ordinal. Ordinals below the partition use the previous template.
 */
function versionFor({ set, revisions, currentTemplate }: Members, ordinal: number) {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  const rolling = type === 'RollingUpdate' ? (set.status?.currentReplicas ?? 0) : 0;
  const old = ordinal < ordinals(set).start + (rollingUpdate ? (rollingUpdate.partition ?? 0) : rolling);
  return old
    ? { template: currentTemplate, revision: revisions.current }
    : { template: set.spec.template, revision: revisions.update };
}

/** Returns the missing claims of a pod, with their owners set. */
function missingClaims({ set, claim }: Members, pod: Pod, ordinal: number) {
  return claimsOf(set, ordinal)
    .filter(({ name }) => !claim(name))
    .map((wanted) => {
      const draft = claimDraft(set, wanted);
      const ownerReferences = planOwners([], set, { pod, surplus: false })?.owners;
      return {
        ...draft,
        metadata: { ...draft.metadata, ...(ownerReferences && { ownerReferences: [...ownerReferences] }) },
      };
    });
}

function claimSteps({ set, claim }: Members, pod: Pod, ordinal: number, surplus: boolean): Step[] {
  return claimsOf(set, ordinal).flatMap(({ name }) => {
    const known = claim(name);
    const plan = known && planOwners(known.metadata.ownerReferences ?? [], set, { pod, surplus });
    if (!plan) return [];
    const next = { ...known, metadata: { ...known.metadata, ownerReferences: [...plan.owners] } };
    return { type: 'setOwners', claim: next, conflict: plan.conflict };
  });
}

/**
 * Returns true if the highest surplus pod may be deleted: if it is healthy, or if no lower surplus pod is
 * unhealthy.
 */
function mayGo(members: Members, last: Pod, surplus: readonly Pod[]): boolean {
  if (isTerminating(last)) return false;
  const well = isRunning(last) && isAvailable(members, last);
  return well || surplus.findLast((pod) => !isHealthy(pod)) === last;
}
