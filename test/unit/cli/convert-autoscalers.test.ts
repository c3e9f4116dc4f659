/** Fields of other systems' autoscalers: the conversion of each, and the notes about it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { converted, convertedOne } from './converted.ts';

const byName = { scaleTargetRef: { name: 'web' } };
const byCpu = { metrics: { cpuPercent: 60 } };
const hpa = (spec: JsonObject, metadata: JsonObject = { name: 'h' }) => ({ kind: 'HPA', metadata, spec });
const utilization = (name: string, averageUtilization: number) => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization } },
});
const average = (name: string, averageValue: string) => ({
  type: 'Resource',
  resource: { name, target: { type: 'AverageValue', averageValue } },
});
const counted = (name: string) =>
  `f: spec.metrics.${name}: is a share of resources.requests, which each container must have`;

describe('an autoscaler', () => {
  it('has no fields that the manifest does not have', () => {
    const { made, notes } = convertedOne(hpa({ ...byName, ...byCpu, maxReplicas: 4 }));
    assert.deepEqual(made, {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 4,
        metrics: [utilization('cpu', 60)],
      },
    });
    assert.deepEqual(notes, [counted('cpu')]);
  });

  it('gets the usual version of its target; the namespace of the target and the selector are dropped', () => {
    const scaleTargetRef = { apiVersion: 'v1', metadata: { name: 'web', namespace: 'x' } };
    const { made, notes } = convertedOne(hpa({ scaleTargetRef, selector: { a: 'b' }, ...byCpu }));
    assert.deepEqual(made.spec.scaleTargetRef, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' });
    assert.deepEqual(notes, [
      'f: spec.scaleTargetRef.metadata.namespace: left out: the workload is in the namespace of the autoscaler',
      'f: spec.selector: left out: the workload has a selector of its own',
      counted('cpu'),
    ]);
  });

  for (const [word, kind] of [
    ['deployment', 'Deployment'],
    ['replicaSet', 'ReplicaSet'],
    ['STATEFULSET', 'StatefulSet'],
    ['Rollout', 'Rollout'],
  ])
    it(`for a ${word} scales a ${kind}`, () => {
      const { made } = convertedOne(hpa({ scaleTargetRef: { kind: word, name: 'web' }, ...byCpu }));
      assert.deepEqual(made.spec.scaleTargetRef, { apiVersion: 'apps/v1', kind, name: 'web' });
    });

  for (const [what, spec, message] of [
    ['scales nothing', byCpu, 'spec.scaleTargetRef: expected the name of a workload to scale'],
    ['scales by nothing', byName, 'spec.metrics: expected a metric to scale by'],
    [
      'has an empty list of metrics',
      { ...byName, metrics: [] },
      'spec.metrics: expected a metric to scale by',
    ],
    ['has no bound', { ...byName, metrics: { CPU: {} } }, 'spec.metrics: expected a metric to scale by'],
    [
      'has a bound of nothing',
      { ...byName, metrics: { CPU: { targetMaxValue: 0 } } },
      'spec.metrics: expected a metric to scale by',
    ],
    [
      'has a share of nothing',
      { ...byName, metrics: { cpuPercent: 0 } },
      'spec.metrics: 0 of cpu is neither a fraction nor a percentage',
    ],
    [
      'has a share in words',
      { ...byName, metrics: { memPercent: 'half' } },
      'spec.metrics: "half" of memory is neither a fraction nor a percentage',
    ],
    [
      'looks at invalid times',
      { ...byName, ...byCpu, interval: 'often' },
      'spec: "often" is not an interval',
    ],
  ] as const)
    it(`that ${what} is refused`, () => {
      assert.deepEqual(converted(hpa(spec)).errors, [`f: ${message}`]);
    });

  for (const [interval, seconds] of [
    [2000, '2000'],
    [4000, '3600'],
    ['1m30s', '90'],
    ['1400ms', '1'],
    ['1600ms', '2'],
  ] as const)
    it(`looks every ${seconds} s for ${interval}`, () => {
      const { made } = convertedOne(hpa({ ...byName, ...byCpu, interval }));
      assert.deepEqual(made.metadata, {
        name: 'h',
        annotations: { 'minik8s.io/scale-interval-seconds': seconds },
      });
    });
});

describe('metrics', () => {
  for (const [what, metrics, expected, told] of [
    ['a share of memory', { memPercent: 0.5 }, [utilization('memory', 50)], [counted('memory')]],
    ['in one word more', { memoryPercent: 2 }, [utilization('memory', 2)], [counted('memory')]],
    ['less than a hundredth', { cpuPercent: 0.001 }, [utilization('cpu', 1)], [counted('cpu')]],
    ['thousandths of a processor', { CPU: { targetMaxValue: 250 } }, [average('cpu', '250m')], []],
    ['a quantity of processors', { CPU: { targetMaxValue: '1.5' } }, [average('cpu', '1.5')], []],
    ['the least there is', { CPU: { targetMaxValue: 1 } }, [average('cpu', '1m')], []],
    [
      'bytes, and a lower bound',
      { memory: { targetMinValue: 5, targetMaxValue: 4096 } },
      [average('memory', '4096')],
      [
        'f: spec.metrics.memory.targetMinValue: left out: Kubernetes has one target, and scales down below it',
      ],
    ],
    [
      'all of it',
      { cpuPercent: 10, memPercent: 20, CPU: { targetMaxValue: 30 }, memory: { targetMaxValue: '40Mi' } },
      [utilization('cpu', 10), utilization('memory', 20), average('cpu', '30m'), average('memory', '40Mi')],
      [counted('cpu'), counted('memory')],
    ],
  ] as const)
    it(`may be ${what}`, () => {
      const { made, notes } = convertedOne(hpa({ ...byName, metrics }));
      assert.deepEqual([made.spec.metrics, notes], [expected, told]);
    });
});

describe('the target of an autoscaler in the same input', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c' }] } };

  it('is a Deployment of the autoscaler’s name and namespace, for a template', () => {
    const { made, notes } = converted(
      hpa(
        { template: { ...template, spec: { ...template.spec, resources: {} } }, ...byCpu },
        { name: 'h', namespace: 'n' },
      ),
    );
    assert.deepEqual(made[0], {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'h', namespace: 'n' },
      spec: { selector: { matchLabels: { a: 'b' } }, template },
    });
    assert.deepEqual(made[1]?.spec.scaleTargetRef, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'h' });
    assert.deepEqual(notes, [
      'f: spec.template: becomes a Deployment named h',
      counted('cpu'),
      'f: spec.template.spec.resources: left out: resources are those of containers',
    ]);
  });

  for (const metadata of [undefined, {}, { labels: {} }, { labels: 'x' }])
    it(`gets labels if its template has none: ${JSON.stringify(metadata)}`, () => {
      const { made } = converted(hpa({ template: { ...template, metadata }, ...byCpu }));
      const labels = { app: 'h' };
      assert.deepEqual(made[0]?.metadata, { name: 'h' });
      assert.deepEqual(made[0]?.spec, {
        selector: { matchLabels: labels },
        template: { ...template, metadata: { labels } },
      });
    });

  it('becomes a Deployment instead of a pod, with its volumes; missing labels are added', () => {
    const pod = {
      kind: 'pod',
      metadata: { name: 'p' },
      spec: { volumes: [{ name: 'v', hostPath: '/a' }], containers: [{ name: 'c' }] },
    };
    const { made, notes } = converted(hpa({ workload: { kind: 'pod', name: 'p' }, ...byCpu }), pod);
    assert.deepEqual(
      made.map(({ kind, metadata }) => [kind, metadata.name]),
      [
        ['Deployment', 'p'],
        ['HorizontalPodAutoscaler', 'h'],
      ],
    );
    assert.deepEqual(made[0]?.spec, {
      selector: { matchLabels: { app: 'p' } },
      template: {
        metadata: { labels: { app: 'p' } },
        spec: { volumes: [{ name: 'v', hostPath: { path: '/a' } }], containers: [{ name: 'c' }] },
      },
    });
    assert.deepEqual(made[1]?.spec.scaleTargetRef, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'p' });
    assert.deepEqual(notes, [
      'f: spec.workload.kind: pod p becomes a Deployment of that name',
      counted('cpu'),
    ]);
  });

  it('is not a pod if only an object of another kind has the name', () => {
    const service = { kind: 'Service', metadata: { name: 'p' }, spec: {} };
    const { errors } = converted(service, hpa({ workload: { kind: 'Pod', name: 'p' }, ...byCpu }));
    assert.deepEqual(errors, [
      'f: spec.scaleTargetRef: a single pod has no number of replicas; give the manifest of pod p too (-f), and it becomes a Deployment',
    ]);
  });
});
