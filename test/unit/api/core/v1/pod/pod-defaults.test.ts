import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setPodTemplateDefaults } from '../../../../../../src/api/core/v1/pod/defaults.ts';
import { type Pod, podResource } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { pullPolicyFor } from '../../../../../../src/api/core/v1/pod/spec-defaults.ts';
import { created, merge } from '../../../../../fixtures/kinds.ts';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] },
};
const withSpec = (fields: object) => created(podResource, merge(pod, { spec: fields }));
const container = (fields: object) =>
  withSpec({ containers: [{ name: 'web', image: 'nginx:1.27', ...fields }] }).spec.containers[0];

test('a pod with only an image gets all defaults', () => {
  const { spec, status } = created(podResource, pod);
  assert.deepEqual(spec, {
    schedulerName: 'default-scheduler',
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    enableServiceLinks: true,
    containers: [
      {
        name: 'web',
        image: 'nginx:1.27',
        imagePullPolicy: 'IfNotPresent',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
  });
  assert.deepEqual(status, { phase: 'Pending', qosClass: 'BestEffort' });
});

for (const [image, policy] of [
  ['nginx', 'Always'],
  ['nginx:latest', 'Always'],
  ['nginx:1.27', 'IfNotPresent'],
  ['registry:5000/nginx', 'Always'],
  ['registry:5000/nginx:1', 'IfNotPresent'],
  ['nginx@sha256:abc', 'IfNotPresent'],
  ['nginx:latest@sha256:abc', 'Always'],
  ['', 'IfNotPresent'],
] as const) {
  test(`image ${image} is pulled ${policy}`, () => assert.equal(pullPolicyFor(image), policy));
}

test('a specified pull policy is kept', () => {
  assert.equal(container({ image: 'nginx', imagePullPolicy: 'Never' })?.imagePullPolicy, 'Never');
});

test('requests default to limits, one by one', () => {
  const resources = { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } };
  assert.deepEqual(container({ resources })?.resources.requests, { cpu: '1', memory: '1Gi' });
});

test('container ports get the same host ports only on the host network', () => {
  const containers = [{ name: 'web', image: 'x', ports: [{ containerPort: 80 }] }];
  assert.equal(withSpec({ hostNetwork: true, containers }).spec.containers[0]?.ports?.[0]?.hostPort, 80);
  assert.equal(withSpec({ containers }).spec.containers[0]?.ports?.[0]?.hostPort, undefined);
});

test('an image volume has the default pull policy of containers, unless it specifies one', () => {
  const image = (reference: string, more: object = {}) => ({ name: 'v', image: { reference, ...more } });
  const policyOf = (volume: object) => withSpec({ volumes: [volume] }).spec.volumes?.[0]?.image?.pullPolicy;
  assert.equal(policyOf(image('data')), 'Always');
  assert.equal(policyOf(image('data:1')), 'IfNotPresent');
  assert.equal(policyOf(image('data', { pullPolicy: 'Never' })), 'Never');
});

test('a volume without a source becomes an emptyDir; a volume with a source of any kind is unchanged', () => {
  const { volumes } = withSpec({ volumes: [{ name: 'a' }, { name: 'b', cinder: { volumeID: 's' } }] }).spec;
  assert.deepEqual(volumes, [
    { name: 'a', emptyDir: {} },
    { name: 'b', cinder: { volumeID: 's' } },
  ]);
});

const qos = (...resources: object[]): string | undefined =>
  withSpec({ containers: resources.map((r, i) => ({ name: `c${i}`, image: 'x', resources: r })) }).status
    ?.qosClass;

test('a pod gets its quality of service from its requests and limits', () => {
  const both = { cpu: '1', memory: '1Gi' };
  assert.equal(qos({ limits: both }), 'Guaranteed');
  assert.equal(qos({ limits: both, requests: { cpu: '1000m', memory: '1024Mi' } }), 'Guaranteed');
  assert.equal(qos({ limits: both, requests: { cpu: '500m' } }), 'Burstable');
  assert.equal(qos({ limits: { cpu: '1' } }), 'Burstable');
  assert.equal(qos({ limits: both }, {}), 'Burstable');
  assert.equal(qos({ requests: { cpu: '1' } }), 'Burstable');
  assert.equal(qos({}, { requests: { memory: '0' } }), 'BestEffort');
});

test('the grace period of a pod depends on its phase and fields', () => {
  const grace = (fields: object, phase: 'Running' | 'Failed' | 'Succeeded', requested?: number) => {
    const running: Pod = { ...withSpec(fields), status: { phase } };
    return podResource.strategy.gracePeriodSeconds?.(running, requested);
  };
  const bound = { nodeName: 'n1', terminationGracePeriodSeconds: 5 };
  assert.equal(grace(bound, 'Running'), 5);
  assert.equal(grace(bound, 'Running', 60), 60);
  assert.equal(grace(bound, 'Running', 0), 0);
  assert.equal(grace(bound, 'Running', -1), 1);
  assert.equal(grace({ nodeName: 'n1' }, 'Running'), 30);
  assert.equal(grace({}, 'Running', 60), 0);
  assert.equal(grace(bound, 'Failed', 60), 0);
  assert.equal(grace(bound, 'Succeeded'), 0);
});

/** Returns the first volume of a pod's specification after defaulting. */
const volume = (source: object) => withSpec({ volumes: [{ name: 'v', ...source }] }).spec.volumes?.[0];
const defaultMode = 0o644;
const fieldRef = { fieldPath: 'metadata.name' };

test('probes and hooks get the defaults of Kubernetes', () => {
  const given = {
    livenessProbe: { httpGet: { port: 80 } },
    readinessProbe: { grpc: { port: 90 }, timeoutSeconds: 5, failureThreshold: 0 },
    lifecycle: { preStop: { httpGet: { port: 'http', path: '/x', scheme: 'HTTPS' } } },
  };
  const filled = {
    livenessProbe: {
      httpGet: { port: 80, path: '/', scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
    readinessProbe: {
      grpc: { port: 90, service: '' },
      timeoutSeconds: 5,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
    lifecycle: given.lifecycle,
  };
  assert.deepEqual(Object.assign({}, container({}), filled), container(given));
  const init = withSpec({ initContainers: [{ name: 'i', image: 'a:1', ...given }] }).spec;
  assert.deepEqual('initContainers' in init && init.initContainers, [
    { ...container({}), name: 'i', image: 'a:1', ...filled },
  ]);
});

for (const [source, filled] of [
  [{}, { emptyDir: {} }],
  [{ configMap: { name: 'c' } }, { configMap: { name: 'c', defaultMode } }],
  [{ configMap: { name: 'c', defaultMode: 0 } }, { configMap: { name: 'c', defaultMode: 0 } }],
  [{ secret: { secretName: 's' } }, { secret: { secretName: 's', defaultMode } }],
  [
    { downwardAPI: { items: [{ path: 'a', fieldRef }] } },
    { downwardAPI: { items: [{ path: 'a', fieldRef: { apiVersion: 'v1', ...fieldRef } }], defaultMode } },
  ],
  [
    { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    {
      projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }], defaultMode },
    },
  ],
  [{ hostPath: { path: '/h' } }, { hostPath: { path: '/h', type: '' } }],
  [{ iscsi: { lun: 0 } }, { iscsi: { lun: 0, iscsiInterface: 'default' } }],
] as const) {
  test(`the volume ${JSON.stringify(source)} gets its defaults`, () =>
    assert.deepEqual(volume(source), { name: 'v', ...filled }));
}

test('an amount with more than three decimals is rounded up in every field', () => {
  const resources = { limits: { cpu: '0.0001', memory: '1500u' } };
  const rounded = { cpu: '1m', memory: '2m' };
  assert.deepEqual(container({ resources })?.resources, { limits: rounded, requests: rounded });
  const { spec } = withSpec({ initContainers: [{ name: 'i', image: 'a:1', resources }] });
  assert.partialDeepStrictEqual(spec, {
    initContainers: [{ resources: { limits: rounded, requests: rounded } }],
  });
});

test('the older name of the service account has the same value', () => {
  for (const field of ['serviceAccount', 'serviceAccountName'])
    assert.partialDeepStrictEqual(withSpec({ [field]: 'robot' }).spec, {
      serviceAccount: 'robot',
      serviceAccountName: 'robot',
    });
});

test('a template does not get the defaults of pods', () => {
  const template = { metadata: {}, spec: created(podResource, pod).spec };
  delete template.spec.enableServiceLinks;
  setPodTemplateDefaults(template);
  assert.equal(template.spec.enableServiceLinks, undefined);
});
