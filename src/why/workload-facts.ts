/** Readers of a workload for rules. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { numberAt, textAt, valueAt } from '../apimachinery/fields.ts';

/** Numbers of pods of a workload. */
export interface Replicas {
  readonly wanted: number;
  readonly ready: number;
  /** Pods of the current template. */
  readonly updated: number;
  /** Pods that exist. */
  readonly existing: number;
}

export function replicasOf(workload: JsonObject): Replicas {
  switch (textAt(workload, 'kind')) {
    case 'DaemonSet':
      return {
        wanted: numberAt(workload, 'status', 'desiredNumberScheduled'),
        ready: numberAt(workload, 'status', 'numberReady'),
        updated: numberAt(workload, 'status', 'updatedNumberScheduled'),
        existing: numberAt(workload, 'status', 'currentNumberScheduled'),
      };
    case 'Job': {
      const active = numberAt(workload, 'status', 'active');
      const wanted =
        typeof valueAt(workload, 'spec', 'parallelism') === 'number'
          ? numberAt(workload, 'spec', 'parallelism')
          : 1;
      return { wanted, ready: numberAt(workload, 'status', 'ready'), updated: active, existing: active };
    }
    default: {
      const replicas = valueAt(workload, 'spec', 'replicas');
      return {
        wanted: typeof replicas === 'number' ? replicas : 1,
        ready: numberAt(workload, 'status', 'readyReplicas'),
        updated: numberAt(workload, 'status', 'updatedReplicas'),
        existing: numberAt(workload, 'status', 'replicas'),
      };
    }
  }
}

/** Returns whether a workload has fewer pods than it should have; false for a finished Job. */
export function isShort(workload: JsonObject): boolean {
  if (textAt(workload, 'kind') === 'Job' && textAt(workload, 'status', 'completionTime') !== '') return false;
  const { wanted, existing } = replicasOf(workload);
  return existing < wanted;
}
