/**
 * Selects the pods of a node that a drain evicts, with messages about the others (kubectl's pkg/drain
 * filters). Pure.
 */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, recordsAt, valueAt } from '../apimachinery/fields.ts';
import { hasEnded } from './pods.ts';

export interface DrainOptions {
  readonly force: boolean;
  readonly ignoreDaemonSets: boolean;
  readonly deleteEmptyDirData: boolean;
  /** Returns true for pods that are skipped because their deletion is overdue; if absent, none are. */
  readonly isOverdue?: (pod: JsonObject) => boolean;
}

/**
 * Returns the result of the lookup of a pod's daemon set; `error` is the server's error, or empty if the
 * daemon set exists.
 */
export type DaemonSetLookup = (pod: JsonObject) => { readonly missing: boolean; readonly error: string };

type Verdict =
  | { readonly verdict: 'skip' | 'take' }
  | { readonly verdict: 'warn'; readonly take: boolean; readonly message: string }
  | { readonly verdict: 'refuse'; readonly message: string };

export interface DrainPlan {
  readonly pods: readonly JsonObject[];
  /** One line; empty if there are no warnings. */
  readonly warnings: string;
  /** Reasons why the node cannot be drained with these options; empty if it can. */
  readonly errors: readonly string[];
}

export function planDrain(
  pods: readonly JsonObject[],
  options: DrainOptions,
  daemonSetOf: DaemonSetLookup,
): DrainPlan {
  const judged = pods.map((pod) => ({ pod, ...judge(pod, options, daemonSetOf) }));
  return {
    pods: judged.filter(takes).map(({ pod }) => pod),
    warnings: byMessage(judged.flatMap((entry) => (entry.verdict === 'warn' ? [entry] : []))).join('; '),
    errors: byMessage(judged.flatMap((entry) => (entry.verdict === 'refuse' ? [entry] : []))).map(
      (text) => `cannot delete ${text}`,
    ),
  };
}

/** Returns the controller in the pod's owner references. */
export const controllerOf = (pod: JsonObject): JsonObject | undefined =>
  recordsAt(pod, 'metadata', 'ownerReferences').find(({ controller }) => controller === true);

export const isOfDaemonSet = (pod: JsonObject): boolean => controllerOf(pod)?.kind === 'DaemonSet';

/**
 * Returns the time at which a deleted pod counts as overdue: `afterSeconds` after its deletionTimestamp;
 * undefined for a pod that is not being deleted. kubectl compares whole seconds, so it waits up to a second
 * longer.
 */
export function overdueAt(pod: JsonObject, afterSeconds: number): number | undefined {
  const { deletionTimestamp } = metadataOf(pod);
  return deletionTimestamp === undefined
    ? undefined
    : Date.parse(deletionTimestamp) + (afterSeconds + 1) * 1000;
}

/** Applies the filters in kubectl's order; a later filter overrides a warning of an earlier one. */
function judge(pod: JsonObject, options: DrainOptions, daemonSetOf: DaemonSetLookup): Verdict {
  if (options.isOverdue?.(pod)) return { verdict: 'skip' };
  if (isOfDaemonSet(pod) && !hasEnded(pod)) {
    const verdict = judgeDaemonSet(options, daemonSetOf(pod));
    if (!takes(verdict)) return verdict;
  }
  if (isMirror(pod)) return { verdict: 'skip' };
  if (hasEnded(pod)) return { verdict: 'take' };
  if (hasLocalData(pod) && !options.deleteEmptyDirData)
    return {
      verdict: 'refuse',
      message: 'Pods with local storage (use --delete-emptydir-data to override)',
    };
  return controllerOf(pod) ? { verdict: 'take' } : judgeUnmanaged(options);
}

const takes = (verdict: Verdict): boolean =>
  verdict.verdict === 'take' || (verdict.verdict === 'warn' && verdict.take);

/** Returns true for a pod that mirrors a file on the node: deleting the mirror pod does not end the pod. */
const isMirror = (pod: JsonObject): boolean =>
  metadataOf(pod).annotations['kubernetes.io/config.mirror'] !== undefined;

const hasLocalData = (pod: JsonObject): boolean =>
  recordsAt(pod, 'spec', 'volumes').some((volume) => valueAt(volume, 'emptyDir') !== undefined);

function judgeUnmanaged({ force }: DrainOptions): Verdict {
  return force
    ? { verdict: 'warn', take: true, message: 'deleting Pods that declare no controller' }
    : {
        verdict: 'refuse',
        // The message is kubectl's; its list of errors repeats it.
        message: 'cannot delete Pods that declare no controller (use --force to override)',
      };
}

function judgeDaemonSet(
  { force, ignoreDaemonSets }: DrainOptions,
  { missing, error }: ReturnType<DaemonSetLookup>,
): Verdict {
  if (missing && force) return { verdict: 'warn', take: true, message: error };
  if (error !== '') return { verdict: 'refuse', message: error };
  return ignoreDaemonSets
    ? { verdict: 'warn', take: false, message: 'ignoring DaemonSet-managed Pods' }
    : { verdict: 'refuse', message: 'DaemonSet-managed Pods (use --ignore-daemonsets to ignore)' };
}

/** Returns one line for each message: `message: namespace/name, namespace/name`. */
function byMessage(entries: readonly { readonly pod: JsonObject; readonly message: string }[]): string[] {
  return [...Map.groupBy(entries, ({ message }) => message)].map(([message, group]) => {
    const names = group.map(({ pod }) => `${metadataOf(pod).namespace}/${metadataOf(pod).name}`);
    return `${message}: ${names.join(', ')}`;
  });
}

/** Joins the errors of one node like Go: one error alone, several in brackets. */
export const joined = (errors: readonly string[]): string => {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
};
