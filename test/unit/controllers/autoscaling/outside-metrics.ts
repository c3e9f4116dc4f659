/** Metrics of the tests, and what the controller knows about their pods. */
import type { MetricSpec } from '../../../../src/api/autoscaling/v2/types.gen.ts';
import type { Known, Reading } from '../../../../src/controllers/autoscaling/proposal-plan.ts';
import { at, pod, start } from '../objects.ts';

const now = start + 3_600_000;
export const ready = (name: string) => {
  const one = pod(name, { readyAt: 0 });
  return { ...one, status: { ...one.status, phase: 'Running' as const, startTime: at(0) } };
};
export const unready = (name: string) => {
  const one = ready(name);
  const conditions = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: at(0) }];
  return { ...one, status: { ...one.status, conditions } };
};
export const known = (count: number, over: Partial<Known> = {}): Known => ({
  namespace: 'shop',
  pods: Array.from({ length: count }, (_, index) => ready(`p${index}`)),
  metrics: 'not asked',
  podLabel: 'pod',
  currentReplicas: count,
  statusReplicas: count,
  tolerance: { up: 0.1, down: 0.1 },
  now,
  ...over,
});
export const ofPods = (averageValue: string): MetricSpec => ({
  type: 'Pods',
  pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue } },
});
export const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'web' };
export const ofObject = (target: object): MetricSpec => ({
  type: 'Object',
  object: { metric: { name: 'hits' }, describedObject, target: target as never },
});
export const ofExternal = (target: object, selector?: object): MetricSpec => ({
  type: 'External',
  external: { metric: { name: 'queue', ...(selector && { selector }) }, target: target as never },
});
export const value = (text: string) => ({ type: 'Value', value: text });
export const share = (text: string) => ({ type: 'AverageValue', averageValue: text });
export const lines = (...values: readonly number[]): Reading =>
  values.map((one, index) => ({ labels: { pod: `p${index}` }, value: one }));
