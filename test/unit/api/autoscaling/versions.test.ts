/**
 * The two versions of a HorizontalPodAutoscaler have the same contents: a conversion in both directions loses
 * nothing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { horizontalPodAutoscalerV1Resource as v1 } from '../../../../src/api/autoscaling/v1/horizontal-pod-autoscaler.ts';
import type { HorizontalPodAutoscaler as ShownInV1 } from '../../../../src/api/autoscaling/v1/types.gen.ts';
import { horizontalPodAutoscalerResource as v2 } from '../../../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import { deepCopy } from '../../../../src/apimachinery/equality.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { asServed } from '../../../../src/apimachinery/served-version.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { maxValues } from '../../../../src/apimachinery/value-limit.ts';
import { deepFreeze } from '../../../../src/base/freeze.ts';
import { decode } from '../../../fixtures/kinds.ts';
import {
  bareStatus,
  behavior,
  carrier,
  cpu,
  inV1,
  inV2,
  memory,
  metricLists,
  pods,
  status,
} from './samples.ts';

const metadata = {
  name: 'web',
  namespace: 'default',
  uid: 'u',
  labels: { app: 'web' },
  annotations: { 'example.com/a': 'stays' },
};

const shown = (stored: ReturnType<typeof decode<never>>) =>
  deepFreeze(asServed(v1 as unknown as ResourceDefinition, stored)) as ShownInV1;

/** Returns the object as it is stored when it was written in v2. */
const stored = (raw: object) => deepFreeze(decode(v2, raw));
const throughV1 = (object: ReturnType<typeof stored>) =>
  deepFreeze(decode(v1, deepCopy(shown(object as never))));

for (const [title, metrics] of Object.entries(metricLists))
  for (const [what, more] of [
    ['alone', {}],
    ['with a behaviour', { behavior }],
    ['with a status', { status }],
    ['with a short status', { status: bareStatus }],
    [
      'with one metric measured',
      { status: { ...bareStatus, currentMetrics: bareStatus.currentMetrics.slice(0, 1) } },
    ],
    [
      'with a metric without a current value',
      { status: { ...bareStatus, currentMetrics: [{ type: '' }, ...bareStatus.currentMetrics.slice(0, 1)] } },
    ],
  ] as const)
    test(`an autoscaler that is read in v1 and written back is unchanged: ${title}, ${what}`, () => {
      const { status: given, ...spec } = { status: undefined, ...more };
      const before = stored(inV2({ metrics, ...spec }, { metadata, ...(given && { status: given }) }));
      const after = throughV1(before);
      assert.deepEqual(deepCopy(after), deepCopy(before));
      assert.deepEqual(deepCopy(throughV1(after)), deepCopy(before), 'again');
    });

test('the CPU utilization follows the other metrics if it was written in v1', () => {
  const before = stored(inV2({ metrics: [cpu, memory, pods] }));
  const after = throughV1(before);
  assert.deepEqual(after.spec.metrics, [memory, pods, cpu]);
  assert.deepEqual(throughV1(after).spec.metrics, [memory, pods, cpu]);
});

test('an autoscaler with all fields is converted to v1', () => {
  const object = shown(stored(inV2({ metrics: [pods, cpu], behavior }, { metadata, status })) as never);
  const { annotations = {}, ...rest } = object.metadata;
  const read = (name: string) => JSON.parse(annotations[carrier(name)] ?? 'null');
  assert.equal(object.apiVersion, 'autoscaling/v1');
  assert.equal(rest.uid, 'u');
  assert.equal(object.spec.targetCPUUtilizationPercentage, 50);
  assert.deepEqual(object.status, {
    observedGeneration: 3,
    lastScaleTime: '2026-01-01T00:00:00Z',
    currentReplicas: 3,
    desiredReplicas: 4,
    currentCPUUtilizationPercentage: 40,
  });
  assert.deepEqual(
    Object.keys(annotations).sort(),
    ['behavior', 'conditions', 'current-metrics', 'metrics'].map(carrier).concat('example.com/a'),
  );
  assert.equal(annotations['example.com/a'], 'stays');
  assert.deepEqual(read('metrics'), [
    {
      type: 'Pods',
      pods: { metricName: 'hits', selector: pods.pods.metric.selector, targetAverageValue: '1500m' },
    },
  ]);
  assert.deepEqual(read('current-metrics')[0], {
    type: 'Resource',
    resource: { name: 'cpu', currentAverageUtilization: 40, currentAverageValue: '400m' },
  });
  assert.deepEqual(read('conditions'), status.conditions);
  assert.deepEqual(read('behavior'), {
    ScaleUp: {
      StabilizationWindowSeconds: 30,
      SelectPolicy: 'Min',
      Policies: [
        { Type: 'Pods', Value: 2, PeriodSeconds: 60 },
        { Type: 'Percent', Value: 10, PeriodSeconds: 60 },
      ],
    },
    ScaleDown: { SelectPolicy: 'Disabled', Policies: [{ Type: 'Percent', Value: 100, PeriodSeconds: 15 }] },
  });
});

test('the measured CPU is shown for a metric with a utilization', () => {
  const now = (type: string, name: string, current: object) => ({ type, resource: { name, current } });
  const object = shown(
    stored(
      inV2(
        { metrics: [pods] },
        {
          status: {
            currentMetrics: [
              now('Resource', 'cpu', { averageUtilization: 7 }),
              now('Resource', 'cpu', { averageValue: '1' }),
              now('Resource', 'memory', { averageUtilization: 8 }),
              now('Pods', 'cpu', { averageUtilization: 9 }),
            ],
          },
        },
      ),
    ) as never,
  );
  assert.equal(Object.hasOwn(object.spec, 'targetCPUUtilizationPercentage'), false);
  const counts = { currentReplicas: 0, desiredReplicas: 0 };
  assert.deepEqual(object.status, { ...counts, currentCPUUtilizationPercentage: 7 });
  const without = shown(stored(inV2({ metrics: [cpu] }, { status: {} })) as never);
  assert.equal(Object.hasOwn(without.status ?? {}, 'currentCPUUtilizationPercentage'), false);
});

test('an autoscaler that was stored without metrics is converted', () => {
  const { spec, ...rest } = stored(inV2());
  const object = shown({ ...rest, spec: { ...spec, metrics: undefined } } as never);
  assert.equal(object.metadata.annotations, undefined);
});

test('values that v1 has fields for have no annotation', () => {
  const object = shown(stored(inV2({ metrics: [cpu] })) as never);
  assert.equal(object.metadata.annotations, undefined);
  assert.deepEqual(object.spec, {
    scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' },
    minReplicas: 1,
    maxReplicas: 10,
    targetCPUUtilizationPercentage: 50,
  });
  assert.equal(Object.hasOwn(object, 'status'), false);
});

/** Returns the stored object that was written in v1 with these annotations. */
const annotated = (annotations: Readonly<Record<string, unknown>>, spec: object = {}, more: object = {}) =>
  decode(
    v1,
    inV1(spec, {
      metadata: {
        ...metadata,
        annotations: Object.fromEntries(
          Object.entries(annotations).map(([name, value]) => [
            carrier(name),
            typeof value === 'string' ? value : JSON.stringify(value),
          ]),
        ),
      },
      ...more,
    }),
  );

for (const [title, spec, more] of [
  ['nothing', {}, {}],
  ['a utilization of the CPU', { targetCPUUtilizationPercentage: 30, minReplicas: 2 }, {}],
  [
    'a status',
    { targetCPUUtilizationPercentage: 30 },
    { status: { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 9 } },
  ],
] as const)
  test(`an autoscaler that is written in v1 is read unchanged in v1: ${title}`, () => {
    const once = shown(decode(v1, inV1(spec, more)) as never);
    const { targetCPUUtilizationPercentage = 80, minReplicas = 1 } = {
      targetCPUUtilizationPercentage: undefined,
      minReplicas: undefined,
      ...spec,
    };
    assert.deepEqual(
      [once.spec.targetCPUUtilizationPercentage, once.spec.minReplicas],
      [targetCPUUtilizationPercentage, minReplicas],
    );
    assert.deepEqual(once.status, 'status' in more ? more.status : undefined);
    assert.deepEqual(shown(decode(v1, deepCopy(once)) as never), once);
  });

test('annotations as upstream writes them are read', () => {
  const {
    spec,
    status: now,
    metadata: meta,
  } = annotated(
    {
      metrics: [
        { type: 'Pods', pods: { metricName: 'hits', targetAverageValue: '1' } },
        {
          type: 'Object',
          object: {
            target: { kind: 'Service', name: 'web' },
            metricName: 'x',
            targetValue: '0',
            averageValue: '3',
          },
        },
        { type: 'External', external: { metricName: 'q', metricSelector: null, targetAverageValue: '3' } },
        { type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } },
      ],
      behavior: {
        ScaleUp: null,
        ScaleDown: { StabilizationWindowSeconds: 5, Policies: null, SelectPolicy: null },
      },
      'current-metrics': [
        {
          type: 'Resource',
          resource: { name: 'cpu', currentAverageUtilization: 7, currentAverageValue: '0' },
        },
      ],
      conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: null }],
    },
    { targetCPUUtilizationPercentage: 30 },
    { status: { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 99 } },
  );
  assert.deepEqual(deepCopy(spec.metrics), [
    { type: 'Pods', pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '1' } } },
    {
      type: 'Object',
      object: {
        describedObject: { kind: 'Service', name: 'web' },
        metric: { name: 'x' },
        target: { type: 'AverageValue', averageValue: '3' },
      },
    },
    {
      type: 'External',
      external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '3' } },
    },
    memoryOf('1Gi'),
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 30 } } },
  ]);
  assert.equal(spec.behavior?.scaleDown?.stabilizationWindowSeconds, 5);
  assert.deepEqual(now?.currentMetrics, [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 7, averageValue: '0' } } },
  ]);
  assert.deepEqual(now?.conditions, [{ type: 'AbleToScale', status: 'True' }]);
  assert.equal(meta.annotations, undefined);
});

const memoryOf = (averageValue: string) => ({
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue } },
});

test('a status may be in the annotations alone, or in the fields', () => {
  const counts = { currentReplicas: 0, desiredReplicas: 0 };
  const conditions = [{ type: 'AbleToScale', status: 'True' }];
  assert.deepEqual(deepCopy(annotated({ conditions }).status), { ...counts, conditions });
  assert.deepEqual(deepCopy(annotated({ 'current-metrics': [] }).status), { ...counts, currentMetrics: [] });
  assert.deepEqual(deepCopy(annotated({}, {}, { status: {} }).status), counts);
  assert.equal(annotated({ metrics: null }).status, undefined);
});

test('a behaviour is read in both spellings of its fields, and an empty behaviour is dropped', () => {
  assert.equal(
    annotated({ behavior: { scaleUp: { stabilizationWindowSeconds: 5 } } }).spec.behavior?.scaleUp
      ?.stabilizationWindowSeconds,
    5,
  );
  for (const empty of [{}, null, { ScaleUp: null }])
    assert.equal(annotated({ behavior: empty }).spec.behavior, undefined);
});

test('a changed annotation takes precedence over the metric beside it', () => {
  const odd = { ...memoryOf('1Gi').resource, target: { type: 'Value', averageValue: '1Gi' } };
  const before = shown(stored(inV2({ metrics: [{ type: 'Resource', resource: odd }] })) as never);
  const entry = JSON.parse(before.metadata.annotations?.[carrier('metrics')] ?? '')[0];
  assert.equal(entry.v2.resource.target.type, 'Value');
  const changed = { ...entry, resource: { name: 'memory', targetAverageValue: '2Gi' } };
  assert.deepEqual(annotated({ metrics: [changed] }).spec.metrics, [memoryOf('2Gi')]);
});

for (const [title, name, text] of [
  ['no JSON', 'metrics', '[{'],
  ['an empty text', 'behavior', ''],
  ['no list', 'metrics', '{}'],
  ['no metric', 'metrics', '[1]'],
  ['an invalid source', 'metrics', '[{"type":"Pods","pods":"x"}]'],
  ['a wrong quantity', 'metrics', '[{"type":"Pods","pods":{"metricName":"a","targetAverageValue":"much"}}]'],
  ['a valid and an invalid metric', 'metrics', '[{"type":"Pods","v2":3}]'],
  ['an invalid behaviour', 'behavior', '{"ScaleUp":3}'],
  ['invalid conditions', 'conditions', '[true]'],
  ['current metrics of a wrong type', 'current-metrics', '[{"type":1}]'],
  ['brackets nested 600 deep', 'metrics', `${'['.repeat(600)}${']'.repeat(600)}`],
] as const)
  test(`an invalid annotation of v1 is rejected: ${title}`, () => {
    assert.throws(
      () => annotated({ [name]: text }),
      (error) =>
        error instanceof StatusError &&
        error.status.code === 422 &&
        error.status.details?.causes?.[0]?.field === `metadata.annotations[${carrier(name)}]`,
    );
  });

test('an annotation of v1 may be at most as long as a body', () => {
  const many = `[${'{},'.repeat(maxValues)}{}]`;
  assert.throws(
    () => annotated({ metrics: many }),
    (error) => error instanceof StatusError && error.status.code === 413,
  );
});
