/** The workload that creates a pod, in the form `WORD/NAME`. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { nameOf, type ObjectRef } from './kinds.ts';
import { controllerOf, type Snapshot } from './snapshot.ts';

/**
 * Returns the workload whose template a user changes: the topmost controller; undefined for a pod without
 * one.
 */
export function workloadOf(
  seen: Snapshot,
  pod: JsonObject,
): { readonly ref: ObjectRef; readonly name: string } | undefined {
  let ref = controllerOf(pod)?.ref;
  for (let above = ref && seen.get(ref); above; ) {
    const next = controllerOf(above)?.ref;
    if (!next) break;
    ref = next;
    above = seen.get(next);
  }
  return ref && { ref, name: nameOf(ref) };
}
