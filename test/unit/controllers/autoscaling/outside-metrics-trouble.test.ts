/** Messages if a metric from outside has no value: the reasons are those of upstream's tests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MetricSpec } from '../../../../src/api/autoscaling/v2/types.gen.ts';
import { proposalOf, troubleOf } from '../../../../src/controllers/autoscaling/metrics-plan.ts';
import type { Known, Reading } from '../../../../src/controllers/autoscaling/proposal-plan.ts';
import { MetricFailure } from '../../../../src/controllers/autoscaling/replicas-plan.ts';
import { known, lines, ofExternal, ofObject, ofPods, share, value } from './outside-metrics.ts';

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
