/**
 * Replica counts for external metrics: the numbers are those of upstream's tests, the wording is minik8s'
 * own.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MetricSpec } from '../../../../src/api/autoscaling/v2/types.gen.ts';
import { proposalOf, troubleOf } from '../../../../src/controllers/autoscaling/metrics-plan.ts';
import type { Known, Reading } from '../../../../src/controllers/autoscaling/proposal-plan.ts';
import { MetricFailure } from '../../../../src/controllers/autoscaling/replicas-plan.ts';
import { at, pod, start } from '../objects.ts';

const now = start + 3_600_000;
const ready = (name: string) => {
  const one = pod(name, { readyAt: 0 });
  return { ...one, status: { ...one.status, phase: 'Running' as const, startTime: at(0) } };
};
const unready = (name: string) => {
  const one = ready(name);
  const conditions = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: at(0) }];
  return { ...one, status: { ...one.status, conditions } };
};
const known = (count: number, over: Partial<Known> = {}): Known => ({
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
const ofPods = (averageValue: string): MetricSpec => ({
  type: 'Pods',
  pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue } },
});
const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'web' };
const ofObject = (target: object): MetricSpec => ({
  type: 'Object',
  object: { metric: { name: 'hits' }, describedObject, target: target as never },
});
const ofExternal = (target: object, selector?: object): MetricSpec => ({
  type: 'External',
  external: { metric: { name: 'queue', ...(selector && { selector }) }, target: target as never },
});
const value = (text: string) => ({ type: 'Value', value: text });
const share = (text: string) => ({ type: 'AverageValue', averageValue: text });
const lines = (...values: readonly number[]): Reading =>
  values.map((one, index) => ({ labels: { pod: `p${index}` }, value: one }));

describe('the replicas for a metric of pods', () => {
  const table: [string, Known, Reading, string, number, string][] = [
    ['are more if the metric is above its target', known(3), lines(20, 10, 30), '15', 4, '20'],
    ['are fewer if the metric is below its target', known(5), lines(12, 12, 12, 12, 12), '20', 3, '12'],
    ['are unchanged if the metric is near its target', known(3), lines(0.95, 1, 1.05), '1', 3, '1'],
    [
      'count pods that are not ready, because the metric is not the CPU',
      known(3, { pods: [ready('p0'), ready('p1'), unready('p2')] }),
      lines(50, 10, 30),
      ...(['15', 6, '30'] as const),
    ],
    ['count pods without a value as idle when scaling up', known(3), lines(30, 30), '15', 4, '30'],
    ['count pods without a value as at the target when scaling down', known(4), lines(1, 1), '10', 3, '1'],
    ['ignore pods of other targets', known(2), lines(10, 10, 500), '10', 2, '10'],
    ['ignore a value that is not a number', known(2), lines(20, Number.NaN), '10', 2, '20'],
    ['ignore an infinite value', known(2), lines(20, Number.POSITIVE_INFINITY), '10', 2, '20'],
    ['are none if the metric is negative', known(2), lines(-5, -5), '10', 0, '-5'],
    [
      'are the maximum if the metric is huge',
      known(2),
      lines(1e300, 1e300),
      '1',
      2 ** 31 - 1,
      '9223372036854775808m',
    ],
    [
      'add up the series of one pod',
      known(1),
      [
        { labels: { pod: 'p0', path: '/a' }, value: 1 },
        { labels: { pod: 'p0', path: '/b' }, value: 2 },
      ],
      ...(['1', 3, '3'] as const),
    ],
  ];
  for (const [what, all, reading, target, replicas, average] of table)
    it(what, () => {
      const proposal = proposalOf(ofPods(target), all, reading);
      assert.deepEqual([proposal.replicas, proposal.status.pods?.current.averageValue], [replicas, average]);
      assert.equal(proposal.name, 'pods metric rps');
    });
});

describe('the replicas for one value', () => {
  const table: [string, MetricSpec, Known, Reading, number, object][] = [
    [
      'are more for an object above its target',
      ofObject(value('15')),
      known(3),
      lines(20),
      4,
      { value: '20' },
    ],
    [
      'are fewer for an object below its target',
      ofObject(value('20')),
      known(5),
      lines(12),
      3,
      { value: '12' },
    ],
    [
      'are unchanged for an object near its target',
      ofObject(value('20666m')),
      known(3),
      lines(20.666),
      3,
      { value: '20666m' },
    ],
    [
      'are more for an object above its target for each pod',
      ofObject(share('10')),
      known(3),
      lines(40),
      4,
      { averageValue: '13334m' },
    ],
    [
      'are fewer for an object below its target for each pod',
      ofObject(share('20')),
      known(5),
      lines(60),
      3,
      { averageValue: '12' },
    ],
    [
      'are unchanged for an object near its target for each pod',
      ofObject(share('5042m')),
      known(4),
      lines(20.166),
      4,
      { averageValue: '5042m' },
    ],
    [
      'are more for an external metric above its target',
      ofExternal(value('4400m')),
      known(3),
      lines(8.6),
      6,
      { value: '8600m' },
    ],
    [
      'are fewer for an external metric below its target',
      ofExternal(value('14334m')),
      known(5),
      lines(8.6),
      3,
      { value: '8600m' },
    ],
    [
      'are unchanged for an external metric near its target',
      ofExternal(value('8888m')),
      known(3),
      lines(8.6),
      3,
      { value: '8600m' },
    ],
    [
      'are more for an external metric above its target for each pod',
      ofExternal(share('2150m')),
      known(3),
      lines(8.6),
      4,
      { averageValue: '2867m' },
    ],
    [
      'are fewer for an external metric below its target for each pod',
      ofExternal(share('2867m')),
      known(5),
      lines(8.6),
      3,
      { averageValue: '1720m' },
    ],
    [
      'add up several series of an external metric',
      ofExternal(value('1')),
      known(1),
      lines(1, 2, 3),
      6,
      { value: '6' },
    ],
    [
      'are none for an external metric of 0',
      ofExternal(share('1')),
      known(3),
      lines(0),
      0,
      { averageValue: '0' },
    ],
    [
      'are none for a negative external metric',
      ofExternal(value('1')),
      known(3),
      lines(-4),
      0,
      { value: '-4' },
    ],
    [
      'are the maximum for a huge external metric',
      ofExternal(share('1')),
      known(3),
      lines(1e12),
      2 ** 31 - 1,
      { averageValue: '333333333333334m' },
    ],
    [
      'are computed from the ready pods alone',
      ofExternal(value('4')),
      known(3, { pods: [ready('p0'), unready('p1'), unready('p2')] }),
      lines(8),
      ...([2, { value: '8' }] as const),
    ],
    [
      'are computed from the existing pods, not from spec.replicas',
      ofExternal(share('2')),
      known(1, { currentReplicas: 8, statusReplicas: 4 }),
      lines(8),
      ...([4, { averageValue: '2' }] as const),
    ],
    [
      'are computed for a target without pods',
      ofExternal(share('2')),
      known(0, { currentReplicas: 1, statusReplicas: 0 }),
      lines(8),
      ...([4, { averageValue: '8' }] as const),
    ],
  ];
  for (const [what, metric, all, reading, replicas, current] of table)
    it(what, () => {
      const proposal = proposalOf(metric, all, reading);
      const { object, external } = proposal.status;
      assert.deepEqual([proposal.replicas, (object ?? external)?.current], [replicas, current]);
    });

  it("have upstream's names of metrics", () => {
    const nameOf = (metric: MetricSpec) => proposalOf(metric, known(1), lines(1)).name;
    assert.equal(nameOf(ofObject(value('1'))), 'Service metric hits');
    assert.equal(nameOf(ofExternal(value('1'))), 'external metric queue(nil)');
    assert.equal(
      nameOf(
        ofExternal(share('1'), {
          matchLabels: { b: '2', a: '1' },
          matchExpressions: [{ key: 'c', operator: 'In', values: ['x', 'y'] }],
        }),
      ),
      'external metric queue(&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:c,Operator:In,Values:[x y],},},})',
    );
  });
});

describe('the message if no value of the metric is available', () => {
  const none: Known = known(0);
  const table: [string, MetricSpec, Known, Reading, string, string, string][] = [
    [
      'no source',
      ofPods('1'),
      known(1),
      'why',
      'FailedGetPodsMetric',
      'unable to get metric rps: unable to fetch metrics from custom metrics API: why',
      'failed to get pods metric value: ',
    ],
    [
      'no series of pods',
      ofPods('1'),
      known(1),
      [],
      'FailedGetPodsMetric',
      'unable to get metric rps: no metrics returned from custom metrics API',
      'failed to get pods metric value: ',
    ],
    [
      'series of other pods only',
      ofPods('1'),
      known(1),
      [{ labels: { pod: 'x' }, value: 1 }],
      'FailedGetPodsMetric',
      'did not receive metrics for targeted pods (pods might be unready)',
      'failed to get pods metric value: ',
    ],
    [
      'series without the label pod',
      ofPods('1'),
      known(1),
      [{ labels: {}, value: 1 }],
      'FailedGetPodsMetric',
      'unable to get metric rps: its query must answer with the label pod, such as sum by (pod) (…)',
      'failed to get pods metric value: ',
    ],
    [
      'no series of an object',
      ofObject(value('1')),
      known(1),
      [],
      'FailedGetObjectMetric',
      'unable to get metric hits: no metrics returned from custom metrics API on Service shop/web',
      'failed to get object metric value: ',
    ],
    [
      'NaN for an object for each pod',
      ofObject(share('1')),
      known(1),
      lines(Number.NaN),
      'FailedGetObjectMetric',
      'failed to get hits object metric: unable to get metric hits: its value is NaN on Service shop/web',
      'failed to get object metric value: ',
    ],
    [
      'an object’s target of the wrong type',
      ofObject({ type: 'Utilization', averageUtilization: 1 }),
      known(1),
      lines(1),
      'FailedGetObjectMetric',
      'invalid object metric source: neither a value target nor an average value target was set',
      'failed to get object metric value: ',
    ],
    [
      'an external source that does not answer',
      ofExternal(value('1')),
      known(1),
      'why',
      'FailedGetExternalMetric',
      'failed to get external metric queue: unable to get external metric shop/queue/nil: unable to fetch metrics from external metrics API: why',
      'failed to get queue external metric value: ',
    ],
    [
      'an infinite external value, for each pod',
      ofExternal(share('1'), { matchLabels: { a: 'b' } }),
      known(1),
      lines(1, Number.NEGATIVE_INFINITY),
      'FailedGetExternalMetric',
      'failed to get queue external metric: unable to get external metric shop/queue/&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}: its value is -Infinity',
      'failed to get queue external metric value: ',
    ],
    [
      'no pods although the target is a value',
      ofExternal(value('1')),
      { ...none, currentReplicas: 2 },
      lines(5),
      'FailedGetExternalMetric',
      'failed to get external metric queue: unable to calculate ready pods: no pods returned by selector while calculating replica count',
      'failed to get queue external metric value: ',
    ],
    [
      'missing resource metrics of pods',
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
      known(1),
      '',
      'FailedGetResourceMetric',
      'failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: not asked',
      'failed to get cpu resource metric value: ',
    ],
    [
      'resource metrics without the pods of the target',
      { type: 'Resource', resource: { name: 'memory', target: share('1') } },
      known(1, { metrics: new Map() }),
      '',
      'FailedGetResourceMetric',
      'failed to get memory usage: unable to get metrics for resource memory: no metrics returned from resource metrics API',
      'failed to get memory resource metric value: ',
    ],
    [
      'the usage of a container that does not exist',
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container: 'x', target: share('1') },
      },
      known(1, {
        metrics: new Map([
          [
            'default/p0',
            {
              metadata: { namespace: 'default', name: 'p0' },
              containers: [{ name: 'app', usage: {} }],
            } as never,
          ],
        ]),
      }),
      '',
      'FailedGetContainerResourceMetric',
      'failed to get cpu usage: unable to get metrics for resource cpu: failed to get container metrics: container x not present in metrics for pod default/p0',
      'failed to get x container metric value: ',
    ],
    [
      'an invalid type',
      { type: 'Odd' },
      known(1),
      '',
      'InvalidMetricSourceType',
      'unknown metric source type "Odd"',
      '',
    ],
  ];
  for (const [what, metric, all, reading, reason, message, before] of table)
    it(what, () => {
      try {
        proposalOf(metric, all, reading);
      } catch (error) {
        if (!(error instanceof MetricFailure)) throw error;
        assert.deepEqual(troubleOf(metric, error), { reason, message, among: `${before}${message}` });
        return;
      }
      assert.fail('it is known');
    });
});
