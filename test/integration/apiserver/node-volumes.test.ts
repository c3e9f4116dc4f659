/** Status writes and reads of volumes with a node's certificate, over HTTPS. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { core, type NodeWorld, startNodeWorld } from './node-world.ts';

let world: NodeWorld;
const ask: NodeWorld['ask'] = (...args) => world.ask(...args);
const make: NodeWorld['make'] = (...args) => world.make(...args);
before(async () => {
  world = await startNodeWorld();
});
after(() => world.stop());

describe('a node’s requests for volumes', () => {
  const volumes = `${core}/persistentvolumes`;
  const made = async (name: string, labels: object, more: object = {}) => {
    const annotations = { 'pv.kubernetes.io/provisioned-by': 'minik8s.io/local' };
    await make(volumes, {
      metadata: { name, labels, annotations, finalizers: ['minik8s.io/folder'] },
      spec: {
        capacity: { storage: '1Mi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        local: { path: `/folders/${name}` },
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] },
        },
        ...more,
      },
    });
  };
  const removed = { phase: 'Released', reason: 'FolderRemoved' };
  /** Writes the status of the current volume as the node. */
  const says = async (name: string, status: object, more: (volume: KubeObject) => object = (one) => one) => {
    const now = (await world.server.call('GET', `${volumes}/${name}`)).json<KubeObject>();
    return (await ask('PUT', `${volumes}/${name}/status`, { ...more(now), status })).status;
  };
  const goes = (name: string) => world.server.call('DELETE', `${volumes}/${name}`);
  const mine = { 'minik8s.io/node': 'n1' };

  it('report only FolderRemoved or a failure for a volume whose folder it removes', async () => {
    await made('mine', mine);
    assert.equal(await says('mine', removed), 403);
    await goes('mine');
    assert.equal(await says('mine', { phase: 'Available' }), 403);
    const labelled = ({ metadata, ...others }: KubeObject) => ({
      ...others,
      metadata: { ...metadata, labels: { ...mine, more: '' } },
    });
    assert.equal(await says('mine', removed, labelled), 403);
    const unkept = ({ metadata, ...others }: KubeObject) => ({
      ...others,
      metadata: { ...metadata, finalizers: [] },
    });
    assert.equal(await says('mine', removed, unkept), 403);
    assert.equal((await ask('PUT', `${volumes}/mine`, { spec: {} })).status, 403);
    assert.equal(await says('mine', { phase: 'Failed', message: 'it is stuck' }), 200);
    assert.equal(await says('mine', removed), 200);
  });
  it('write nothing to volumes of other nodes or retained volumes', async () => {
    await made('others', { 'minik8s.io/node': 'n2' });
    await made('kept', mine, { persistentVolumeReclaimPolicy: 'Retain' });
    for (const name of ['others', 'kept']) {
      await goes(name);
      assert.equal(await says(name, removed), 403, name);
    }
  });
  it('report only Emptied or a failure for a volume whose folder it empties', async () => {
    const recycled = (name: string, labels: object, policy = 'Recycle') =>
      make(volumes, {
        metadata: { name, labels },
        spec: {
          capacity: { storage: '1Mi' },
          accessModes: ['ReadWriteOnce'],
          persistentVolumeReclaimPolicy: policy,
          hostPath: { path: `/data/${name}` },
        },
      });
    await recycled('to-empty', mine);
    await recycled('theirs', { 'minik8s.io/node': 'n2' });
    await recycled('retained', mine, 'Retain');
    const done = { phase: 'Released', reason: 'Emptied' };
    // The volume has not been released yet.
    assert.equal(await says('to-empty', done), 403);
    for (const name of ['to-empty', 'theirs', 'retained']) {
      const now = (await world.server.call('GET', `${volumes}/${name}`)).json<KubeObject>();
      const body = { ...now, status: { phase: 'Released' } };
      assert.equal((await world.server.call('PUT', `${volumes}/${name}/status`, body)).status, 200);
    }
    for (const name of ['theirs', 'retained']) assert.equal(await says(name, done), 403, name);
    for (const status of [
      { phase: 'Available' },
      { phase: 'Bound', reason: 'Emptied' },
      { ...done, reason: 'FolderRemoved' },
      { ...done, reason: 'Other' },
    ])
      assert.equal(await says('to-empty', status), 403, JSON.stringify(status));
    const own = { phase: 'Failed', reason: 'Stuck', message: 'it is busy' };
    assert.equal(await says('to-empty', own), 200);
    assert.equal(await says('to-empty', done), 200);
    assert.equal(await says('to-empty', own), 403, 'the volume has been emptied already');
  });
  it('can read only volumes with the label of the node', async () => {
    for (const [selector, status] of [
      ['minik8s.io/node%3Dn1', 200],
      ['minik8s.io/node%3Dn2', 403],
      ['minik8s.io/node', 403],
      ['minik8s.io/node+in+(n1,n2)', 403],
      ['', 403],
    ] as const)
      assert.equal((await ask('GET', `${volumes}?labelSelector=${selector}`)).status, status, selector);
    assert.equal((await ask('GET', `${volumes}/others`)).status, 403);
  });
});
