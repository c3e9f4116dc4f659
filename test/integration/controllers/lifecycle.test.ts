import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { type ReplicaSet, replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { type ConfigMap, configMapResource } from '../../../src/api/core/v1/config-map.ts';
import { type Namespace, namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft, OwnerReference } from '../../../src/apimachinery/meta.ts';
import { storedKinds } from '../../../src/features/kinds.ts';
import { type Cluster, startCluster } from './cluster.ts';

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } };

const workload = (namespace: string, replicas: number) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: { replicas, selector: { matchLabels: labels }, template },
  }) as unknown as Draft<Deployment>;

const configMap = (name: string, ownerReferences: OwnerReference[] = []): Draft<ConfigMap> => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ownerReferences },
});

describe('deletion and cleaning up', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
    await cluster.addNode('n1');
  });
  after(() => cluster.stop());

  const running = (count: number, namespace: string) =>
    cluster.eventually(`${count} running pods in ${namespace}`, async () => {
      const pods = await cluster.list(podResource, namespace);
      return pods.filter(({ status }) => status?.phase === 'Running').length === count;
    });

  const ownerOf = ({ apiVersion, kind, metadata }: ConfigMap): OwnerReference => ({
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
  });

  it('a namespace is emptied of every kind and then deleted', async () => {
    const draft: Draft<Namespace> = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
    await cluster.client.resource(namespaceResource).create(draft);
    await cluster.client.resource(deploymentResource).create(workload('team', 3));
    await cluster.client.resource(configMapResource).create({
      ...configMap('held'),
      metadata: { name: 'held', namespace: 'team', finalizers: ['example.com/hold'] },
    });
    await running(3, 'team');
    await cluster.client.resource(namespaceResource).delete('team');
    const waiting = await cluster.eventually('only what is held is left', async () => {
      const namespace = await cluster.get(namespaceResource, 'team');
      const left = namespace?.status?.conditions?.find(({ type }) => type === 'NamespaceContentRemaining');
      return left?.message?.includes('remaining: configmaps. has 1 resource instances') && namespace;
    });
    assert.equal(waiting.status?.phase, 'Terminating');
    const holders = waiting.status?.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining');
    assert.match(holders?.message ?? '', /example.com\/hold in 1 resource/);
    const held = await cluster.client.resource(configMapResource).get('held', 'team');
    await cluster.client
      .resource(configMapResource)
      .update({ ...held, metadata: { ...held.metadata, finalizers: [] } });
    await cluster.eventually(
      'the namespace is deleted',
      async () => !(await cluster.get(namespaceResource, 'team')),
    );
    for (const kind of storedKinds.filter(({ namespaced }) => namespaced))
      assert.deepEqual((await cluster.list(kind, 'team')).length, 0, kind.plural);
  });

  it('with the policy Foreground, the owner is deleted after its dependents', async () => {
    await cluster.client.resource(deploymentResource).create(workload('default', 2));
    await running(2, 'default');
    cluster.agent.mayEnd = () => false;
    await cluster.client
      .resource(deploymentResource)
      .delete('web', 'default', { propagationPolicy: 'Foreground' });
    await cluster.eventually('the pods are ending', async () =>
      (await cluster.list(podResource, 'default')).every(({ metadata }) => metadata.deletionTimestamp),
    );
    assert.equal((await cluster.list(podResource, 'default')).length, 2);
    assert.ok(await cluster.get(deploymentResource, 'web'));
    assert.equal((await cluster.list(replicaSetResource, 'default')).length, 1);
    cluster.agent.mayEnd = () => true;
    await cluster.eventually('all are gone', async () => !(await cluster.get(deploymentResource, 'web')));
    assert.equal((await cluster.list(podResource, 'default')).length, 0);
    assert.equal((await cluster.list(replicaSetResource, 'default')).length, 0);
  });

  it('with the policy Foreground, an owner is deleted as soon as its last dependent is', async () => {
    const maps = cluster.client.resource(configMapResource);
    const owner = await maps.create(configMap('owner'));
    const draft = configMap('dependent', [{ ...ownerOf(owner), blockOwnerDeletion: true }]);
    await maps.create({ ...draft, metadata: { ...draft.metadata, finalizers: ['example.com/hold'] } });
    await maps.delete('owner', 'default', { propagationPolicy: 'Foreground' });
    const held = await cluster.eventually('the dependent is going', async () => {
      const dependent = await cluster.get(configMapResource, 'dependent');
      return dependent?.metadata.deletionTimestamp !== undefined && dependent;
    });
    assert.ok(await cluster.get(configMapResource, 'owner'));
    await maps.update({ ...held, metadata: { ...held.metadata, finalizers: [] } });
    await cluster.eventually(
      'the owner is deleted',
      async () => !(await cluster.get(configMapResource, 'owner')),
    );
  });

  it('with the policy Foreground, objects that own each other are all deleted', async () => {
    const maps = cluster.client.resource(configMapResource);
    const names = ['ring-1', 'ring-2', 'ring-3'];
    const made = await Promise.all(names.map((name) => maps.create(configMap(name))));
    for (const [index, map] of made.entries()) {
      const owner = made.at(index - 1);
      assert.ok(owner);
      const ownerReferences = [{ ...ownerOf(owner), blockOwnerDeletion: true }];
      await maps.update({ ...map, metadata: { ...map.metadata, ownerReferences } });
    }
    await maps.delete('ring-1', 'default', { propagationPolicy: 'Foreground' });
    await cluster.eventually('all are gone', async () => {
      const left = await cluster.list(configMapResource, 'default');
      return !left.some(({ metadata }) => names.includes(metadata.name));
    });
  });

  it('with the policy Orphan, the dependents stay and keep working', async () => {
    await cluster.client.resource(deploymentResource).create(workload('default', 2));
    await running(2, 'default');
    await cluster.client
      .resource(deploymentResource)
      .delete('web', 'default', { propagationPolicy: 'Orphan' });
    const set = await cluster.eventually(
      'a set without an owner',
      async (): Promise<ReplicaSet | undefined> => {
        if (await cluster.get(deploymentResource, 'web')) return undefined;
        const [only] = await cluster.list(replicaSetResource, 'default');
        return only?.metadata.ownerReferences?.length ? undefined : only;
      },
    );
    await running(2, 'default');
    await cluster.client.resource(replicaSetResource).delete(set.metadata.name, 'default');
    await cluster.eventually(
      'the pods are deleted',
      async () => (await cluster.list(podResource, 'default')).length === 0,
    );
  });

  it('an object stays while one of its owners exists, and is deleted with its last owner', async () => {
    const maps = cluster.client.resource(configMapResource);
    const [a, b] = [await maps.create(configMap('a')), await maps.create(configMap('b'))];
    await maps.create(configMap('child', [ownerOf(a), ownerOf(b)]));
    await maps.delete('a', 'default');
    await cluster.eventually('one owner is left', async () => {
      const child = await cluster.get(configMapResource, 'child');
      assert.ok(child, 'the child must stay');
      return child.metadata.ownerReferences?.length === 1;
    });
    await maps.delete('b', 'default');
    await cluster.eventually(
      'the dependent is deleted',
      async () => !(await cluster.get(configMapResource, 'child')),
    );
  });

  it('an object is deleted if its owner never existed or was replaced under its name; it stays if the kind of the owner is unknown', async () => {
    const maps = cluster.client.resource(configMapResource);
    const other = await maps.create(configMap('other'));
    const unknown = { ...ownerOf(other), apiVersion: 'example.com/v1', kind: 'Thing' };
    await maps.create(configMap('kept', [unknown]));
    await maps.create(configMap('lost', [{ ...ownerOf(other), uid: 'another' }]));
    await cluster.eventually(
      'the object without an owner is deleted',
      async () => !(await cluster.get(configMapResource, 'lost')),
    );
    assert.ok(await cluster.get(configMapResource, 'kept'));
  });

  it('every node gets a separate range, also when many nodes are created at once', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => cluster.addNode(`many${index}`)));
    const nodes = await cluster.eventually('all have a range', async () => {
      const all = await cluster.list(nodeResource);
      return all.every(({ spec }) => spec.podCIDR) && all;
    });
    assert.equal(new Set(nodes.map(({ spec }) => spec.podCIDR)).size, nodes.length);
    assert.ok(nodes.every(({ spec }) => /^10\.244\.\d+\.0\/24$/.test(spec.podCIDR ?? '')));
  });

  it('logs no error and no warning', () => {
    assert.deepEqual([...cluster.log.of('error'), ...cluster.log.of('warn')], []);
  });
});
