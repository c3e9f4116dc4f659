/** Facts about an autoscaler's pods, and the proposal of one metric. Pure. */
import type { MetricStatus } from '../../api/autoscaling/v2/types.gen.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { PodMetrics } from '../../api/metrics/v1beta1/pod-metrics.ts';
import { formatQuantity, parseQuantity, quantityMilliValue } from '../../apimachinery/quantity.ts';
import type { Series } from './readings-plan.ts';
import type { Question } from './replicas-plan.ts';

/** Facts on which the decision about an autoscaler is based. */
export interface Known extends Omit<Question, 'sample' | 'isCpu'> {
  readonly namespace: string;
  readonly pods: readonly Pod[];
  /** Usage by `namespace/name`; a text is the reason why none is available. */
  readonly metrics: ReadonlyMap<string, PodMetrics> | string;
  /** Number of existing replicas, whatever number is requested. */
  readonly statusReplicas: number;
  /** Label that holds the name of the pod in a series. */
  readonly podLabel: string;
}

/** Answer to the query of one metric; a text is the reason why there is none. */
export type Reading = readonly Series[] | string;

export interface Proposal {
  readonly replicas: number;
  readonly status: MetricStatus;
  /** Name of the metric in conditions and events. */
  readonly name: string;
}

/** Returns the quantity in thousandths. */
export const milliOf = (text: string): number => quantityMilliValue(parseQuantity(text));

/** Returns the quantity text of a number of thousandths. */
export const milliText = (milli: number): string =>
  formatQuantity({ nano: BigInt(Math.round(milli)) * 1_000_000n, format: 'DecimalSI' });
