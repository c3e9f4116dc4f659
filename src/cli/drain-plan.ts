/** Which pods of a node `ctl drain` evicts, and its messages about the others (kubectl's pkg/drain filters). Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { hasEnded, metadataOf, recordsAt, valueAt } from './objects.ts';

export interface DrainOptions {
  readonly force: boolean;
  readonly ignoreDaemonSets: boolean;
  readonly deleteEmptyDirData: boolean;
  /** Pods that are left because they should have ended long ago; absent: none is. */
  readonly isOverdue?: (pod: JsonObject) => boolean;
}

/** What the server said of the daemon set that a pod says it is of: '' when there is one, else the error. */
export type DaemonSetLookup = (pod: JsonObject) => { readonly missing: boolean; readonly error: string };

type Verdict =
  | { readonly verdict: 'skip' | 'take' }
  | { readonly verdict: 'warn'; readonly take: boolean; readonly message: string }
  | { readonly verdict: 'refuse'; readonly message: string };

export interface DrainPlan {
  readonly pods: readonly JsonObject[];
  /** One line, '' when there is nothing to say. */
  readonly warnings: string;
  /** Why the node cannot be drained so; empty when it can. */
  readonly errors: readonly string[];
}

export function planDrain(
  pods: readonly JsonObject[],
  options: DrainOptions,
  daemonSetOf: DaemonSetLookup,
): DrainPlan {
  const judged = pods.map((pod) => ({ pod, ...judge(pod, options, daemonSetOf) }));
  return {
    pods: judged.flatMap((entry) =>
      entry.verdict === 'take' || (entry.verdict === 'warn' && entry.take) ? [entry.pod] : [],
    ),
    warnings: byMessage(judged.flatMap((entry) => (entry.verdict === 'warn' ? [entry] : []))).join('; '),
    errors: byMessage(judged.flatMap((entry) => (entry.verdict === 'refuse' ? [entry] : []))).map(
      (text) => `cannot delete ${text}`,
    ),
  };
}

/** The controller that a pod says it is of. */
export const controllerOf = (pod: JsonObject): JsonObject | undefined =>
  recordsAt(pod, 'metadata', 'ownerReferences').find(({ controller }) => controller === true);

export const isOfDaemonSet = (pod: JsonObject): boolean => controllerOf(pod)?.kind === 'DaemonSet';

/**
 * When a deleted pod counts as overdue: `afterSeconds` after its deletionTimestamp; undefined for a pod that is not being
 * deleted. kubectl compares whole seconds, so it waits up to a second longer.
 */
export function overdueAt(pod: JsonObject, afterSeconds: number): number | undefined {
  const { deletionTimestamp } = metadataOf(pod);
  return deletionTimestamp === undefined
    ? undefined
    : Date.parse(deletionTimestamp) + (afterSeconds + 1) * 1000;
}

/** The filters in kubectl's order; a later one overrides what an earlier one only warned about. */
function judge(pod: JsonObject, options: DrainOptions, daemonSetOf: DaemonSetLookup): Verdict {
  if (options.isOverdue?.(pod)) return { verdict: 'skip' };
  let verdict: Verdict = { verdict: 'take' };
  if (isOfDaemonSet(pod) && !hasEnded(pod)) {
    verdict = judgeDaemonSet(options, daemonSetOf(pod));
    if (verdict.verdict !== 'warn' || !verdict.take) return verdict;
  }
  // A mirror pod shows what a file on the node says: deleting it ends nothing.
  if (metadataOf(pod).annotations['kubernetes.io/config.mirror'] !== undefined) return { verdict: 'skip' };
  if (hasEnded(pod)) return { verdict: 'take' };
  const hasLocalData = recordsAt(pod, 'spec', 'volumes').some(
    (volume) => valueAt(volume, 'emptyDir') !== undefined,
  );
  if (hasLocalData && !options.deleteEmptyDirData)
    return {
      verdict: 'refuse',
      message: 'Pods with local storage (use --delete-emptydir-data to override)',
    };
  if (controllerOf(pod)) return { verdict: 'take' };
  return options.force
    ? { verdict: 'warn', take: true, message: 'deleting Pods that declare no controller' }
    : {
        verdict: 'refuse',
        // kubectl's own words; its list of errors repeats them.
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

/** `message: namespace/name, namespace/name`, one of each message. */
function byMessage(entries: readonly { readonly pod: JsonObject; readonly message: string }[]): string[] {
  return [...Map.groupBy(entries, ({ message }) => message)].map(([message, group]) => {
    const names = group.map(({ pod }) => `${metadataOf(pod).namespace}/${metadataOf(pod).name}`);
    return `${message}: ${names.join(', ')}`;
  });
}

/** Errors of one node as Go joins them: one as it is, several in brackets. */
export const joined = (errors: readonly string[]): string => {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
};
