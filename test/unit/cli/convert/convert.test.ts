/** Manifests of other small systems: the converted objects, and the notes about lost fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { convert } from '../../../../src/cli/convert/convert-plan.ts';

const converted = (...objects: JsonObject[]) =>
  convert(
    objects.map((object) => ({ where: 'f:1', object })),
    kubernetesFields,
  );
const one = (object: JsonObject) => {
  const { objects, notes, errors } = converted(object);
  assert.deepEqual(errors, []);
  assert.equal(objects.length, 1);
  return { object: objects[0] as JsonObject & { spec: JsonObject }, notes };
};
const hpa = (spec: object, kind = 'Hpa') => ({ apiVersion: 'v1', kind, metadata: { name: 'h' }, spec });
const withCpu = { metrics: { cpuPercent: 60 } };
const bounds = { minReplicas: 1, maxReplicas: 3 };
const target = { kind: 'ReplicaSet', name: 'web' };
const ref = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const pod = {
  kind: 'Pod',
  metadata: { name: 'p', labels: { a: 'b' } },
  spec: { containers: [{ name: 'c' }] },
};
const byShare = (name: string, averageUtilization: number) => ({
  type: 'Resource',
  resource: { name, target: { type: 'Utilization', averageUtilization } },
});

test("an autoscaler in Kubernetes' form is unchanged", () => {
  const metrics = [byShare('cpu', 50)];
  const behavior = { scaleDown: { policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }] } };
  const { object, notes } = one(hpa({ scaleTargetRef: target, ...bounds, metrics, behavior }, 'HPA'));
  assert.deepEqual(object, {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h' },
    spec: { scaleTargetRef: ref, ...bounds, metrics, behavior },
  });
  assert.deepEqual(notes, []);
});

for (const [what, spec, seconds] of [
  ['a number', { scaleInterval: 20 }, '20'],
  ['under another field name', { interval: 15 }, '15'],
  ['a duration', { adjustInterval: '10s' }, '10'],
  ['raised to the minimum', { interval: 0 }, '1'],
  ['lowered to the maximum', { interval: '3h' }, '3600'],
] as const)
  test(`the interval of an autoscaler becomes an annotation: ${what}`, () => {
    const { object } = one(hpa({ scaleTargetRef: target, ...bounds, ...spec, ...withCpu }));
    assert.deepEqual((object.metadata as JsonObject).annotations, {
      'minik8s.io/scale-interval-seconds': seconds,
    });
  });

for (const [value, percent] of [
  [60, 60],
  [0.35, 35],
  [1, 100],
  ['0.5', 50],
] as const)
  test(`a utilization of ${value} is converted to ${percent} %`, () => {
    const metrics = { cpuPercent: value, memoryPercent: 40 };
    const { object, notes } = one(hpa({ scaleTargetRef: target, ...bounds, metrics }));
    assert.deepEqual(object.spec.metrics, [byShare('cpu', percent), byShare('memory', 40)]);
    assert.match(notes.join('\n'), /f:1: spec\.metrics\.cpu: is a share of resources\.requests/);
  });

for (const field of ['scaleTargetRef', 'workload'])
  test(`a pod that an autoscaler names in ${field} becomes a Deployment, in either order of the manifests`, () => {
    const scaler = hpa({ [field]: { kind: 'Pod', metadata: { name: 'p' } }, ...bounds, ...withCpu });
    for (const order of [
      [pod, scaler],
      [scaler, pod],
    ]) {
      const { objects, errors } = converted(...order);
      assert.deepEqual(errors, []);
      assert.deepEqual(objects.map(({ kind }) => kind).sort(), ['Deployment', 'HorizontalPodAutoscaler']);
      const deployment = objects.find(({ kind }) => kind === 'Deployment');
      assert.deepEqual(deployment?.spec, {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c' }] } },
      });
    }
    const [error] = converted(scaler).errors;
    assert.match(
      String(error?.message),
      /a single pod has no number of replicas; give the manifest of pod p/,
    );
  });

test('an autoscaler with a pod template, two bounds and an invalid name is converted, with notes', () => {
  const { objects, notes, errors } = converted({
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'by_cpu' },
    spec: {
      ...bounds,
      metrics: {
        CPU: { targetMinValue: 90, targetMaxValue: 200 },
        memory: { targetMinValue: -1, targetMaxValue: -1 },
      },
      template: pod,
    },
  });
  assert.deepEqual(errors, []);
  const [deployment, scaler] = objects as (JsonObject & { metadata: JsonObject; spec: JsonObject })[];
  assert.deepEqual([deployment?.metadata.name, scaler?.metadata.name], ['by-cpu', 'by-cpu']);
  assert.deepEqual(scaler?.spec.metrics, [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '200m' } } },
  ]);
  const told = notes.join('\n');
  assert.match(told, /metadata\.name: by_cpu becomes by-cpu/);
  assert.match(told, /CPU\.targetMinValue: left out/);
  assert.match(told, /spec\.template: becomes a Deployment/);
});

test('a ReplicaSet whose selector consists of the labels gets matchLabels', () => {
  const { object, notes } = one({
    apiVersion: 'v1',
    kind: 'Replicaset',
    metadata: { name: 'r' },
    spec: {
      replicas: 3,
      minReadySeconds: 10,
      selector: { app: 'r' },
      template: { metadata: { name: 'x', namespace: 'y', labels: { app: 'r' } }, spec: { containers: [] } },
    },
  });
  assert.deepEqual(object, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'r' },
    spec: {
      replicas: 3,
      minReadySeconds: 10,
      selector: { matchLabels: { app: 'r' } },
      template: { metadata: { labels: { app: 'r' } }, spec: { containers: [] } },
    },
  });
  assert.equal(notes.length, 2, notes.join('\n'));
});

const claim = {
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c' },
  spec: { accessModes: ['ReadWriteOnce'], resources: '8Gi' },
};
test('the size of a volume or a claim that is a text becomes an amount of storage', () => {
  const volume = (remote: object) => ({
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec: { capacity: '5Gi', accessModes: ['ReadWriteOnce'], reclaimPolicy: 'Recycle', remote },
  });
  const { objects } = converted(volume({ serverIP: '192.0.2.1', path: '/x' }), claim);
  assert.deepEqual(
    objects.map(({ spec }) => spec),
    [
      {
        capacity: { storage: '5Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Recycle',
        nfs: { server: '192.0.2.1', path: '/x' },
      },
      {
        storageClassName: '',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '8Gi' } },
      },
    ],
  );
  assert.equal(one(claim).object.spec.storageClassName, undefined, 'the default class makes one');
  assert.match(
    String(converted(volume({})).errors[0]?.message),
    /spec\.remote: expected the address of a server/,
  );
});

test('the paths of a pod that are texts become hostPath volumes and mounts', () => {
  const { object, notes } = one({
    kind: 'Pod',
    metadata: { name: 'p', label: 'web', uid: 'x' },
    spec: {
      resources: { limits: {} },
      volumes: [{ name: 'v', hostPath: '/a' }],
      containers: [{ name: 'c', mounts: [{ hostPath: '/b', containerPath: '/c', readOnly: true, odd: 1 }] }],
    },
  });
  assert.deepEqual(object.spec, {
    containers: [{ name: 'c', volumeMounts: [{ name: 'mount-0-0', mountPath: '/c', readOnly: true }] }],
    volumes: [
      { name: 'v', hostPath: { path: '/a' } },
      { name: 'mount-0-0', hostPath: { path: '/b' } },
    ],
  });
  assert.deepEqual((object.metadata as JsonObject).labels, { name: 'web' });
  assert.deepEqual(notes.map((note) => note.split(' ')[1]).sort(), [
    'metadata.uid:',
    'spec.containers[0].mounts[0].odd:',
    'spec.resources:',
  ]);
});

for (const [what, dns] of [
  [
    'below spec',
    { spec: { hostname: 'a.b', paths: [{ urlPath: '/x', serviceName: 's', servicePort: 80 }] } },
  ],
  ['under other names', { spec: { host: 'a.b', paths: [{ subPath: '/x', svcName: 's', svcPort: '80' }] } }],
  ['beside the kind', { name: 'd', host: 'a.b', paths: [{ path: '/x', service: 's', port: 80 }] }],
] as const)
  test(`a Dns object is converted with its fields ${what}`, () => {
    const { object, notes } = one({ kind: 'DNS', metadata: { name: 'd' }, ...dns });
    assert.equal(object.apiVersion, 'minik8s.io/v1');
    assert.deepEqual(object.spec, {
      host: 'a.b',
      paths: [{ path: '/x', serviceName: 's', servicePort: 80 }],
    });
    assert.deepEqual(notes, []);
  });

test('unknown fields are reported at every depth', () => {
  const { notes } = converted(
    hpa({ scaleTargetRef: { ...target, odd: 1 }, ...bounds, ...withCpu, strange: { a: 1 } }),
    { ...claim, more: 'x' },
  );
  for (const path of ['spec.scaleTargetRef.odd', 'spec.strange', 'more'])
    assert.ok(notes.includes(`f:1: ${path}: left out: its meaning is not known`), notes.join('\n'));
});

test('an object that cannot be converted does not stop the others', () => {
  const { objects, errors } = converted({ kind: 'CronJob' }, hpa({ ...bounds }), claim, {
    kind: 'Hpa',
    metadata: 'x',
    spec: ['a'],
  });
  assert.deepEqual(
    objects.map(({ kind }) => kind),
    ['PersistentVolumeClaim'],
  );
  assert.equal(errors.length, 3);
  assert.match(String(errors[0]?.message), /kind CronJob is not converted/);
});
