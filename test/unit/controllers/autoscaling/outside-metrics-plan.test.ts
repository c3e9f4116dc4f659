/**
 * Replica counts for external metrics: the numbers are those of upstream's tests, the wording is minik8s'
 * own.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MetricSpec } from '../../../../src/api/autoscaling/v2/types.gen.ts';
import { proposalOf } from '../../../../src/controllers/autoscaling/metrics-plan.ts';
import type { Known, Reading } from '../../../../src/controllers/autoscaling/proposal-plan.ts';
import {
  known,
  lines,
  ofExternal,
  ofObject,
  ofPods,
  ready,
  share,
  unready,
  value,
} from './outside-metrics.ts';

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
