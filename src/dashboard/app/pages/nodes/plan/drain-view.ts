/** Effects of a drain on each pod of a node. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { metadataOf, numberAt, recordAt, textAt } from '../../../../../apimachinery/fields.ts';
import { matches, selectorFromLabelSelector } from '../../../../../apimachinery/labels.ts';
import {
  controllerOf,
  type DrainOptions,
  isOfDaemonSet,
  planDrain,
} from '../../../../../views/drain-plan.ts';
import { hasEnded } from '../../../../../views/pods.ts';

export interface DrainedPod {
  readonly namespace: string;
  readonly name: string;
  /** `moves`: its controller creates another pod; `ends`: none is created; `stays`: it is not evicted. */
  readonly fate: 'moves' | 'ends' | 'stays';
  /** Why it stays, what is lost, or what delays it; empty for nothing. */
  readonly note: string;
}

export interface DrainView {
  readonly pods: readonly DrainedPod[];
  /** Reasons why the node cannot be drained with these options. */
  readonly refusals: readonly string[];
  /** The pods to evict. */
  readonly evicted: readonly JsonObject[];
}

/** Returns the fate of each pod of the node. `budgets` are the PodDisruptionBudgets that the user may see. */
export function drainView(
  pods: readonly JsonObject[],
  budgets: readonly JsonObject[],
  options: Pick<DrainOptions, 'force' | 'deleteEmptyDirData'>,
): DrainView {
  const plan = planDrain(pods, { ...options, ignoreDaemonSets: true }, () => ({ missing: false, error: '' }));
  const evicted = new Set(plan.pods);
  return {
    pods: pods.map((pod) => ({
      namespace: metadataOf(pod).namespace,
      name: metadataOf(pod).name,
      ...fateOf(pod, evicted.has(pod), budgets),
    })),
    refusals: plan.errors,
    evicted: plan.pods,
  };
}

function fateOf(
  pod: JsonObject,
  isEvicted: boolean,
  budgets: readonly JsonObject[],
): Pick<DrainedPod, 'fate' | 'note'> {
  if (!isEvicted) return { fate: 'stays', note: reasonToStay(pod) };
  if (hasEnded(pod)) return { fate: 'ends', note: 'it has ended already' };
  const budget = budgets.find((one) => delays(one, pod));
  const note = budget ? `waits for the disruption budget ${metadataOf(budget).name}` : '';
  return controllerOf(pod)
    ? { fate: 'moves', note }
    : { fate: 'ends', note: note || 'no controller replaces it' };
}

function reasonToStay(pod: JsonObject): string {
  if (isOfDaemonSet(pod)) return 'a DaemonSet runs it on every node';
  if (metadataOf(pod).annotations['kubernetes.io/config.mirror'] !== undefined)
    return 'a file on the node defines it';
  return controllerOf(pod) ? 'it has data in an emptyDir volume' : 'no controller would replace it';
}

/** Returns whether a budget allows no disruption of the pod now. */
function delays(budget: JsonObject, pod: JsonObject): boolean {
  if (metadataOf(budget).namespace !== metadataOf(pod).namespace) return false;
  if (numberAt(budget, 'status', 'disruptionsAllowed') > 0) return false;
  if (textAt(budget, 'metadata', 'name') === '') return false;
  return matches(selectorFromLabelSelector(recordAt(budget, 'spec', 'selector')), metadataOf(pod).labels);
}
