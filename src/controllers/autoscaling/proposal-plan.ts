/** What is known of an autoscaler's pods, and what one metric makes of it. Pure. */
import type { MetricStatus } from '../../api/autoscaling/v2/types.gen.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import type { PodMetrics } from '../../api/metrics/v1beta1/pod-metrics.ts';
import { formatQuantity, parseQuantity, quantityMilliValue } from '../../apimachinery/quantity.ts';
import type { Series } from './readings-plan.ts';
import type { Question } from './replicas-plan.ts';

/** What is known when an autoscaler is decided on. */
export interface Known extends Omit<Question, 'sample' | 'isCpu'> {
  readonly namespace: string;
  readonly pods: readonly Pod[];
  /** By `namespace/name`; a text says why nothing is known. */
  readonly metrics: ReadonlyMap<string, PodMetrics> | string;
  /** Those that there are, whatever is asked for. */
  readonly statusReplicas: number;
  /** The label by which series name their pod. */
  readonly podLabel: string;
}

/** What was answered about one metric; a text says why nothing is known. */
export type Reading = readonly Series[] | string;

export interface Proposal {
  readonly replicas: number;
  readonly status: MetricStatus;
  /** What it is called in conditions and events. */
  readonly name: string;
}

/** Thousandths of the quantity in the text. */
export const milliOf = (text: string): number => quantityMilliValue(parseQuantity(text));

/** The text of so many thousandths. */
export const milliText = (milli: number): string =>
  formatQuantity({ nano: BigInt(Math.round(milli)) * 1_000_000n, format: 'DecimalSI' });
