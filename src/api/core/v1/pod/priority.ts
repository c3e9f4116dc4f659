/** The priority of pods. */
import type { Pod } from '../types.gen.ts';

/** Minimum priority of pods that the system itself requires. */
export const criticalPriority = 2_000_000_000;

export const nodeCriticalClass = 'system-node-critical';

/** The PriorityClasses of every cluster, with their values (upstream: pkg/apis/scheduling/types.go). */
export const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', criticalPriority],
  [nodeCriticalClass, criticalPriority + 1000],
]);

export const priorityOf = ({ spec }: Pod): number =>
  spec.priority ?? systemClasses.get(spec.priorityClassName ?? '') ?? 0;
