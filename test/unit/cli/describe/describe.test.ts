import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { formatQuantity } from '../../../../src/apimachinery/quantity.ts';
import { alignTabs } from '../../../../src/cli/describe/align.ts';
import { secret } from '../../../../src/cli/describe/config.ts';
import { descriptionText } from '../../../../src/cli/describe/describe-object.ts';
import type { Found } from '../../../../src/cli/describe/describer.ts';
import { describerOf } from '../../../../src/cli/describe/describers.ts';
import { generic, labelOf } from '../../../../src/cli/describe/generic.ts';
import { annotationLines, selectorText, timeText } from '../../../../src/cli/describe/lines.ts';
import { networkPolicy } from '../../../../src/cli/describe/network-policy.ts';
import { endpointsText } from '../../../../src/cli/describe/services.ts';
import { podAmounts } from '../../../../src/views/pod-amounts.ts';

const now = Date.UTC(2026, 0, 1, 0, 2);
const none: Found = { items: [] };

test('a column is as wide as its widest cell plus two, and ends with the first line without a tab', () => {
  assert.equal(alignTabs('a\tb\nlonger\tc\tend\nplain\nx\ty'), 'a       b\nlonger  c  end\nplain\nx  y');
  assert.equal(alignTabs('ü\tb\nab\t'), 'ü   b\nab  ');
});

test('a Secret shows sizes and never a value, not even that of a token', () => {
  const object = {
    metadata: { name: 's', namespace: 'n' },
    type: 'kubernetes.io/service-account-token',
    data: { token: 'aHVudGVyMg==' },
  };
  const text = descriptionText(secret, object, { related: {}, events: undefined, now });
  assert.match(text, /^token: {2}7 bytes$/m);
  assert.doesNotMatch(text, /hunter|aHVudGVyMg/);
});

test('events have an age, a count and the time since the first, the oldest first', () => {
  const event = (message: string, more: JsonObject) => ({ type: 'Normal', reason: 'R', message, ...more });
  const times = { firstTimestamp: '2026-01-01T00:01:00Z', lastTimestamp: '2026-01-01T00:01:50Z' };
  const items = [
    event('last', { ...times, count: 3, source: { component: 'kubelet' } }),
    event('series', {
      eventTime: '2026-01-01T00:00:00Z',
      series: { count: 2, lastObservedTime: '2026-01-01T00:01:30Z' },
    }),
  ];
  const text = descriptionText(generic, { metadata: { name: 'x' } }, { related: {}, events: { items }, now });
  assert.match(text, /30s \(x2 over 2m\) +series\n {2}Normal {2}R +10s \(x3 over 60s\) +kubelet {2}last\n$/);
});

test('events that the user may not read are named as such', () => {
  const events = { items: [], refused: '<not authorized: events>' };
  const text = descriptionText(generic, { metadata: { name: 'x' } }, { related: {}, events, now });
  assert.match(text, /^Events: +<not authorized: events>$/m);
});

test('a long annotation is printed below its key, and the last applied configuration is left out', () => {
  const lines = annotationLines('Annotations', {
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
    long: `${'x'.repeat(150)}\nsecond`,
    short: 'a',
  });
  assert.deepEqual(lines, ['Annotations:\tlong:', `\t  ${'x'.repeat(138)}...`, '\t  second', '\tshort: a']);
});

test('a selector is sorted by key, and its values among themselves', () => {
  const selector = {
    matchLabels: { b: '1' },
    matchExpressions: [
      { key: 'c', operator: 'NotIn', values: ['y', 'x'] },
      { key: 'a', operator: 'DoesNotExist' },
    ],
  };
  assert.equal(selectorText(selector), '!a,b=1,c notin (x,y)');
});

test('a missing time is the zero time of Go, as in kubectl', () => {
  assert.equal(timeText(''), 'Mon, 01 Jan 0001 00:00:00 +0000');
  assert.match(timeText('2026-11-03T10:00:00Z'), /^(Mon|Tue|Wed), 0[234] Nov 2026 \d\d:\d0:00 [+-]\d{4}$/);
});

const slice = (ready: boolean, count: number) => ({
  ports: [{ name: 'http', port: 80 }],
  endpoints: Array.from({ length: count }, (_, index) => ({
    addresses: [`10.0.0.${index + 1}`],
    conditions: { ready },
  })),
});
for (const [what, found, text] of [
  [
    'three endpoints and the number of others',
    { items: [slice(true, 5)] },
    '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more...',
  ],
  [
    'why there is none although pods match',
    { items: [slice(false, 2)] },
    '<none> (pods that the selector matches: 2, ready: 0)',
  ],
  [
    'an endpoint without conditions as a ready one',
    { items: [{ ports: [{ name: 'http', port: 80 }], endpoints: [{ addresses: ['10.0.0.9'] }] }] },
    '10.0.0.9:80',
  ],
  ['which labels no pod has', none, '<none> (no running pod has the labels app=web)'],
  ['that slices may not be read', { items: [], refused: '<not authorized>' }, '<not authorized>'],
] as const)
  test(`the endpoints of a port show ${what}`, () =>
    assert.equal(endpointsText(found, 'http', 'app=web'), text));

test('the resources of a pod are the larger of the sum of its containers and sidecars, and its largest init container', () => {
  const of = (cpu: string, more: JsonObject = {}) => ({
    name: cpu,
    resources: { requests: { cpu } },
    ...more,
  });
  const pod = (initContainers: JsonObject[]) => ({
    spec: { containers: [of('100m'), of('200m')], initContainers },
  });
  const cpuOf = (object: JsonObject) => {
    const amount = podAmounts(object, 'requests').get('cpu');
    return amount && formatQuantity(amount);
  };
  assert.equal(cpuOf(pod([])), '300m');
  assert.equal(cpuOf(pod([of('1')])), '1');
  assert.equal(cpuOf(pod([of('50m', { restartPolicy: 'Always' }), of('280m')])), '350m');
});

test('the overhead of a pod is added to its requests and its existing limits', () => {
  const container = (limits: JsonObject) => ({ resources: { requests: { cpu: '100m' }, limits } });
  const pod = (limits: JsonObject) => ({
    spec: { containers: [container(limits)], overhead: { cpu: '50m', memory: '1Mi' } },
  });
  const amountsOf = (limits: JsonObject, part: 'requests' | 'limits') =>
    Object.fromEntries([...podAmounts(pod(limits), part)].map(([name, one]) => [name, formatQuantity(one)]));
  assert.deepEqual(amountsOf({}, 'requests'), { cpu: '150m', memory: '1Mi' });
  assert.deepEqual(amountsOf({ cpu: '200m' }, 'limits'), { cpu: '250m' });
  assert.deepEqual(amountsOf({}, 'limits'), {});
});

test('a network policy of one direction does not affect the other one', () => {
  const text = descriptionText(
    networkPolicy,
    { metadata: { name: 'n' }, spec: { podSelector: {}, policyTypes: ['Ingress'], egress: [{}] } },
    { related: {}, events: undefined, now },
  );
  assert.match(text, /^ {2}Allowing ingress traffic:\n {4}<none> \(Selected pods are isolated/m);
  assert.match(text, /^ {2}Not affecting egress traffic$/m);
});

for (const [field, label] of [
  ['apiVersion', 'API Version'],
  ['podIP', 'Pod IP'],
  ['observedGeneration', 'Observed Generation'],
  ['minik8s.io/x', 'minik8s.io/x'],
] as const)
  test(`the field ${field} is shown as ${label}`, () => assert.equal(labelOf(field), label));

test('every describer accepts an object without fields, and an object whose fields have wrong types', async () => {
  const kinds = [
    [
      '',
      'Pod Node Service Endpoints ReplicationController PersistentVolumeClaim PersistentVolume ConfigMap Secret',
    ],
    ['', 'ServiceAccount Namespace ResourceQuota LimitRange'],
    ['apps', 'Deployment ReplicaSet StatefulSet DaemonSet'],
    ['batch', 'Job CronJob'],
    ['discovery.k8s.io', 'EndpointSlice'],
    ['storage.k8s.io', 'StorageClass CSINode'],
    ['rbac.authorization.k8s.io', 'Role ClusterRole RoleBinding ClusterRoleBinding'],
    ['autoscaling', 'HorizontalPodAutoscaler'],
    ['policy', 'PodDisruptionBudget'],
    ['networking.k8s.io', 'Ingress IngressClass NetworkPolicy'],
    ['scheduling.k8s.io', 'PriorityClass'],
    ['certificates.k8s.io', 'CertificateSigningRequest'],
    ['example.com', 'Own'],
  ] as const;
  for (const [group, names] of kinds)
    for (const kind of names.split(' ')) {
      const describer = await describerOf({ group, kind });
      assert.equal(describer === generic, kind === 'Own', kind);
      for (const value of [{}, { metadata: 1, spec: [1], status: 'x', data: null, rules: [1], subjects: {} }])
        for (const found of [none, { items: [], refused: '<no>' }]) {
          const needs = Object.keys(describer.needs?.(value) ?? {});
          const related = Object.fromEntries(needs.map((name) => [name, found]));
          assert.match(descriptionText(describer, value, { related, events: none, now }), /^Name:/, kind);
        }
    }
});
