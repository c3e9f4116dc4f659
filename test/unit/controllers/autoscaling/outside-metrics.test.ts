/**
 * An autoscaler that scales by metrics of Prometheus: the rate of its queries, and its behavior without an
 * answer.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { deploymentResource } from '../../../../src/api/apps/v1/deployment.ts';
import {
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalerResource,
} from '../../../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import type { MetricSpec } from '../../../../src/api/autoscaling/v2/types.gen.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { newConflict } from '../../../../src/apimachinery/status-error.ts';
import { horizontalController } from '../../../../src/controllers/autoscaling/horizontal.ts';
import { usualQueries } from '../../../../src/controllers/autoscaling/metric-query-plan.ts';
import { SourceSilent } from '../../../../src/controllers/autoscaling/outside-metrics.ts';
import type { Series } from '../../../../src/controllers/autoscaling/readings-plan.ts';
import { at, deployment, meta, pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const target = { type: 'AverageValue', averageValue: '10' };
const ofPods = (name: string): MetricSpec => ({ type: 'Pods', pods: { metric: { name }, target } });
const external = (name: string): MetricSpec => ({ type: 'External', external: { metric: { name }, target } });
const autoscaler = (name: string, metrics: MetricSpec[]): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: meta(name),
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas: 1,
    maxReplicas: 10,
    metrics,
  },
});

let world: ScriptedWorld;
let queries: string[];
let answer: (query: string) => readonly Series[];
beforeEach(() => {
  queries = [];
  answer = () => [];
  world = new ScriptedWorld(
    horizontalController({
      metricSource: {
        queries: usualQueries,
        ask: async (query) => {
          queries.push(query);
          return answer(query);
        },
      },
    }),
  );
});

/** Creates a Deployment `web` of two pods that have been ready for long. */
function two(): void {
  const one = deployment(2);
  world.put(deploymentResource, { ...one, status: { ...one.status, replicas: 2 } });
  for (const name of ['p0', 'p1']) {
    const one = pod(name, { readyAt: -7200 });
    world.put(podResource, { ...one, status: { ...one.status, startTime: at(-7200) } });
  }
}
const put = (...metrics: MetricSpec[]) =>
  world.put(horizontalPodAutoscalerResource, autoscaler('web', metrics));
const look = () => world.reconcile('default/web');
const replicas = () => world.stored(deploymentResource, 'default/web')?.spec.replicas;
const status = (name = 'web') => world.stored(horizontalPodAutoscalerResource, `default/${name}`)?.status;
const active = (name?: string) => status(name)?.conditions?.find(({ type }) => type === 'ScalingActive');
const each = (value: number) => ['p0', 'p1'].map((name): Series => ({ labels: { pod: name }, value }));

describe('an autoscaler with metrics of Prometheus', () => {
  it('requests each metric once, scales by the highest, and shows the values', async () => {
    two();
    put(ofPods('rps'), external('queue'));
    answer = (query) => (query.includes('rps') ? each(20) : [{ labels: {}, value: 55 }]);
    await look();
    assert.deepEqual(queries, [
      'sum by (pod) ({__name__="rps",namespace="default",pod=~"p0|p1"})',
      'sum({__name__="queue",namespace="default"})',
    ]);
    assert.equal(replicas(), 6);
    assert.match(
      world.told.join(),
      /SuccessfulRescale web: New size: 6; reason: external metric queue\(nil\) above target/,
    );
    assert.deepEqual(status()?.currentMetrics, [
      { type: 'Pods', pods: { metric: { name: 'rps' }, current: { averageValue: '20' } } },
      { type: 'External', external: { metric: { name: 'queue' }, current: { averageValue: '27500m' } } },
    ]);
  });

  it('scales up by one metric while another fails, never scales down, and shows which metric is unknown', async () => {
    two();
    put(external('broken'), ofPods('rps'));
    answer = (query) => {
      if (query.includes('broken')) throw new Error('Prometheus answered 422, bad_data: odd');
      return each(20);
    };
    await look();
    assert.equal(replicas(), 4);
    assert.deepEqual([active()?.status, active()?.reason], ['True', 'ValidMetricFound']);
    assert.match(world.told.join(), /Warning FailedGetExternalMetric web: .*422, bad_data: odd/);
    assert.deepEqual(
      status()?.currentMetrics?.map(({ type }) => type),
      ['', 'Pods'],
    );
    world.put(deploymentResource, deployment(2));
    answer = (query) => {
      if (query.includes('broken')) throw new Error('odd');
      return each(1);
    };
    await world.clock.advance(600_000);
    await look();
    assert.equal(replicas(), 2);
    assert.deepEqual([active()?.status, active()?.reason], ['False', 'FailedGetExternalMetric']);
    assert.match(
      world.told.at(-1) ?? '',
      /FailedComputeMetricsReplicas web: invalid metrics \(1 invalid out of 2\), first error is: failed to get broken external metric value: /,
    );
  });

  it('requests a metric without a value again only after a pause, for all autoscalers', async () => {
    two();
    put(external('a'), external('b'));
    answer = () => {
      throw new SourceSilent('Prometheus at http://p does not answer: nothing within 5 s');
    };
    await look();
    assert.equal(queries.length, 1);
    assert.match(active()?.message ?? '', /does not answer: nothing within 5 s/);
    answer = () => [{ labels: {}, value: 40 }];
    await world.clock.advance(15_000);
    await look();
    assert.equal(queries.length, 3);
    assert.equal(replicas(), 4);
  });

  it('spends at most ten seconds on all metrics', async () => {
    two();
    put(...['a', 'b', 'c', 'd'].map(external));
    const slow = new ScriptedWorld(
      horizontalController({
        metricSource: {
          queries: usualQueries,
          ask: (query) => {
            queries.push(query);
            return new Promise((resolve) =>
              slow.clock.after(4_000, () => resolve([{ labels: {}, value: 1 }])),
            );
          },
        },
      }),
    );
    world = slow;
    two();
    put(...['a', 'b', 'c', 'd'].map(external));
    const looked = look();
    for (let n = 0; n < 4; n++) await slow.clock.advance(4_000);
    await looked;
    assert.equal(queries.length, 3);
    assert.match(slow.told.join(), /the metrics before it took 10 s/);
  });

  it('requests at most a hundred metrics, and reports that there are more', async () => {
    two();
    put(...Array.from({ length: 103 }, (_, index) => external(`m${index}`)));
    answer = () => [{ labels: {}, value: 20 }];
    await look();
    assert.equal(queries.length, 100);
    assert.equal(world.told.filter((line) => line.includes('only the first 100 metrics')).length, 3);
    assert.equal(active()?.status, 'True');
  });

  it('does nothing if it is changed or deleted in the meantime', async () => {
    for (const change of [
      () => put(external('b')),
      () => world.seen.remove(horizontalPodAutoscalerResource, 'default/web'),
    ]) {
      two();
      put(external('a'));
      answer = () => {
        change();
        return [{ labels: {}, value: 50 }];
      };
      assert.equal(await look(), undefined);
      assert.equal(replicas(), 2);
    }
    assert.deepEqual(world.told, []);
  });

  it('decides by the number of replicas at the time of the answer', async () => {
    two();
    put(external('a'));
    answer = () => {
      const one = deployment(5);
      world.put(deploymentResource, { ...one, status: { ...one.status, replicas: 5 } });
      return [{ labels: {}, value: 50 }];
    };
    await look();
    assert.deepEqual([replicas(), status()?.currentReplicas], [5, 5]);
    assert.deepEqual(world.told, []);
  });

  it('requests no metric if it cannot scale: no target, no replicas, or two autoscalers', async () => {
    put(external('a'));
    await look();
    world.put(deploymentResource, deployment(0));
    await world.clock.advance(15_000);
    await look();
    two();
    world.put(horizontalPodAutoscalerResource, {
      ...autoscaler('other', [external('a')]),
      spec: autoscaler('web', [external('a')]).spec,
    });
    await world.clock.advance(15_000);
    await look();
    assert.deepEqual(queries, []);
    assert.equal(active()?.reason, 'AmbiguousSelector');
  });

  it('reports which setting is missing if there is no Prometheus', async () => {
    world = new ScriptedWorld(horizontalController({}));
    two();
    put(ofPods('rps'));
    await look();
    assert.equal(active()?.status, 'False');
    assert.equal(
      active()?.message,
      'the HPA was unable to compute the replica count: unable to get metric rps: unable to fetch metrics from custom metrics API: no source of such metrics is configured: start the control plane with --prometheus-url',
    );
  });

  it('reports an invalid metric name without a request', async () => {
    two();
    put({
      type: 'External',
      external: { metric: { name: 'queue', selector: { matchLabels: { 'a/b': 'c' } } }, target },
    });
    await look();
    assert.deepEqual(queries, []);
    assert.match(active()?.message ?? '', /"a\/b" is not the name of a label in Prometheus/);
  });
});

describe('a status that another client changes during the reconciliation', () => {
  it('is written nevertheless, and the scaling is recorded', async () => {
    two();
    put(ofPods('rps'));
    answer = () => each(1000);
    let refused = 0;
    world.refuse = (verb, name) =>
      verb === 'updateStatus' && refused++ === 0
        ? newConflict(horizontalPodAutoscalerResource, name, 'changed')
        : undefined;
    await look();
    assert.equal(replicas(), 6);
    assert.equal(status()?.desiredReplicas, 6);
    // The limits are four pods in fifteen seconds, or twice as many pods: these have been added.
    put(...(autoscaler('web', [ofPods('rps'), external('queue')]).spec.metrics ?? []));
    world.sync(deploymentResource);
    await look();
    assert.equal(replicas(), 6);
  });
});

describe('autoscalers of different targets', () => {
  it('that select the same pods report AmbiguousSelector, and neither scales', async () => {
    two();
    world.put(deploymentResource, { ...deployment(2), metadata: meta('more') });
    for (const name of ['web', 'more'])
      world.put(horizontalPodAutoscalerResource, autoscaler(name, [ofPods('rps')]));
    answer = () => each(100);
    for (const name of ['web', 'more']) {
      await world.reconcile(`default/${name}`);
      assert.equal(active(name)?.reason, 'AmbiguousSelector');
      assert.match(
        active(name)?.message ?? '',
        /controlled by multiple HPAs: \[\{more default\} \{web default\}\]$/,
      );
    }
    assert.equal(replicas(), 2);
  });
});

describe('targets that an autoscaler cannot scale', () => {
  const table: [string, string | undefined, string, string][] = [
    ['an invalid kind', 'apps/v1', 'Odd', 'no matches for kind "Odd" in group "apps"'],
    ['a kind of another group', undefined, 'Deployment', 'no matches for kind "Deployment" in group ""'],
    [
      'a kind without a scale',
      'v1',
      'ConfigMap',
      'the server could not find the requested resource: a ConfigMap cannot be scaled',
    ],
    ['a missing target', 'apps/v1', 'Deployment', 'deployments.apps "web" not found'],
  ];
  for (const [what, apiVersion, kind, message] of table)
    it(`are reported: ${what}`, async () => {
      const hpa = autoscaler('web', [ofPods('rps')]);
      const scaleTargetRef = { kind, name: 'web', ...(apiVersion && { apiVersion }) };
      world.put(horizontalPodAutoscalerResource, { ...hpa, spec: { ...hpa.spec, scaleTargetRef } });
      await look();
      const able = status()?.conditions?.find(({ type }) => type === 'AbleToScale');
      assert.deepEqual(
        [able?.status, able?.reason, able?.message],
        [
          'False',
          'FailedGetScale',
          `the HPA controller was unable to get the target's current scale: ${message}`,
        ],
      );
      assert.deepEqual(world.told, [`Warning FailedGetScale web: ${message}`]);
    });
});
