/**
 * Computes the number of replicas for a single value, of an object or from outside (upstream:
 * pkg/controller/podautoscaler/replica_calculator.go). Pure.
 */

import { podReady } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { isWithin, MetricFailure, type Tolerance } from './replicas-plan.ts';

interface Question {
  /** Value in thousandths, like the target. */
  readonly value: number;
  readonly target: number;
  readonly tolerance: Tolerance;
}

/** Returns the number of ready pods multiplied by the ratio of value and target. */
export function replicasByValue(
  { value, target, tolerance }: Question,
  current: number,
  pods: readonly Pod[],
): number {
  const ratio = value / target;
  if (isWithin(ratio, tolerance)) return current;
  if (pods.length === 0)
    throw new MetricFailure(
      'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    );
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && podReady(pod)).length;
  return Math.ceil(ratio * ready);
}

/**
 * Returns the number of replicas at which the share of each replica equals the target. `current` is the
 * number of existing replicas.
 */
export function replicasByShare(
  { value, target, tolerance }: Question,
  current: number,
): { readonly replicas: number; readonly average: number } {
  const needed = Math.ceil(value / target);
  if (current === 0) return { replicas: needed, average: value };
  const isNear = isWithin(value / (target * current), tolerance);
  return { replicas: isNear ? current : needed, average: Math.ceil(value / current) };
}
