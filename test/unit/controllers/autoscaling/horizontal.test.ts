/** An autoscaler from end to end: the metrics that it reads, the scale, the status and the history. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { deploymentResource } from '../../../../src/api/apps/v1/deployment.ts';
import {
  type HorizontalPodAutoscaler,
  horizontalPodAutoscalerResource,
} from '../../../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import { intervalAnnotation } from '../../../../src/api/autoscaling/v2/scale-interval.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { podMetricsResource } from '../../../../src/api/metrics/v1beta1/pod-metrics.ts';
import { newForbidden } from '../../../../src/apimachinery/status-error.ts';
import { horizontalController } from '../../../../src/controllers/autoscaling/horizontal.ts';
import { at, container, deployment, meta, pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const key = 'default/web';
const hpa = (
  over: Partial<HorizontalPodAutoscaler['spec']> = {},
  metadata: object = {},
): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: meta('web', metadata),
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
    ],
    ...over,
  },
});

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(horizontalController({}));
});
const status = () => world.stored(horizontalPodAutoscalerResource, key)?.status;
const condition = (type: string) => {
  const found = status()?.conditions?.find((one) => one.type === type);
  return found && [found.status, found.reason];
};
const replicas = () => world.stored(deploymentResource, key)?.spec.replicas;

/** Creates a Deployment of `count` pods, each of which uses `cpu` thousandths of the CPU that it requests. */
function load(count: number, cpu: number): void {
  world.put(deploymentResource, deployment(count));
  for (let n = 0; n < count; n++) {
    const one = pod(`p${n}`, {
      readyAt: -7200,
      spec: { containers: [container({ resources: { requests: { cpu: '1' } } })] },
    });
    world.put(podResource, { ...one, status: { ...one.status, startTime: at(-7200) } });
    use(n, cpu);
  }
}
function use(n: number, cpu: number): void {
  world.put(podMetricsResource, {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: meta(`p${n}`),
    timestamp: at(0),
    window: '10s',
    containers: [{ name: 'app', usage: { cpu: `${cpu}m`, memory: '1Mi' } }],
  } as never);
}

describe('a HorizontalPodAutoscaler', () => {
  it('scales up to the replicas that the load requires, and reports it', async () => {
    load(2, 900);
    world.put(horizontalPodAutoscalerResource, hpa());
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 15_000 });
    assert.equal(replicas(), 4);
    assert.deepEqual(world.told, [
      'Normal SuccessfulRescale web: New size: 4; reason: cpu resource utilization (percentage of request) above target',
    ]);
    assert.deepEqual(
      [condition('AbleToScale'), condition('ScalingActive'), condition('ScalingLimited')],
      [
        ['True', 'SucceededRescale'],
        ['True', 'ValidMetricFound'],
        ['False', 'DesiredWithinRange'],
      ],
    );
    assert.equal(status()?.desiredReplicas, 4);
    assert.ok(status()?.lastScaleTime);
    assert.deepEqual(status()?.currentMetrics, [
      {
        type: 'Resource',
        resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '900m' } },
      },
    ]);
  });

  it('reports missing metrics for a resource of any name that no pod has', async () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      const targets = [
        { type: 'AverageValue', averageValue: '1' },
        { type: 'Utilization', averageUtilization: 50 },
      ];
      for (const target of targets) {
        world = new ScriptedWorld(horizontalController({}));
        load(2, 900);
        world.put(
          horizontalPodAutoscalerResource,
          hpa({ metrics: [{ type: 'Resource', resource: { name, target } }] }),
        );
        await world.reconcile(key);
        assert.deepEqual(condition('ScalingActive'), ['False', 'FailedGetResourceMetric']);
      }
    }
  });

  it('lets other work run between its metrics', async () => {
    world = new ScriptedWorld(horizontalController({}));
    load(2, 900);
    const [metric] = hpa().spec.metrics ?? [];
    world.put(
      horizontalPodAutoscalerResource,
      hpa({ metrics: Array.from({ length: 100 }, () => metric ?? assert.fail()) }),
    );
    let [passed, turns] = [0, 0];
    world.clock.monotonic = () => ++passed;
    world.clock.soon = (fn) => {
      turns++;
      setImmediate(fn);
    };
    await world.reconcile(key);
    assert.equal(status()?.currentMetrics?.length, 100);
    assert.ok(turns >= 5, `${turns} turns`);
  });

  it('is not reconciled again before the end of its period, unless its spec changes', async () => {
    load(2, 900);
    world.put(horizontalPodAutoscalerResource, hpa());
    await world.reconcile(key);
    world.sync(horizontalPodAutoscalerResource);
    const asked = world.asked.length;
    await world.clock.advance(5_000);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 10_000 });
    assert.equal(world.asked.length, asked);
    world.put(horizontalPodAutoscalerResource, hpa({ maxReplicas: 3 }));
    await world.reconcile(key);
    assert.ok(world.asked.length > asked);
  });

  it('has the period of its annotation', async () => {
    load(1, 500);
    world.put(horizontalPodAutoscalerResource, hpa({}, { annotations: { [intervalAnnotation]: '40' } }));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 40_000 });
    for (const wrong of ['0', '-3', 'soon', '1e9']) {
      const metadata = { uid: wrong, annotations: { [intervalAnnotation]: wrong } };
      world.put(horizontalPodAutoscalerResource, hpa({}, metadata));
      assert.deepEqual(await world.reconcile(key), { requeueAfter: 15_000 }, wrong);
    }
  });

  it('applies a changed sync period at once', async () => {
    load(1, 500);
    const every = (seconds: string) => hpa({}, { annotations: { [intervalAnnotation]: seconds } });
    world.put(horizontalPodAutoscalerResource, every('3600'));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 3_600_000 });
    world.put(horizontalPodAutoscalerResource, every('20'));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 20_000 });
  });

  it('scales down only after five minutes in which no more replicas were needed', async () => {
    load(4, 100);
    world.put(horizontalPodAutoscalerResource, hpa());
    await world.reconcile(key);
    assert.equal(replicas(), 4);
    assert.deepEqual(condition('AbleToScale'), ['True', 'ScaleDownStabilized']);
    await world.clock.advance(290_000);
    await world.reconcile(key);
    assert.equal(replicas(), 4);
    await world.clock.advance(15_000);
    await world.reconcile(key);
    assert.equal(replicas(), 1);
  });

  for (const [what, spec, at0, wanted, reason] of [
    ['above its maximum to the maximum', { maxReplicas: 3 }, 5, 3, 'above Spec.MaxReplicas'],
    ['below its minimum to the minimum', { minReplicas: 4 }, 2, 4, 'below Spec.MinReplicas'],
  ] as const)
    it(`scales a target ${what}, for any usage`, async () => {
      load(at0, 500);
      world.put(horizontalPodAutoscalerResource, hpa(spec));
      await world.reconcile(key);
      assert.equal(replicas(), wanted);
      assert.match(world.told.join(), new RegExp(reason));
    });

  it('leaves a target with 0 replicas unchanged', async () => {
    world.put(deploymentResource, deployment(0));
    world.put(horizontalPodAutoscalerResource, hpa());
    await world.reconcile(key);
    assert.equal(replicas(), 0);
    assert.deepEqual(condition('ScalingActive'), ['False', 'ScalingDisabled']);
  });

  it('reports what is missing: the target, requests, metrics, a metrics server', async () => {
    world.put(horizontalPodAutoscalerResource, hpa());
    await world.reconcile(key);
    assert.deepEqual(condition('AbleToScale'), ['False', 'FailedGetScale']);
    world.put(deploymentResource, deployment(1));
    world.put(podResource, pod('p0', { readyAt: 0 }));
    await world.clock.advance(15_000);
    await world.reconcile(key);
    assert.deepEqual(condition('ScalingActive'), ['False', 'FailedGetResourceMetric']);
    assert.match(
      world.told.at(-1) ?? '',
      /FailedComputeMetricsReplicas .*invalid metrics \(1 invalid out of 1\)/,
    );
    const custom = {
      type: 'Pods',
      pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '1' } },
    };
    world.put(horizontalPodAutoscalerResource, hpa({ metrics: [custom] }));
    await world.reconcile(key);
    assert.deepEqual(condition('ScalingActive'), ['False', 'FailedGetPodsMetric']);
  });

  it('scales up by one metric while another is missing, and does not scale down', async () => {
    const dark = {
      type: 'Resource',
      resource: { name: 'gpu', target: { type: 'AverageValue', averageValue: '1' } },
    };
    load(2, 900);
    world.put(horizontalPodAutoscalerResource, hpa({ metrics: [dark, ...(hpa().spec.metrics ?? [])] }));
    await world.reconcile(key);
    assert.equal(replicas(), 4);
    load(4, 100);
    await world.clock.advance(400_000);
    await world.reconcile(key);
    assert.equal(replicas(), 4);
    assert.deepEqual(condition('ScalingActive'), ['False', 'FailedGetResourceMetric']);
  });

  it('does not scale if two autoscalers select the same pods, and names the other', async () => {
    load(2, 900);
    world.put(horizontalPodAutoscalerResource, hpa());
    world.put(horizontalPodAutoscalerResource, { ...hpa(), metadata: meta('other') });
    await world.reconcile(key);
    assert.equal(replicas(), 2);
    assert.match(world.told.join(), /AmbiguousSelector .*: \[\{other default\} \{web default\}\]/);
  });

  it('reports a failed scaling and retries', async () => {
    load(2, 900);
    world.put(horizontalPodAutoscalerResource, hpa());
    world.refuse = (verb, name) =>
      verb === 'patch' ? newForbidden(deploymentResource, name, 'quota') : undefined;
    await world.reconcile(key);
    assert.deepEqual(condition('AbleToScale'), ['False', 'FailedUpdateScale']);
    assert.match(world.told.at(-1) ?? '', /Warning FailedRescale web: New size: 4; .*quota/);
    world.refuse = () => undefined;
    await world.clock.advance(15_000);
    await world.reconcile(key);
    assert.equal(replicas(), 4);
  });

  it('does not record a failed scaling in the history of its policies', async () => {
    load(2, 900);
    const behavior = { scaleUp: { policies: [{ type: 'Pods' as const, value: 2, periodSeconds: 600 }] } };
    world.put(horizontalPodAutoscalerResource, hpa({ behavior } as never));
    world.refuse = (verb, name) =>
      verb === 'patch' ? newForbidden(deploymentResource, name, 'quota') : undefined;
    for (let time = 0; time < 2; time++) {
      await world.reconcile(key);
      world.sync(horizontalPodAutoscalerResource);
      await world.clock.advance(15_000);
    }
    world.refuse = () => undefined;
    await world.reconcile(key);
    assert.equal(replicas(), 4);
  });

  it('counts the pods of its namespace, and ignores an autoscaler that is being deleted', async () => {
    load(2, 900);
    for (let n = 0; n < 8; n++)
      world.put(podResource, pod(`far${n}`, { readyAt: -7200, metadata: { namespace: 'elsewhere' } }));
    const metadata = meta('other', { deletionTimestamp: at(0), finalizers: ['x'] });
    world.put(horizontalPodAutoscalerResource, { ...hpa(), metadata });
    world.put(horizontalPodAutoscalerResource, hpa());
    await world.reconcile(key);
    assert.equal(replicas(), 4);
  });

  it('scales nothing if it is deleted during the reconciliation', async () => {
    load(2, 900);
    const metadata = { deletionTimestamp: at(0), finalizers: ['x'] };
    world.put(horizontalPodAutoscalerResource, hpa({}, metadata));
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.asked, []);
  });

  it('ignores an autoscaler with the same name in another namespace', async () => {
    load(2, 900);
    world.put(horizontalPodAutoscalerResource, hpa());
    world.store(horizontalPodAutoscalerResource, hpa({}, { uid: 'later', resourceVersion: '7' }));
    await world.reconcile(key);
    assert.equal(status(), undefined);
  });
});
