/**
 * Properties of every kind, on random objects: defaulting is idempotent, and an object that is written back
 * as it was read neither changes nor is rejected as changed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepCopy } from '../../../src/apimachinery/equality.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { objectTypeOf } from '../../../src/apimachinery/schema-types.ts';
import { deepFreeze } from '../../../src/base/freeze.ts';
import { kindFields, storedKinds } from '../../../src/features/kinds.ts';
import { created, updated } from '../../fixtures/kinds.ts';
import { Draw, drawFields } from './draw.ts';

const rounds = 60;

const podSpec = (draw: Draw) => ({
  hostNetwork: draw.of(undefined, true, false),
  nodeName: draw.of(undefined, 'n1'),
  volumes: draw.list(2, (i) => ({ name: `v${i}`, hostPath: draw.of(undefined, { path: '/d' }) })),
  tolerations: draw.list(2, () => ({
    key: draw.of(undefined, 'a', 'node.kubernetes.io/not-ready'),
    operator: draw.of(undefined, 'Exists'),
    effect: draw.of(undefined, 'NoExecute', 'NoSchedule'),
  })),
  containers: [0, 1].map((i) => ({
    name: `c${i}`,
    image: draw.of('a', 'a:1', 'a@sha256:0'),
    ports: draw.list(2, (p) => ({ containerPort: 80 + p, hostPort: draw.of(undefined, 90 + p) })),
    resources: draw.of(
      undefined,
      {},
      { limits: { cpu: '1' } },
      { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: 1 } },
    ),
  })),
});

const roles = (draw: Draw) => ({
  rules: draw.list(2, () => ({ verbs: ['get'], apiGroups: [''], resources: draw.of(['pods'], ['*']) })),
});

const binding = (draw: Draw) => ({
  roleRef: { kind: 'ClusterRole', name: 'x', apiGroup: draw.of(undefined, 'rbac.authorization.k8s.io') },
  subjects: draw.list(2, () => ({
    kind: draw.of('User', 'Group', 'ServiceAccount'),
    name: 'a',
    apiGroup: draw.of(undefined, ''),
    namespace: draw.of(undefined, 'b'),
  })),
});

const workload = (draw: Draw) => ({
  replicas: draw.of(undefined, 0, 3),
  selector: { matchLabels: { app: 'web' } },
  strategy: draw.of<object | undefined>(
    undefined,
    { type: 'Recreate' },
    { rollingUpdate: { maxSurge: 1 } },
    { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } },
  ),
  template: { metadata: { labels: { app: 'web' } }, spec: podSpec(draw) },
});

const job = (draw: Draw) => ({
  parallelism: draw.of(undefined, 0, 3),
  completions: draw.of(undefined, 5),
  completionMode: draw.of(undefined, 'Indexed'),
  backoffLimitPerIndex: draw.of(undefined, 1),
  podFailurePolicy: draw.of<object | undefined>(undefined, {
    rules: [{ action: 'Count', onPodConditions: [{ type: 'a' }] }],
  }),
  template: { metadata: { labels: draw.labels() }, spec: { ...podSpec(draw), restartPolicy: 'Never' } },
});

const service = (draw: Draw) => ({
  type: draw.of(undefined, 'ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'),
  clusterIP: draw.of(undefined, 'None', '10.96.0.9'),
  clusterIPs: draw.of(undefined, ['10.96.0.9']),
  externalName: draw.of(undefined, 'db.example.com'),
  externalIPs: draw.of(undefined, ['192.0.2.1']),
  sessionAffinity: draw.of(undefined, 'None', 'ClientIP'),
  ports: draw.list(3, (i) => ({
    name: `p${i}`,
    port: 80 + i,
    targetPort: draw.of<number | string | undefined>(undefined, 0, 8080, 'http'),
    nodePort: draw.of(undefined, 30080 + i),
  })),
});

/**
 * Fields that a creator may write into an object of a kind, in addition to metadata, if their values must be
 * meaningful; other kinds get random values in every field.
 */
const bodies: Readonly<Record<string, (draw: Draw) => object>> = {
  Pod: (draw) => ({ spec: podSpec(draw) }),
  Namespace: (draw) => ({ spec: draw.of(undefined, {}, { finalizers: ['example.com/x'] }) }),
  Node: (draw) => ({
    spec: { podCIDR: draw.of(undefined, '10.244.0.0/24'), podCIDRs: draw.of(undefined, ['10.244.0.0/24']) },
  }),
  Service: (draw) => ({ spec: service(draw) }),
  ConfigMap: (draw) => ({ data: draw.labels(), immutable: draw.of(undefined, true) }),
  Secret: (draw) => ({
    data: draw.of(undefined, { a: 'eA==' }),
    stringData: draw.of(undefined, { a: 'y', b: 'grüße' }),
    immutable: draw.of(undefined, true),
  }),
  ServiceAccount: (draw) => ({
    secrets: draw.list(2, (i) => ({ name: `s${i}`, uid: draw.of(undefined, 'u') })),
  }),
  PodTemplate: (draw) => ({
    template: { metadata: { labels: draw.labels() }, spec: podSpec(draw) },
  }),
  Event: (draw) => ({ involvedObject: { kind: draw.of(undefined, 'Pod') }, count: draw.of(undefined, 2) }),
  EndpointSlice: (draw) => ({
    addressType: draw.of('IPv4', 'IPv6'),
    endpoints: draw.list(2, () => ({ addresses: ['10.0.0.1'] })),
    ports: draw.list(2, (i) => ({ port: draw.of(undefined, 80 + i) })),
  }),
  Endpoints: (draw) => ({
    subsets: draw.of(undefined, [
      { addresses: [{ ip: '10.0.0.1' }], ports: draw.list(2, (i) => ({ name: `p${i}`, port: 80 + i })) },
    ]),
  }),
  Lease: (draw) => ({ spec: draw.of(undefined, { holderIdentity: 'a' }) }),
  ReplicaSet: (draw) => ({ spec: { ...workload(draw), strategy: undefined } }),
  Deployment: (draw) => ({ spec: workload(draw) }),
  Role: roles,
  ClusterRole: roles,
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  PersistentVolume: (draw) => ({
    spec: {
      capacity: { storage: draw.of('1Gi', '1.00001') },
      hostPath: draw.of(undefined, { path: '/d' }),
      rbd: draw.of(undefined, { monitors: ['a'], image: 'b' }),
      volumeMode: draw.of(undefined, 'Block'),
    },
  }),
  PersistentVolumeClaim: (draw) => ({
    spec: {
      resources: draw.of(undefined, { requests: { storage: '1.00001' } }),
      dataSource: draw.of(
        undefined,
        { kind: 'PersistentVolumeClaim', name: 'a' },
        { kind: 'Foo', name: 'a' },
      ),
      dataSourceRef: draw.of(undefined, { kind: 'Foo', name: 'a', namespace: draw.of(undefined, 'b') }),
    },
  }),
  StorageClass: (draw) => ({
    provisioner: 'a/b',
    reclaimPolicy: draw.of(undefined, 'Retain'),
    parameters: draw.labels(),
  }),
  CSIDriver: (draw) => ({
    spec: {
      attachRequired: draw.of(undefined, false),
      volumeLifecycleModes: draw.of<string[] | undefined>(undefined, [], ['Ephemeral']),
    },
  }),
  CSINode: (draw) => ({
    spec: draw.of(undefined, { drivers: draw.list(2, (i) => ({ name: `d${i}`, nodeID: 'n' })) }),
  }),
  CSIStorageCapacity: (draw) => ({
    storageClassName: 'fast',
    nodeTopology: draw.of(undefined, {}, { matchLabels: { a: 'b' } }),
  }),
  StorageVersionMigration: () => ({ spec: { resource: { group: 'a.b', resource: 'cs' } } }),
  VolumeAttributesClass: () => ({ driverName: 'a/b', parameters: { a: 'b' } }),
  VolumeAttachment: (draw) => ({
    spec: {
      attacher: 'a',
      nodeName: 'n',
      source: draw.of<object>(
        { persistentVolumeName: 'p' },
        { inlineVolumeSpec: { csi: { driver: 'a', volumeHandle: 'b' } } },
      ),
    },
  }),
  FlowSchema: (draw) => ({
    spec: {
      priorityLevelConfiguration: draw.of(undefined, { name: 'low' }),
      matchingPrecedence: draw.of(undefined, 0, 5),
      rules: draw.list(2, () => ({ subjects: draw.of(undefined, [{ kind: 'User', user: {} }]) })),
    },
  }),
  PriorityLevelConfiguration: (draw) => ({
    spec: {
      type: draw.of('Limited', 'Exempt'),
      limited: draw.of<object | undefined>(
        undefined,
        {},
        { limitResponse: { type: 'Queue', queuing: { queues: draw.of(undefined, 0, 5) } } },
      ),
      exempt: draw.of(undefined, {}),
    },
  }),
  DaemonSet: (draw) => ({
    spec: {
      ...workload(draw),
      replicas: undefined,
      strategy: undefined,
      updateStrategy: draw.of<object | undefined>(
        undefined,
        { type: 'OnDelete' },
        { rollingUpdate: { maxSurge: 0 } },
      ),
    },
  }),
  StatefulSet: (draw) => ({
    spec: {
      ...workload(draw),
      strategy: undefined,
      updateStrategy: draw.of<object | undefined>(
        undefined,
        { type: 'RollingUpdate' },
        { rollingUpdate: {} },
      ),
      ordinals: draw.of(undefined, {}, { start: 2 }),
      volumeClaimTemplates: draw.list(1, () => ({ metadata: { name: 'data' }, spec: {} })),
    },
  }),
  ControllerRevision: (draw) => ({ data: { any: draw.labels() }, revision: draw.of(undefined, 3) }),
  ReplicationController: (draw) => ({
    spec: { ...workload(draw), strategy: undefined, selector: draw.labels() },
  }),
  Job: (draw) => ({ spec: job(draw) }),
  CronJob: (draw) => ({
    spec: {
      schedule: '@hourly',
      suspend: draw.of(undefined, true),
      jobTemplate: { metadata: draw.of(undefined, { labels: { a: 'b' } }), spec: job(draw) },
    },
  }),
  PodDisruptionBudget: (draw) => ({
    spec: draw.of(undefined, { minAvailable: 1 }, { maxUnavailable: '5%', selector: {} }),
  }),
  ResourceQuota: (draw) => ({
    spec: draw.of(undefined, { hard: { pods: '1', cpu: '100u' }, scopes: ['Terminating'] }),
  }),
  LimitRange: (draw) => ({
    spec: {
      limits: draw.list(2, () => ({
        type: draw.of('Container', 'Pod'),
        max: draw.of(undefined, {}, { cpu: '3', memory: '100u' }),
        min: draw.of(undefined, { cpu: '1' }),
        default: draw.of(undefined, {}, { cpu: '2' }),
      })),
    },
  }),
  Ingress: (draw) => ({
    spec: draw.of<object | undefined>(
      undefined,
      { defaultBackend: { service: { name: 'web' } } },
      { rules: [{ http: { paths: [{ pathType: 'Exact' }] } }], tls: [{}] },
    ),
  }),
  APIService: (draw) => ({
    spec: {
      group: 'a.example',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: draw.of<object | undefined>(undefined, { namespace: 'a', name: 'b' }),
    },
  }),
  IPAddress: () => ({ spec: { parentRef: { resource: 'things', name: 'a' } } }),
  ServiceCIDR: () => ({ spec: { cidrs: ['203.0.113.0/24'] } }),
  IngressClass: (draw) => ({
    spec: { controller: 'a.example/b', parameters: draw.of(undefined, { kind: 'A', name: 'b' }) },
  }),
  NetworkPolicy: (draw) => ({
    spec: draw.of<object | undefined>(
      undefined,
      {},
      { egress: [{}] },
      { ingress: [{ ports: [{ port: 80 }] }] },
    ),
  }),
  PriorityClass: (draw) => ({ value: draw.of(undefined, 5), globalDefault: draw.of(undefined, true) }),
  RuntimeClass: (draw) => ({
    handler: 'runsc',
    overhead: draw.of(undefined, {}, { podFixed: { cpu: '100u' } }),
  }),
  HorizontalPodAutoscaler: (draw) => ({
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'web' },
      minReplicas: draw.of(undefined, 2),
      maxReplicas: 3,
      metrics: draw.of(undefined, [], [{ type: 'Pods', pods: {} }]),
      behavior: draw.of<object | undefined>(undefined, {}, { scaleUp: { selectPolicy: 'Min' } }),
    },
  }),
  Dns: (draw) => ({
    spec: {
      host: draw.of('a.example', 'b.example'),
      paths: [{ path: draw.of(undefined, '/', '/a/', '/b//'), serviceName: 'web', servicePort: 80 }],
    },
  }),
  PodCertificateRequest: (draw) => ({
    metadata: { labels: { a: draw.of('x', 'y') } },
    spec: {
      ...{ signerName: 'a.b/c', podName: 'a', podUID: 'p', serviceAccountName: 's', serviceAccountUID: 's' },
      ...{ nodeName: 'n', nodeUID: 'n', stubPKCS10Request: draw.of('eA==', 'eQ==') },
    },
  }),
  ClusterTrustBundle: (draw) => ({ spec: { trustBundle: draw.of('x', 'y') } }),
  CertificateSigningRequest: (draw) => ({
    spec: {
      request: 'eA==',
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['server auth'],
      expirationSeconds: draw.of(undefined, 600),
      username: draw.of(undefined, 'somebody'),
    },
  }),
};

function drawnBody(kind: ResourceDefinition, draw: Draw): object {
  const body = bodies[kind.kind];
  if (body) return body(draw);
  const {
    apiVersion: _,
    kind: __,
    metadata: ___,
    status: ____,
    ...rest
  } = drawFields(objectTypeOf(kind, kindFields), draw);
  return rest;
}

function draft(kind: ResourceDefinition, draw: Draw): KubeObject {
  const metadata = { name: 'web', ...(kind.namespaced && { namespace: 'default' }), labels: draw.labels() };
  const head = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
  return deepCopy({ ...head, ...drawnBody(kind, draw) }) as KubeObject;
}

for (const kind of storedKinds) {
  test(`${kind.kind}: a second round of defaults changes nothing, and an update with the stored object changes nothing`, () => {
    for (let seed = 1; seed <= rounds; seed++) {
      const stored = deepFreeze(created(kind, draft(kind, new Draw(seed))));
      const again = deepCopy(stored);
      kind.strategy.setDefaults?.(again);
      assert.deepEqual(again, deepCopy(stored), `seed ${seed}: defaulting twice`);

      const { object } = updated(kind, stored, stored);
      assert.deepEqual(deepCopy(object), deepCopy(stored), `seed ${seed}: writing back`);
      assert.deepEqual(
        kind.strategy.validateUpdate?.(object, stored) ?? [],
        [],
        `seed ${seed}: not a change`,
      );
    }
  });
}
