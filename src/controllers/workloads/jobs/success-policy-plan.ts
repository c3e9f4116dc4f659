/** Evaluates a Job's `successPolicy` for the succeeded indexes. Pure. */
import type { Job } from '../../../api/batch/v1/job.ts';
import { type IndexSet, parseIndexSet, sizeOf, sizeOfShared } from './index-set-plan.ts';

/** Returns the number of the first rule that is met, or undefined if none is. */
export function metSuccessRule({ spec }: Job, succeeded: IndexSet): number | undefined {
  if (succeeded.length === 0) return undefined;
  const met = (spec.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    const enough = (count: number) => succeededCount !== undefined && count >= succeededCount;
    if (succeededIndexes === undefined) return enough(sizeOf(succeeded));
    const wanted = parseIndexSet(succeededIndexes, spec.completions ?? 0);
    const found = sizeOfShared(wanted, succeeded);
    return wanted.length > 0 && (found === sizeOf(wanted) || enough(found));
  });
  return met < 0 ? undefined : met;
}
