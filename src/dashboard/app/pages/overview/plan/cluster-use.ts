/** Numbers of the overview: what the cluster has, what is used of it, and its requests. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { numberAt, recordsAt, textAt, valueAt } from '../../../../../apimachinery/fields.ts';
import { sumOf, type Use, useIn } from '../../../../../views/usage.ts';
import { conditionOf } from '../../../../../why/pod-facts.ts';
import { type PodHealth, podHealth } from '../../../pods/plan/pod-phase.ts';

export interface NodeCounts {
  readonly total: number;
  readonly ready: number;
  readonly cordoned: number;
  /** Amounts that pods may have on all nodes together. */
  readonly allocatable: Use;
}

export const nodeCounts = (nodes: readonly JsonObject[]): NodeCounts => ({
  total: nodes.length,
  ready: nodes.filter((node) => conditionOf(node, 'Ready')?.status === 'True').length,
  cordoned: nodes.filter((node) => valueAt(node, 'spec', 'unschedulable') === true).length,
  allocatable: sumOf(nodes.map((node) => useIn(node, 'status', 'allocatable'))),
});

/** Returns the number of pods in each state. */
export function podCounts(pods: readonly JsonObject[]): Readonly<Record<PodHealth, number>> {
  const counts = { good: 0, waiting: 0, bad: 0, ending: 0, done: 0 };
  for (const pod of pods) counts[podHealth(pod)]++;
  return counts;
}

/** Returns the usage of all nodes in a list of metrics.k8s.io. */
export const totalUse = (list: JsonObject): Use =>
  sumOf(recordsAt(list, 'items').map((one) => useIn(one, 'usage')));

export interface RequestCounts {
  readonly total: number;
  /** Requests that the server could not serve (5xx). */
  readonly failed: number;
}

/** Returns the finished requests of the API server from the samples of its page of metrics. */
export function requestCounts(samples: readonly JsonObject[]): RequestCounts {
  let [total, failed] = [0, 0];
  for (const sample of samples) {
    if (sample.name !== 'apiserver_request_total') continue;
    const value = numberAt(sample, 'value');
    total += value;
    if (textAt(sample, 'labels', 'code').startsWith('5')) failed += value;
  }
  return { total, failed };
}
