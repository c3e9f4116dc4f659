/** Claims and volumes with the real API server: its defaults, validation and roles. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeSpec,
  PersistentVolumeStatus,
} from '../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { storageClassResource } from '../../../src/api/storage/v1/storage-class.ts';
import type { StorageClass } from '../../../src/api/storage/v1/types.gen.ts';
import type { Draft, KubeObject } from '../../../src/apimachinery/meta.ts';
import { type Cluster, startCluster } from './cluster.ts';

describe('volumes of the cluster', () => {
  let cluster: Cluster;
  beforeEach(async () => {
    cluster = await startCluster();
  });
  afterEach(() => cluster.stop());

  const addVolume = (name: string, spec: Partial<PersistentVolumeSpec> = {}) =>
    cluster.client.resource(persistentVolumeResource).create({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: `/data/${name}`, type: '' },
        ...spec,
      },
    });
  const addClaim = (name: string, spec: Partial<PersistentVolumeClaimSpec> = {}) =>
    cluster.client.resource(persistentVolumeClaimResource).create({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'default' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        storageClassName: '',
        ...spec,
      } as PersistentVolumeClaimSpec,
    });
  const addPod = (name: string, volume: object) =>
    cluster.client.resource(podResource).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: {
        containers: [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        volumes: [{ name: 'data', ...volume }],
      },
    } as unknown as Draft<KubeObject> as never);
  const claimPhase = async (name: string) =>
    (await cluster.get(persistentVolumeClaimResource, name))?.status?.phase;
  const volumePhase = async (name: string) =>
    (await cluster.get(persistentVolumeResource, name))?.status?.phase;
  const until = (what: string, probe: () => Promise<boolean>) =>
    cluster.eventually(what, async () => (await probe()) || undefined);

  it('are bound, kept while a pod uses them, and released', async () => {
    await cluster.addNode('n1');
    await addVolume('v');
    await addClaim('c');
    await until(
      'both are bound',
      async () => (await claimPhase('c')) === 'Bound' && (await volumePhase('v')) === 'Bound',
    );
    await addPod('p', { persistentVolumeClaim: { claimName: 'c' } });
    await until('the pod has a node', async () =>
      Boolean((await cluster.get(podResource, 'p'))?.spec.nodeName),
    );
    await cluster.client.resource(persistentVolumeClaimResource).delete('c', 'default');
    await cluster.client.resource(persistentVolumeResource).delete('v');
    await cluster.pass(5000);
    assert.ok(await cluster.get(persistentVolumeClaimResource, 'c'), 'a pod uses the claim');
    assert.ok(await cluster.get(persistentVolumeResource, 'v'), 'a claim is bound to the volume');
    await cluster.client.resource(podResource).delete('p', 'default');
    await until('both go', async () => !(await claimPhase('c')) && !(await volumePhase('v')));
  });

  it('are free again when a user removes the claim from them', async () => {
    await addVolume('v');
    await addClaim('c');
    await until('it is bound', async () => (await claimPhase('c')) === 'Bound');
    await cluster.client.resource(persistentVolumeClaimResource).delete('c', 'default');
    await until('it is released', async () => (await volumePhase('v')) === 'Released');
    await addClaim('d');
    await cluster.edit(persistentVolumeResource, 'v', ({ spec }) => {
      delete spec.claimRef;
    });
    await until('another claim has it', async () => (await claimPhase('d')) === 'Bound');
  });

  it('are bound to one of the claims that name them, and the other claims report why they wait', async () => {
    const asking = ['a', 'b', 'c', 'd'];
    await Promise.all([addVolume('v'), ...asking.map((name) => addClaim(name, { volumeName: 'v' }))]);
    const claimRef = { namespace: 'default', name: 'mine' };
    await addVolume('kept', { claimRef });
    await addClaim('other', { volumeName: 'kept' });
    await addClaim('mine', { volumeName: 'kept' });
    await until('the claim that the volume names has it', async () => (await claimPhase('mine')) === 'Bound');
    const phases = () => Promise.all(asking.map(claimPhase));
    await until('one of the claims has it', async () => (await phases()).includes('Bound'));
    await cluster.pass(60_000);
    assert.deepEqual((await phases()).toSorted(), ['Bound', 'Pending', 'Pending', 'Pending']);
    assert.equal(await claimPhase('other'), 'Pending');
    const { claimRef: given } = (await cluster.get(persistentVolumeResource, 'v'))?.spec ?? {};
    assert.equal(await claimPhase(given?.name ?? ''), 'Bound');
    const told = (await cluster.list(eventResource)).filter(({ reason }) => reason === 'FailedBinding');
    const waiting = [...asking, 'other'].filter((name) => name !== given?.name);
    assert.deepEqual([...new Set(told.map(({ involvedObject }) => involvedObject.name))].toSorted(), waiting);
    for (const { message, count = 1 } of told) {
      assert.match(message ?? '', /^volume "(v|kept)" already bound to a different claim\.$/);
      assert.ok(count < 10, `said ${count} times in a minute`);
    }
  });

  it('are bound to twenty claims, one to each', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `x${index}`);
    await Promise.all(names.flatMap((name) => [addClaim(name), addVolume(name)]));
    await until('all are bound', async () =>
      (await cluster.list(persistentVolumeClaimResource)).every(({ status }) => status?.phase === 'Bound'),
    );
    const claims = await cluster.list(persistentVolumeClaimResource);
    assert.equal(new Set(claims.map(({ spec }) => spec.volumeName)).size, 20);
    for (const { metadata, spec } of await cluster.list(persistentVolumeResource))
      assert.equal(
        claims.find((one) => one.metadata.uid === spec.claimRef?.uid)?.spec.volumeName,
        metadata.name,
      );
  });

  it('of a single pod have claims that are created and deleted with it', async () => {
    await cluster.addNode('n1');
    await addVolume('v');
    const spec = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
    };
    const labels = { of: 'p' };
    await addPod('p', { ephemeral: { volumeClaimTemplate: { metadata: { labels }, spec } } });
    await until('it has a node', async () => Boolean((await cluster.get(podResource, 'p'))?.spec.nodeName));
    const made = await cluster.get(persistentVolumeClaimResource, 'p-data');
    assert.deepEqual([made?.metadata.labels, made?.metadata.ownerReferences?.[0]?.name], [labels, 'p']);
    await cluster.client.resource(podResource).delete('p', 'default');
    await until('the claim is deleted', async () => !(await claimPhase('p-data')));
  });

  const addClass = (name: string, more: object) =>
    cluster.client.resource(storageClassResource).create({
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name } },
      volumeBindingMode: 'WaitForFirstConsumer',
      ...more,
    } as unknown as Draft<StorageClass>);
  const onNode = (name: string) => ({
    required: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values: [name] }] },
      ],
    },
  });
  const label = (name: string) =>
    cluster.edit(nodeResource, name, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, 'kubernetes.io/hostname': name };
      metadata.annotations = { ...metadata.annotations, 'minik8s.io/local-volumes': '/folders' };
    });
  const nodeOf = async (name: string) => (await cluster.get(podResource, name))?.spec.nodeName;

  it('are chosen together with the node, one for each of two pods that are created at the same time', async () => {
    await addClass('disks', { provisioner: 'kubernetes.io/no-provisioner' });
    for (const name of ['n1', 'n2', 'n3']) {
      await cluster.addNode(name);
      await label(name);
    }
    await addVolume('on-1', { storageClassName: 'disks', nodeAffinity: onNode('n1') });
    await addVolume('on-2', { storageClassName: 'disks', nodeAffinity: onNode('n2') });
    for (const name of ['a', 'b']) await addClaim(name, { storageClassName: 'disks' });
    await until(
      'they are available',
      async () => (await volumePhase('on-2')) === 'Available' && (await volumePhase('on-1')) === 'Available',
    );
    await cluster.pass(1000);
    assert.equal(await claimPhase('a'), 'Pending');
    await Promise.all(['a', 'b'].map((name) => addPod(name, { persistentVolumeClaim: { claimName: name } })));
    await until('both have nodes', async () => Boolean((await nodeOf('a')) && (await nodeOf('b'))));
    const places = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const claim = await cluster.get(persistentVolumeClaimResource, name);
        assert.equal(claim?.status?.phase, 'Bound');
        return [await nodeOf(name), claim.spec.volumeName].join(' ');
      }),
    );
    assert.deepEqual(places.toSorted(), ['n1 on-1', 'n2 on-2']);
    // A third claim finds no volume until one is added.
    await addClaim('c', { storageClassName: 'disks' });
    await addPod('c', { persistentVolumeClaim: { claimName: 'c' } });
    await cluster.eventually('the reason for waiting is reported', async () =>
      (await cluster.get(podResource, 'c'))?.status?.conditions?.find(({ message }) =>
        message?.includes("3 node(s) didn't find available persistent volumes to bind"),
      ),
    );
    await addVolume('on-3', { storageClassName: 'disks', nodeAffinity: onNode('n3') });
    await until('it has a node', async () => (await nodeOf('c')) === 'n3');
  });

  it('are provisioned on the node of the pod, and are deleted when the agent has removed the folder', async () => {
    await cluster.addNode('n1');
    await label('n1');
    const { storageClassName: _, ...spec } = (await addClaim('old')).spec;
    await cluster.client.resource(persistentVolumeClaimResource).create({
      ...{
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'c', namespace: 'default' },
        spec,
      },
    });
    await addPod('p', { persistentVolumeClaim: { claimName: 'c' } });
    await until('it has a node', async () => (await nodeOf('p')) === 'n1');
    const claim = await cluster.get(persistentVolumeClaimResource, 'c');
    const name = `pvc-${claim?.metadata.uid}`;
    assert.deepEqual([claim?.spec.storageClassName, claim?.spec.volumeName], ['local', name]);
    const made = await cluster.get(persistentVolumeResource, name);
    assert.deepEqual(made?.spec.local, { path: `/folders/${name}` });
    assert.deepEqual(made.spec.nodeAffinity, onNode('n1'));
    assert.equal(made.spec.persistentVolumeReclaimPolicy, 'Delete');
    await cluster.client.resource(podResource).delete('p', 'default');
    await cluster.client.resource(persistentVolumeClaimResource).delete('c', 'default');
    const going = await cluster.eventually('the volume is to go', async () => {
      const volume = await cluster.get(persistentVolumeResource, name);
      return volume?.metadata.deletionTimestamp && volume.status?.phase === 'Released' ? volume : undefined;
    });
    await cluster.pass(60_000);
    assert.ok(await cluster.get(persistentVolumeResource, name), 'its folder is there');
    const agent = cluster.clientOf({
      name: 'system:node:n1',
      groups: ['system:nodes', 'system:authenticated'],
    } as never);
    const latest = await agent.resource(persistentVolumeResource).get(name);
    assert.equal(latest.metadata.uid, going.metadata.uid);
    await agent
      .resource(persistentVolumeResource)
      .updateStatus({ ...latest, status: { phase: 'Released', reason: 'FolderRemoved' } });
    await until('it is gone', async () => !(await cluster.get(persistentVolumeResource, name)));
  });

  it('of a node that was deleted are removed', async () => {
    await cluster.addNode('n1');
    await label('n1');
    await addClaim('c', { storageClassName: 'local' });
    await addPod('p', { persistentVolumeClaim: { claimName: 'c' } });
    await until('it has a node', async () => (await nodeOf('p')) === 'n1');
    await cluster.client.resource(podResource).delete('p', 'default');
    await cluster.client.resource(nodeResource).delete('n1');
    await cluster.client.resource(persistentVolumeClaimResource).delete('c', 'default');
    await until('it is gone', async () => (await cluster.list(persistentVolumeResource)).length === 0);
  });

  const agentOf = (name: string) =>
    cluster
      .clientOf({ name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] } as never)
      .resource(persistentVolumeResource);
  /** Reports the result of a volume operation as the agent of the node. */
  const says = async (volume: string, node: string, status: PersistentVolumeStatus) => {
    await cluster.eventually(`${node} is asked`, async () => {
      const { metadata } = (await cluster.get(persistentVolumeResource, volume)) ?? {};
      return metadata?.labels?.['minik8s.io/node'] === node || undefined;
    });
    const latest = await agentOf(node).get(volume);
    await agentOf(node).updateStatus({ ...latest, status });
  };

  it('with the policy Recycle are available when an agent has emptied them', async () => {
    await cluster.addNode('n1');
    await addVolume('v', { persistentVolumeReclaimPolicy: 'Recycle' });
    await addClaim('c');
    await until('it is bound', async () => (await claimPhase('c')) === 'Bound');
    await cluster.client.resource(persistentVolumeClaimResource).delete('c', 'default');
    await until('it is released', async () => (await volumePhase('v')) === 'Released');
    await addClaim('d');
    await says('v', 'n1', { phase: 'Failed', reason: 'Stuck', message: 'something is mounted in it' });
    await cluster.eventually('that is told', async () =>
      (await cluster.list(eventResource)).find(
        ({ reason, message }) =>
          reason === 'VolumeFailedRecycle' && message === 'Recycle failed: something is mounted in it',
      ),
    );
    await cluster.edit(persistentVolumeResource, 'v', ({ spec }) => {
      delete spec.claimRef;
    });
    await cluster.pass(60_000);
    assert.deepEqual([await claimPhase('d'), await volumePhase('v')], ['Pending', 'Failed']);
    await says('v', 'n1', { phase: 'Released', reason: 'Emptied' });
    await until('another claim has it', async () => (await claimPhase('d')) === 'Bound');
    const { metadata, status } = (await cluster.get(persistentVolumeResource, 'v')) ?? assert.fail();
    assert.deepEqual([metadata.labels ?? {}, status?.reason, status?.message], [{}, undefined, undefined]);
  });

  it('on a share are folders of the share, which any agent removes', async () => {
    for (const name of ['n1', 'n2']) await cluster.addNode(name);
    const parameters = { server: 'files.example', path: '/all' };
    await addClass('share', { provisioner: 'minik8s.io/nfs', volumeBindingMode: 'Immediate', parameters });
    const names = ['a', 'b'];
    for (const name of names)
      await addClaim(name, { storageClassName: 'share', accessModes: ['ReadWriteMany'] });
    const volumeOf = async (name: string) =>
      (await cluster.get(persistentVolumeClaimResource, name))?.spec.volumeName ?? '';
    for (const name of names)
      await until(`${name} is bound`, async () => (await claimPhase(name)) === 'Bound');
    const name = await volumeOf('a');
    assert.notEqual(name, await volumeOf('b'));
    const made = await cluster.get(persistentVolumeResource, name);
    assert.deepEqual(made?.spec.nfs, { server: 'files.example', path: `/all/${name}` });
    await cluster.client.resource(persistentVolumeClaimResource).delete('a', 'default');
    await says(name, 'n1', { phase: 'Failed', reason: 'Stuck', message: "this machine's kernel has no NFS" });
    await says(name, 'n2', { phase: 'Released', reason: 'FolderRemoved' });
    await until('it is gone', async () => !(await cluster.get(persistentVolumeResource, name)));
    assert.equal(await volumePhase(await volumeOf('b')), 'Bound');
  });

  it('on a share are not provisioned if the class is invalid', async () => {
    const wrong = {
      option: { server: 'server -o suid', path: '/all' },
      none: { path: '/all' },
      up: { server: 'files', path: '/all/../etc' },
      relative: { server: 'files', path: 'all' },
      line: { server: 'files', path: '/all\nother' },
    };
    for (const [name, parameters] of Object.entries(wrong)) {
      await addClass(name, { provisioner: 'minik8s.io/nfs', volumeBindingMode: 'Immediate', parameters });
      await addClaim(name, { storageClassName: name });
    }
    for (const name of Object.keys(wrong))
      await cluster.eventually(`${name} says why`, async () =>
        (await cluster.list(eventResource)).find(
          ({ reason, message, involvedObject }) =>
            involvedObject.name === name &&
            reason === 'ProvisioningFailed' &&
            /the StorageClass is wrong: (server|path): /.test(message ?? ''),
        ),
      );
    assert.deepEqual(await cluster.list(persistentVolumeResource), []);
  });

  it('are not provisioned if that is impossible, and the claim has the reason', async () => {
    await cluster.addNode('n1');
    await label('n1');
    await addClaim('c', { storageClassName: 'local', accessModes: ['ReadWriteMany'] });
    await addPod('p', { persistentVolumeClaim: { claimName: 'c' } });
    await cluster.eventually('the reason is reported', async () =>
      (await cluster.list(eventResource)).find(
        ({ reason, message }) =>
          reason === 'ProvisioningFailed' && message?.includes('access mode ReadWriteMany is not supported'),
      ),
    );
    await addClass('share', {
      provisioner: 'minik8s.io/nfs',
      volumeBindingMode: 'Immediate',
      parameters: { server: 'files', path: '/all' },
    });
    await addClaim('shared', { storageClassName: 'share', accessModes: ['ReadWriteMany'] });
    await until('it is bound', async () => (await claimPhase('shared')) === 'Bound');
  });
});
