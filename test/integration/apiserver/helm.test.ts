/**
 * Unmodified Helm with the chart that `helm create` makes: Helm 3 merges on the client, Helm 4 applies on the
 * server. Controllers run beside the server, and an agent makes pods ready, so that --wait can succeed.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { serviceAccountResource } from '../../../src/api/core/v1/service-account/service-account.ts';
import type { ManagedFieldsEntry } from '../../../src/apimachinery/managed-fields/managers.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { type Helm, type HelmVersion, helmFor, helmVersions, unlessHelm } from '../../fixtures/helms.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { type Cluster, startCluster } from '../controllers/cluster.ts';

let server: HttpsTestServer;
let cluster: Cluster;
let kubeconfig: string;

before(async () => {
  server = await startHttpsTestServer({ clock: systemClock });
  cluster = await startCluster({ server, authority: server.authority });
  await cluster.addNode('one');
  kubeconfig = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
});
after(() => cluster.stop());

async function done(run: ReturnType<Helm>): Promise<string> {
  const { code, out, err } = await run;
  assert.equal(code, 0, err);
  return out;
}

/** A Service name, which contains no dots. */
const chartOf = (version: HelmVersion) => `chart${version[0]}`;

async function makeChart(version: HelmVersion): Promise<void> {
  await done(helmFor(version, kubeconfig, server.directory)('create', chartOf(version)));
}

/**
 * Returns the field managers of the object, without the controllers, which have no names beside this server.
 */
const clientsOf = ({ metadata }: KubeObject) =>
  ((metadata.managedFields ?? []) as ManagedFieldsEntry[])
    .map(({ manager, operation }) => `${manager} ${operation}`)
    .filter((writer) => !writer.startsWith('unknown '))
    .sort();

const releaseKinds = [deploymentResource, serviceResource, serviceAccountResource] as const;

/** Returns the objects of a chart's release and nothing else, since each test has a namespace of its own. */
async function objectsIn(namespace: string): Promise<readonly KubeObject[]> {
  const lists = await Promise.all(releaseKinds.map((kind) => wholeIn<KubeObject>(kind, namespace)));
  return lists.flat().filter(({ metadata }) => metadata.name !== 'default');
}

/** Returns whole objects; the objects of a list have no managedFields. */
async function wholeIn<T extends KubeObject>(kind: ResourceRef<T>, namespace: string): Promise<readonly T[]> {
  const found = await cluster.list(kind, namespace);
  const whole = await Promise.all(found.map(({ metadata }) => cluster.get(kind, metadata.name, namespace)));
  return whole.filter((object) => object !== undefined);
}

async function deploymentIn(namespace: string): Promise<Deployment> {
  const [deployment] = await wholeIn(deploymentResource, namespace);
  assert.ok(deployment);
  return deployment;
}

const stateOf = ({ spec }: Deployment) => [spec.replicas, spec.template.spec.containers[0]?.image];

for (const version of helmVersions) {
  const writes = version.startsWith('3') ? 'helm Update' : 'helm Apply';
  const chart = chartOf(version);

  describe(`Helm ${version}`, { timeout: 300_000, skip: unlessHelm(version) }, () => {
    const namespace = `shop-${version.replaceAll('.', '-')}`;
    let helm: Helm;
    before(async () => {
      await makeChart(version);
      const own = helmFor(version, kubeconfig, server.directory);
      helm = (...args) => own(...args, '-n', namespace);
    });

    it('changes nothing in a dry run on the server', async () => {
      const out = await done(
        helm('install', 'web', chart, '--dry-run=server', '--set', 'replicaCount=7', '--set', 'image.tag=a'),
      );
      assert.match(out, /^ {2}replicas: 7$/m);
      assert.deepEqual(await objectsIn(namespace), []);
    });

    it('installs into a namespace that it creates, and waits until the pods are ready', async () => {
      await done(
        helm('install', 'web', chart, '--create-namespace', '--wait', '--timeout=120s', '--set=image.tag=a'),
      );
      const deployment = await deploymentIn(namespace);
      assert.deepEqual(stateOf(deployment), [1, 'nginx:a']);
      assert.equal(deployment.status?.readyReplicas, 1);
      const objects = await objectsIn(namespace);
      assert.equal(objects.length, 3);
      for (const object of objects) assert.deepEqual(clientsOf(object), [writes], object.kind);
      const [set] = await cluster.list(replicaSetResource, namespace);
      assert.equal(set?.metadata.ownerReferences?.[0]?.uid, deployment.metadata.uid);
      const [pod] = await cluster.list(podResource, namespace);
      assert.equal(pod?.metadata.ownerReferences?.[0]?.uid, set?.metadata.uid);
    });

    it('upgrades to other values', async () => {
      await done(helm('upgrade', 'web', chart, '--wait', '--set=image.tag=b', '--set=replicaCount=2'));
      const deployment = await deploymentIn(namespace);
      assert.deepEqual(stateOf(deployment), [2, 'nginx:b']);
      assert.equal(deployment.status?.updatedReplicas, 2);
      assert.deepEqual(clientsOf(deployment), [writes]);
      const sets = await cluster.list(replicaSetResource, namespace);
      assert.deepEqual(sets.map(({ spec }) => spec.replicas).sort(), [0, 2]);
    });

    it('keeps fields that another manager added, and restores its own values, with or without force', async () => {
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/web-${chart}`;
      const headers = { 'content-type': 'application/merge-patch+json', 'user-agent': 'kubectl/v1' };
      const change = { metadata: { annotations: { note: 'mine' } }, spec: { replicas: 5 } };
      assert.equal((await server.call('PATCH', path, change, { headers })).status, 200);
      const upgrade = ['upgrade', 'web', chart, '--set=image.tag=b', '--set=replicaCount=3'];
      if (writes === 'helm Apply') {
        const refused = await helm(...upgrade);
        assert.equal(refused.code, 1);
        assert.match(refused.err, /conflict with "kubectl" using apps\/v1: \.spec\.replicas/);
        assert.deepEqual(stateOf(await deploymentIn(namespace)), [5, 'nginx:b']);
        await done(helm(...upgrade, '--force-conflicts'));
      } else await done(helm(...upgrade));
      const deployment = await deploymentIn(namespace);
      assert.deepEqual(stateOf(deployment), [3, 'nginx:b']);
      assert.equal(deployment.metadata.annotations?.note, 'mine');
    });

    it('rolls back to the first revision, and lists all revisions', async () => {
      await done(helm('rollback', 'web', '1', '--wait'));
      const deployment = await deploymentIn(namespace);
      assert.deepEqual(stateOf(deployment), [1, 'nginx:a']);
      const sets = await cluster.list(replicaSetResource, namespace);
      assert.equal(sets.length, 2, 'the first ReplicaSet is the one again');
      const history = JSON.parse(await done(helm('history', 'web', '-o', 'json'))) as {
        revision: number;
        status: string;
      }[];
      assert.deepEqual(
        [history.at(-1)?.status, history[0]?.status, history.length],
        ['deployed', 'superseded', writes === 'helm Apply' ? 5 : 4],
      );
      const secrets = await cluster.list(secretResource, namespace);
      assert.equal(secrets.filter(({ type }) => type === 'helm.sh/release.v1').length, history.length);
      const releases = JSON.parse(await done(helm('list', '-o', 'json'))) as { name: string }[];
      assert.deepEqual(
        releases.map(({ name }) => name),
        ['web'],
      );
      assert.match(await done(helm('get', 'manifest', 'web')), /^ +image: "nginx:a"$/m);
    });

    it('removes all objects of a release', async () => {
      await done(helm('uninstall', 'web', '--wait'));
      assert.deepEqual(await objectsIn(namespace), []);
      await cluster.eventually('what the Deployment had is gone too', async () => {
        const kinds = [replicaSetResource, podResource, secretResource] as const;
        const left = await Promise.all(kinds.map((kind) => cluster.list<KubeObject>(kind, namespace)));
        return left.flat().length === 0;
      });
    });

    it('works for a user with the role edit in a namespace, and not in other namespaces', async () => {
      const own = `${namespace}-own`;
      await server.call('POST', '/api/v1/namespaces', { metadata: { name: own } });
      const bindings = `/apis/rbac.authorization.k8s.io/v1/namespaces/${own}/rolebindings`;
      const binding = {
        metadata: { name: 'ann' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
      };
      assert.equal((await server.call('POST', bindings, binding)).status, 201);
      const ann = helmFor(version, await server.kubeconfigFor('ann', []), server.directory);
      const install = (...more: string[]) => ann('install', 'web', chart, ...more);
      await cluster.eventually('she may', async () => (await ann('list', '-n', own)).code === 0);
      const none = await install('-n', own, '--create-namespace');
      assert.match(none.err, /User "ann" cannot (create|patch) resource "namespaces"/);
      assert.deepEqual(await objectsIn(own), []);
      await done(install('-n', own));
      await done(ann('upgrade', 'web', chart, '-n', own, '--set', 'replicaCount=2'));
      assert.equal((await deploymentIn(own)).spec.replicas, 2);
      const elsewhere = await install('-n', 'default');
      assert.equal(elsewhere.code, 1);
      assert.match(
        elsewhere.err,
        /User "ann" cannot get resource "serviceaccounts".* in the namespace "default"/,
      );
      const inDefault = await objectsIn('default');
      assert.deepEqual(
        inDefault.map(({ metadata }) => metadata.name),
        ['kubernetes'],
      );
      await done(ann('uninstall', 'web', '-n', own));
      assert.deepEqual(await objectsIn(own), []);
    });
  });
}

describe('from Helm 3 to 4', { timeout: 300_000, skip: unlessHelm(...helmVersions) }, () => {
  it('Helm 4 continues a release of Helm 3 with client-side and then server-side apply, and keeps all its fields', async () => {
    const [old, next] = helmVersions.map((version) => helmFor(version, kubeconfig, server.directory));
    assert.ok(old && next);
    await makeChart(helmVersions[0]);
    const place = ['web', chartOf(helmVersions[0]), '-n', 'moved'];
    await done(old('install', ...place, '--create-namespace', '--set-string=podAnnotations.a=1'));
    // Helm 4 keeps the apply method of a release unless a flag changes it.
    await done(next('upgrade', ...place, '--set-string=podAnnotations.a=1', '--set=replicaCount=2'));
    for (const object of await objectsIn('moved')) assert.deepEqual(clientsOf(object), ['helm Update']);
    await done(next('upgrade', ...place, '--server-side=true', '--set=replicaCount=3'));
    for (const object of await objectsIn('moved')) assert.deepEqual(clientsOf(object), ['helm Apply']);
    const deployment = await deploymentIn('moved');
    assert.equal(deployment.spec.replicas, 3);
    assert.equal(
      deployment.spec.template.metadata?.annotations?.a,
      undefined,
      'a field that Helm 3 set and Helm 4 removed',
    );
    await done(next('rollback', 'web', '1', '-n', 'moved'));
    const back = await deploymentIn('moved');
    assert.deepEqual([back.spec.replicas, back.spec.template.metadata?.annotations?.a], [1, '1']);
    await done(next('uninstall', 'web', '-n', 'moved'));
    assert.deepEqual(await objectsIn('moved'), []);
  });
});
