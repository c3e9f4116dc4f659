/** The parts of the control plane during the life of a cluster: their roles allow all their requests. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { certificateSigningRequestResource as requests } from '../../../src/api/certificates/v1/certificate-signing-request.ts';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import { endpointsResource } from '../../../src/api/core/v1/service/endpoints.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { serviceAccountResource } from '../../../src/api/core/v1/service-account/service-account.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { clusterRoleResource } from '../../../src/api/rbac/v1/cluster-role.ts';
import { roleBindingResource } from '../../../src/api/rbac/v1/role-binding.ts';
import type { Draft, KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { rfc3339Micro } from '../../../src/base/time.ts';
import { dnsResource } from '../../../src/features/host-names/api/dns.ts';
import { makeKey, makeRequest } from '../../../src/pki/new-request.ts';
import type { FakeClock } from '../../fixtures/fake-clock.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

let cluster: Cluster;
before(async () => {
  cluster = await startCluster({ nodeApproval: 'manual' });
  for (const name of ['n1', 'n2']) await cluster.addNode(name);
});
after(() => cluster.stop());

const make = <T extends KubeObject>(ref: ResourceRef<T>, object: object) =>
  cluster.client.resource(ref).create({
    apiVersion: ref.group ? `${ref.group}/${ref.version}` : ref.version,
    kind: ref.kind,
    ...object,
  } as Draft<T>);
const labels = { app: 'web' };
const template = (image: string) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'app', image }] },
});
const deployment = (namespace: string) => ({
  metadata: { name: 'web', namespace },
  spec: { replicas: 3, selector: { matchLabels: labels }, template: template('app:1') },
});
const running = (count: number, image: string, namespace = 'default') =>
  cluster.eventually(`${count} pods of ${image}`, async () => {
    const pods = (await cluster.list(podResource, namespace)).filter(
      ({ metadata }) => !metadata.deletionTimestamp && metadata.labels?.app === 'web',
    );
    const right = (pod: Pod) => pod.status?.phase === 'Running' && pod.spec.containers[0]?.image === image;
    return pods.length === count && pods.every(right);
  });
const gone = (ref: ResourceRef, name: string, namespace = 'default') =>
  cluster.eventually(`${ref.kind} ${name} is gone`, async () => !(await cluster.get(ref, name, namespace)));
const none = () => assert.deepEqual(refusedParts(), []);
/** Rejected requests of the control plane; users of a test may be rejected. */
const refusedParts = () => [...cluster.refused].filter((text) => text.startsWith('User "system:'));

test('no request is refused while a Deployment behind a Service is changed, scaled, adopted and deleted', async () => {
  await make(deploymentResource, deployment('default'));
  await make(serviceResource, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: labels, ports: [{ port: 80 }] },
  });
  await running(3, 'app:1');
  await cluster.eventually('its endpoints', async () => {
    const slices = await cluster.list(endpointSliceResource, 'default');
    const endpoints = await cluster.get(endpointsResource, 'web');
    return endpoints?.subsets?.length && slices.some(({ endpoints: all }) => all.length === 3);
  });
  await cluster.edit<Deployment>(deploymentResource, 'web', ({ spec }) => {
    spec.template = template('app:2') as unknown as typeof spec.template;
    spec.replicas = 2;
  });
  await running(2, 'app:2');
  // A pod that is released and a pod that is adopted.
  const [first] = await cluster.list(podResource, 'default');
  assert.ok(first);
  await cluster.client.resource(podResource).patch(first.metadata.name, 'default', 'merge', {
    metadata: { labels: { app: 'other', 'pod-template-hash': null } },
  });
  await cluster.eventually('the pod has no owner', async () => {
    const pod = await cluster.get(podResource, first.metadata.name);
    return pod?.metadata.ownerReferences?.length === 0 || pod?.metadata.ownerReferences === undefined;
  });
  await cluster.client.resource(podResource).delete(first.metadata.name, 'default');
  await running(2, 'app:2');
  await cluster.client.resource(deploymentResource).delete('web', 'default', { propagationPolicy: 'Orphan' });
  await gone(deploymentResource, 'web');
  await make(deploymentResource, {
    ...deployment('default'),
    spec: { ...deployment('default').spec, template: template('app:2') },
  });
  await running(3, 'app:2');
  await cluster.client
    .resource(deploymentResource)
    .delete('web', 'default', { propagationPolicy: 'Foreground' });
  await gone(deploymentResource, 'web');
  assert.equal((await cluster.list(replicaSetResource, 'default')).length, 0);
  none();
});

test('no request is refused while a pod fits no node, and then one', async () => {
  const spec = { containers: [{ name: 'app', image: 'app:1' }], nodeSelector: { disk: 'fast' } };
  await make(podResource, { metadata: { name: 'picky', namespace: 'default' }, spec });
  await cluster.eventually('the reason for waiting is reported', async () => {
    const events = await cluster.list(eventResource, 'default');
    const pod = await cluster.get(podResource, 'picky');
    return events.some(({ reason }) => reason === 'FailedScheduling') && pod?.metadata.annotations;
  });
  await cluster.client
    .resource(nodeResource)
    .patch('n2', '', 'merge', { metadata: { labels: { disk: 'fast' } } });
  await cluster.eventually(
    'the pod is scheduled',
    async () => (await cluster.get(podResource, 'picky'))?.spec.nodeName,
  );
  none();
});

test('no request is refused while a Service without a selector is mirrored and deleted', async () => {
  const metadata = { name: 'outside', namespace: 'default' };
  await make(serviceResource, { metadata, spec: { ports: [{ port: 80 }] } });
  await make(endpointsResource, {
    metadata,
    subsets: [{ addresses: [{ ip: '192.0.2.99' }], ports: [{ port: 80 }] }],
  });
  const mirrored = async () =>
    (await cluster.list(endpointSliceResource, 'default')).some(
      ({ endpoints }) => endpoints[0]?.addresses[0] === '192.0.2.99',
    );
  await cluster.eventually('the slice', mirrored);
  await cluster.client.resource(serviceResource).delete('outside', 'default');
  await cluster.eventually('no slice', async () => !(await mirrored()));
  none();
});

test('no request is refused while a host name gets its status', async () => {
  await make(dnsResource, {
    metadata: { name: 'shop', namespace: 'default' },
    spec: { host: 'shop.example', paths: [{ path: '/', serviceName: 'web', servicePort: 80 }] },
  });
  await cluster.eventually(
    'its status',
    async () => (await cluster.get(dnsResource, 'shop'))?.status?.conditions,
  );
  none();
});

test('no request is refused while a node is lost and another one is deleted', async () => {
  const namespace = 'kube-node-lease';
  const renewTime = () => rfc3339Micro(cluster.clock.now());
  for (const name of ['n1', 'n2'])
    await make(leaseResource, { metadata: { name, namespace }, spec: { renewTime: renewTime() } });
  await make(deploymentResource, deployment('default'));
  await running(3, 'app:1');
  for (let passed = 0; passed < 400_000; passed += 10_000) {
    await cluster.client
      .resource(leaseResource)
      .patch('n2', namespace, 'merge', { spec: { renewTime: renewTime() } });
    await cluster.pass(10_000);
  }
  const node = await cluster.get(nodeResource, 'n1');
  assert.ok(node?.spec.taints?.some(({ key }) => key === 'node.kubernetes.io/unreachable'));
  await cluster.eventually('the pods are elsewhere', async () => {
    const pods = (await cluster.list(podResource, 'default')).filter(
      ({ metadata }) => metadata.labels?.app === 'web',
    );
    return pods.length === 3 && pods.every(({ spec }) => spec.nodeName === 'n2');
  });
  cluster.agent.mayEnd = () => false;
  await cluster.client.resource(nodeResource).delete('n2');
  await cluster.pass(120_000);
  await cluster.eventually('no pod of the deleted node', async () =>
    (await cluster.list(podResource)).every(({ spec }) => spec.nodeName !== 'n2'),
  );
  cluster.agent.mayEnd = () => true;
  none();
});

test('no request is refused while a namespace gets its objects, is repaired and is deleted', async () => {
  await make(namespaceResource, { metadata: { name: 'team' } });
  await cluster.eventually('the objects of a new namespace', async () => {
    const account = await cluster.get(serviceAccountResource, 'default', 'team');
    return account && (await cluster.get(configMapResource, 'kube-root-ca.crt', 'team'));
  });
  const maps = cluster.client.resource(configMapResource);
  await maps.delete('kube-root-ca.crt', 'team');
  await cluster.eventually('the authority again', async () => {
    const map = await cluster.get(configMapResource, 'kube-root-ca.crt', 'team');
    return (
      map &&
      maps.update({ ...map, data: {}, immutable: true }).then(
        () => true,
        () => false,
      )
    );
  });
  await cluster.eventually(
    'the authority instead of the changed map',
    async () => (await cluster.get(configMapResource, 'kube-root-ca.crt', 'team'))?.data?.['ca.crt'],
  );
  await make(deploymentResource, deployment('team'));
  await cluster.client.resource(namespaceResource).delete('team');
  await gone(namespaceResource, 'team');
  none();
});

test('no request is refused while a machine joins, is approved and gets its certificates', async () => {
  const ask = async (
    user: string,
    group: string,
    name: string,
    signer: string,
    usage: string,
    hosts: string[],
  ) => {
    const subject = { commonName: 'system:node:new', organizations: ['system:nodes'], hosts };
    const pem = await (cluster.clock as FakeClock).elsewhere(
      makeKey().then((key) => makeRequest(key, subject)),
    );
    await cluster
      .clientOf({ name: user, groups: [group, 'system:authenticated'] })
      .resource(requests)
      .create({
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: {
          request: Buffer.from(pem).toString('base64'),
          signerName: `kubernetes.io/${signer}`,
          usages: ['digital signature', usage],
        },
      });
  };
  const signed = (name: string) =>
    cluster.eventually(
      `the certificate ${name}`,
      async () => (await cluster.get(requests, name))?.status?.certificate,
    );
  await ask(
    'system:bootstrap:abcdef',
    'system:bootstrappers',
    'join',
    'kube-apiserver-client-kubelet',
    'client auth',
    [],
  );
  await cluster.eventually(
    'a Node that waits',
    async () => (await cluster.get(nodeResource, 'new'))?.status?.phase === 'Pending',
  );
  const request = await cluster.client.resource(requests).get('join');
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test' }];
  await cluster.client
    .resource(requests)
    .updateSubresource({ ...request, status: { conditions } } as typeof request, 'approval');
  await signed('join');
  await cluster.eventually(
    'the Node is admitted',
    async () => !(await cluster.get(nodeResource, 'new'))?.status?.phase,
  );
  await ask('system:node:new', 'system:nodes', 'serve', 'kubelet-serving', 'server auth', ['new']);
  await signed('serve');
  await cluster.pass(2 * 3600_000);
  await gone(requests, 'join');
  none();
});

test('no request is refused while an expired token is deleted', async () => {
  await make(secretResource, {
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      expiration: '2020-01-01T00:00:00Z',
    },
  });
  await gone(secretResource, 'bootstrap-token-abcdef', 'kube-system');
  none();
});

test('no request is refused while roles are aggregated', async () => {
  const namespaced = (name: string, verb: string) =>
    cluster.eventually(`${name} has its rules`, async () =>
      (await cluster.get(clusterRoleResource, name))?.rules?.some(
        ({ verbs, resources }) => verbs.includes(verb) && resources?.includes('configmaps'),
      ),
    );
  await namespaced('view', 'get');
  await namespaced('edit', 'create');
  await namespaced('admin', 'create');
  const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
  const rules = [{ verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] }];
  await make(clusterRoleResource, { metadata: { name: 'things', labels }, rules });
  const has = async (name: string) =>
    (await cluster.get(clusterRoleResource, name))?.rules?.some(({ apiGroups }) =>
      apiGroups?.includes('example.com'),
    );
  for (const name of ['view', 'edit', 'admin'])
    await cluster.eventually(`${name} has it too`, () => has(name));
  await cluster.client.resource(clusterRoleResource).delete('things');
  for (const name of ['view', 'edit', 'admin'])
    await cluster.eventually(`${name} no longer has it`, async () => !(await has(name)));
  none();
});

test('the administrator of a namespace has all rights there, and grants them to others', async () => {
  const bindings = roleBindingResource;
  const bind = (name: string, role: string, user: string) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name, namespace: 'default' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
  });
  const clientOf = (name: string) => cluster.clientOf({ name, groups: ['system:authenticated'] });
  await cluster.client.resource(bindings).create(bind('ann', 'admin', 'ann'));
  const ann = clientOf('ann');
  await cluster.eventually('the binding applies', () =>
    ann
      .resource(bindings)
      .create(bind('eve', 'edit', 'eve'))
      .catch(() => undefined),
  );
  const eve = clientOf('eve').resource(configMapResource);
  const map = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
  });
  await cluster.eventually('eve may write', () => eve.create(map('eves')).catch(() => undefined));
  await assert.rejects(
    ann.resource(bindings).create(bind('root', 'cluster-admin', 'ann')),
    /not currently held/,
  );
  await assert.rejects(
    clientOf('eve')
      .resource(bindings)
      .create(bind('me', 'view', 'eve')),
    /cannot create resource "rolebindings"/,
  );
  await assert.rejects(
    eve.create({ ...map('x'), metadata: { name: 'x', namespace: 'kube-system' } }),
    /cannot create/,
  );
});
