/** Validation, defaults and printed metrics of a HorizontalPodAutoscaler. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { horizontalPodAutoscalerV1Resource as inV1 } from '../../../../../src/api/autoscaling/v1/horizontal-pod-autoscaler.ts';
import { horizontalPodAutoscalerResource as kind } from '../../../../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts';
import { convertObject } from '../../../../../src/apimachinery/decode.ts';
import { inOneGo } from '../../../../../src/apimachinery/steps.ts';
import { validateForUpdate } from '../../../../../src/apiserver/registry/preparation.ts';
import { deepFreeze } from '../../../../../src/base/freeze.ts';
import { kindFields } from '../../../../../src/features/kinds.ts';
import {
  cells,
  created,
  createProblems,
  decode,
  testCreate,
  testUpdate,
} from '../../../../fixtures/kinds.ts';

const target = { type: 'Utilization', averageUtilization: 50 };
const cpu = { type: 'Resource', resource: { name: 'cpu', target } };
const pods = {
  type: 'Pods',
  pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '10' } },
};
const object = {
  type: 'Object',
  object: {
    describedObject: { kind: 'Service', name: 'web', apiVersion: 'v1' },
    metric: { name: 'hits' },
    target: { type: 'Value', value: '10' },
  },
};
const external = {
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '30' } },
};
const ofContainer = {
  type: 'ContainerResource',
  containerResource: { name: 'cpu', container: 'app', target },
};
const base = {
  metadata: { name: 'web', namespace: 'default' },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 10 },
};

const metrics = (...list: object[]) => ({ spec: { metrics: list } });
const rules = (scaleUp: object) => ({ spec: { behavior: { scaleUp } } });
const policy = { type: 'Pods', value: 1, periodSeconds: 1 };
const zero = 'must specify at least one Object or External metric to support scaling to zero replicas';

const at = 'spec.metrics[0]';
const up = 'spec.behavior.scaleUp';
const interval = (seconds: string) => ({
  metadata: { annotations: { 'minik8s.io/scale-interval-seconds': seconds } },
});
const noInterval = (seconds: string) =>
  `metadata.annotations[minik8s.io/scale-interval-seconds]: Invalid value: "${seconds}": must be a number of seconds from 1 to 3600`;

testCreate(kind, base, [
  ['an annotation with a scale interval', interval('40')],
  ['no period', interval('0'), noInterval('0')],
  ['a scale interval that is too long', interval('3601'), noInterval('3601')],
  ['a scale interval that is not a number', interval('soon'), noInterval('soon')],
  ['every type of metric', metrics(cpu, pods, object, external, ofContainer)],
  [
    'no specification',
    { spec: null },
    'spec.maxReplicas: Invalid value: 0: must be greater than 0',
    'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    'spec.scaleTargetRef.kind: Required value',
    'spec.scaleTargetRef.name: Required value',
  ],
  [
    'a target that is not valid in a URL',
    { spec: { scaleTargetRef: { kind: 'a/b', name: '..' } } },
    'spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain \'/\'',
    'spec.scaleTargetRef.name: Invalid value: "..": may not be \'..\'',
  ],
  ['one pod', { spec: { minReplicas: 1, maxReplicas: 1 } }],
  [
    'a minimum above the maximum',
    { spec: { minReplicas: 11 } },
    'spec.maxReplicas: Invalid value: 10: must be greater than or equal to `minReplicas`',
  ],
  [
    'none',
    { spec: { minReplicas: 0 } },
    'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
    `spec.metrics: Forbidden: ${zero}`,
  ],
  [
    'a minimum of 0 with an external metric',
    { spec: { minReplicas: 0, metrics: [external] } },
    'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
  ],
  [
    'a metric without any field',
    metrics({}),
    `${at}.type: Required value: must specify a metric source type`,
    `${at}.type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`,
  ],
  ['a metric of another type', metrics({ type: 'Moon' }), `${at}.type: Unsupported value: "Moon"`],
  ...['Object', 'Pods', 'Resource', 'External', 'ContainerResource'].map(
    (type) =>
      [
        `a metric of type ${type} without one`,
        metrics({ type }),
        `${at}.${type.charAt(0).toLowerCase()}${type.slice(1)}: Required value: must populate information for the given metric source`,
      ] as const,
  ),
  [
    'two sources',
    metrics({ ...cpu, ...pods, type: 'Resource' }),
    `${at}.pods: Forbidden: must populate the given metric source only`,
  ],
  [
    'another source',
    metrics({ ...pods, type: 'Resource' }),
    `${at}.resource: Required value: must populate information for the given metric source`,
  ],
  [
    'an object metric without any field',
    metrics({ type: 'Object', object: {} }),
    `${at}.object.describedObject.kind: Required value`,
    `${at}.object.describedObject.name: Required value`,
    `${at}.object.metric.name: Required value: must specify a metric name`,
    `${at}.object.target.type: Required value: must specify a metric target type`,
    `${at}.object.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue`,
    `${at}.object.target.averageValue: Required value: must set either a target value or averageValue`,
  ],
  [
    'a pods metric without any field',
    metrics({ type: 'Pods', pods: { metric: { name: 'a/b' }, target: { type: 'Value', value: 1 } } }),
    `${at}.pods.metric.name: Invalid value: "a/b": may not contain '/'`,
    `${at}.pods.target.averageValue: Required value: must specify a positive target averageValue`,
  ],
  [
    'an external metric without a value',
    metrics({ type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value' } } }),
    `${at}.external.target.averageValue: Required value: must set either a target value for metric or a per-pod target`,
  ],
  [
    'an external metric with a value and an average value',
    metrics({
      type: 'External',
      external: { metric: { name: 'q' }, target: { type: 'Value', value: '1', averageValue: '1' } },
    }),
    `${at}.external.target.value: Forbidden: may not set both a target value for metric and a per-pod target`,
  ],
  [
    'values that are not positive',
    metrics({
      type: 'Object',
      object: { ...object.object, target: { type: 'Value', value: '0', averageValue: '-1' } },
    }),
    `${at}.object.target.value: Invalid value: "0": must be positive`,
    `${at}.object.target.averageValue: Invalid value: "-1": must be positive`,
  ],
  [
    'a resource metric without any field',
    metrics({ type: 'Resource', resource: { target: { type: 'Utilization' } } }),
    `${at}.resource.name: Required value: must specify a resource name`,
    `${at}.resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization`,
  ],
  [
    'an unknown target type, with a utilization of 0 and a value',
    metrics({
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Some', averageUtilization: 0, averageValue: '1' } },
    }),
    `${at}.resource.target.type: Invalid value: "Some": must be either Utilization, Value, or AverageValue`,
    `${at}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0`,
    `${at}.resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization`,
  ],
  [
    'a resource of a container without names',
    metrics({ type: 'ContainerResource', containerResource: { target } }),
    `${at}.containerResource.name: Required value: must specify a resource name`,
    `${at}.containerResource.container: Required value: must specify a container`,
  ],
  [
    'a resource that containers do not have',
    metrics({
      type: 'ContainerResource',
      containerResource: { name: 'moon', container: 'A', target: { type: 'Utilization' } },
    }),
    `${at}.containerResource.name: Invalid value: "moon": must be a standard resource for containers`,
    `${at}.containerResource.container: Invalid value: "A": a lowercase RFC 1123 label`,
    `${at}.containerResource.target.averageUtilization: Required value: must set either a target raw value or a target utilization`,
  ],
  ['the bounds of a behaviour', rules({ stabilizationWindowSeconds: 3600, policies: [policy] })],
  [
    'a negative stabilization window',
    rules({ stabilizationWindowSeconds: -1 }),
    `${up}.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero`,
  ],
  [
    'a long window',
    { spec: { behavior: { scaleDown: { stabilizationWindowSeconds: 3601 } } } },
    'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
  ],
  [
    'an unknown selectPolicy',
    rules({ selectPolicy: 'Some' }),
    `${up}.selectPolicy: Unsupported value: "Some": supported values: "Disabled", "Max", "Min"`,
  ],
  ['no policy', rules({ policies: [] }), `${up}.policies: Required value: must specify at least one Policy`],
  [
    'an empty policy',
    rules({ policies: [{}] }),
    `${up}.policies[0].type: Unsupported value: "": supported values: "Percent", "Pods"`,
    `${up}.policies[0].value: Invalid value: 0: must be greater than zero`,
    `${up}.policies[0].periodSeconds: Invalid value: 0: must be greater than zero`,
  ],
  ['the longest period', rules({ policies: [{ ...policy, periodSeconds: 1800 }] })],
  [
    'a longer period',
    rules({ policies: [{ ...policy, periodSeconds: 1801 }] }),
    `${up}.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800`,
  ],
]);

testUpdate(kind, base, [
  ['another period', interval('5')],
  ['a wrong period', interval('5m'), noInterval('5m')],
  ['another target', { spec: { scaleTargetRef: { name: 'other' }, maxReplicas: 3 } }],
  [
    'no pod',
    { spec: { maxReplicas: 0 } },
    'spec.maxReplicas: Invalid value: 0: must be greater than 0',
    'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
  ],
]);

test('the same rules apply to objects written in v1', () => {
  const { spec, metadata } = base;
  const problems = (change: object) => createProblems(inV1, { metadata, spec: { ...spec, ...change } });
  assert.deepEqual(problems({ targetCPUUtilizationPercentage: 50 }), []);
  assert.deepEqual(problems({ targetCPUUtilizationPercentage: 0 }), [
    `${at}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0`,
  ]);
  assert.deepEqual(problems({ scaleTargetRef: {}, maxReplicas: undefined }), [
    'spec.maxReplicas: Invalid value: 0: must be greater than 0',
    'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    'spec.scaleTargetRef.kind: Required value',
    'spec.scaleTargetRef.name: Required value',
  ]);
});

test('a status has no negative numbers', () => {
  const old = created(kind, base);
  const wrong = { ...old, status: { currentReplicas: -1, desiredReplicas: -2 } };
  assert.throws(
    () => inOneGo(validateForUpdate(kind as never, wrong, old, 'status', 'status')),
    /status\.currentReplicas: Invalid value: -1: .*status\.desiredReplicas: Invalid value: -2: must be greater than or equal to 0/,
  );
  const right = { ...old, status: { currentReplicas: 0, desiredReplicas: 0 } };
  inOneGo(validateForUpdate(kind as never, right, old, 'status', 'status'));
});

test('an autoscaler gets a minimum of one pod and a target of 80 % CPU by default', () => {
  for (const given of [undefined, []])
    assert.deepEqual(created(kind, { ...base, spec: { ...base.spec, metrics: given } }).spec, {
      ...base.spec,
      minReplicas: 1,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
        },
      ],
    });
});

test('a behaviour is completed for each direction separately', () => {
  const behavior = (given: object) =>
    created(kind, { ...base, spec: { ...base.spec, behavior: given } }).spec.behavior;
  const percent = { type: 'Percent', value: 100, periodSeconds: 15 };
  const scaleUp = {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent],
  };
  const scaleDown = { selectPolicy: 'Max', policies: [percent] };
  assert.deepEqual(behavior({}), { scaleUp, scaleDown });
  assert.deepEqual(behavior({ scaleUp: { policies: [policy] }, scaleDown: { selectPolicy: 'Disabled' } }), {
    scaleUp: { ...scaleUp, policies: [policy] },
    scaleDown: { ...scaleDown, selectPolicy: 'Disabled' },
  });
});

test('a tolerance gives the warning that minik8s does not act on it', () => {
  const body = { ...base, spec: { ...base.spec, behavior: { scaleUp: { tolerance: '0.1' } } } };
  assert.deepEqual(convertObject(kindFields, kind, body, 'Warn').warnings, [
    'spec.behavior.scaleUp.tolerance: known to Kubernetes, not acted on by minik8s',
  ]);
});

test('the annotations that v1 uses for fields that it lacks are never stored', () => {
  const name = 'autoscaling.alpha.kubernetes.io/';
  const annotations = {
    [`${name}metrics`]: '[]',
    [`${name}current-metrics`]: '[]',
    [`${name}conditions`]: '[]',
    [`${name}behavior`]: '{}',
    [`${name}other`]: 'stays',
  };
  const stored = created(kind, { ...base, metadata: { ...base.metadata, annotations } });
  assert.deepEqual(stored.metadata.annotations, { [`${name}other`]: 'stays' });
});

const now = (field: string, current: object, more: object = {}) => ({
  type: 'x',
  [field]: { metric: {}, current, ...more },
});

for (const [title, specs, statuses, expected] of [
  ['nothing measured', [cpu], [], 'cpu: <unknown>/50%'],
  ['a share', [cpu], [now('resource', { averageUtilization: 7 })], 'cpu: 7%/50%'],
  [
    'a utilization target without a current utilization',
    [cpu],
    [now('resource', { averageValue: '1' })],
    'cpu: <unknown>/50%',
  ],
  [
    'an average value of a resource',
    [
      {
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
      },
    ],
    [now('resource', { averageValue: '512Mi' })],
    'memory: 512Mi/1Gi',
  ],
  ['of a container', [ofContainer], [now('containerResource', { averageUtilization: 7 })], 'cpu: 7%/50%'],
  ['pods', [pods], [now('pods', { averageValue: '3' })], '3/10'],
  ['a pods metric without a current value', [pods], [], '<unknown>/10'],
  ['an object', [object], [now('object', { value: '3' })], '3/10'],
  ['an object metric without a current value', [object], [], '<unknown>/10'],
  ['an external metric without a current value', [object], [now('object', {})], '<nil>/10'],
  ['an external metric for each pod', [external], [now('external', { averageValue: '3' })], '3/30 (avg)'],
  [
    'an external metric for each pod without a current value',
    [external],
    [now('external', { value: '3' })],
    '<unknown>/30 (avg)',
  ],
  ['the status of another type', [pods], [now('resource', { averageValue: '3' })], '<unknown>/10'],
  ['two metrics', [cpu, pods], [], 'cpu: <unknown>/50%, <unknown>/10'],
  ['three metrics', [cpu, pods, object], [], 'cpu: <unknown>/50%, <unknown>/10 + 1 more...'],
] as const)
  test(`the column of metrics shows ${title}`, () => {
    const shown = decode(kind, {
      ...base,
      spec: { ...base.spec, metrics: specs },
      status: { currentReplicas: 3, desiredReplicas: 4, currentMetrics: statuses },
    });
    assert.equal(cells(kind, deepFreeze(shown), 0).Targets, expected);
  });

test('the other columns of an autoscaler are those of kubectl', () => {
  const shown = decode(kind, { ...base, status: { currentReplicas: 3, desiredReplicas: 4 } });
  const { Reference, MinPods, MaxPods, Replicas } = cells(kind, shown, 0);
  assert.deepEqual([Reference, MinPods, MaxPods, Replicas], ['Deployment/web', '1', 10, 3]);
  const { Replicas: none } = cells(kind, created(kind, base), 0);
  assert.equal(none, 0);
});
