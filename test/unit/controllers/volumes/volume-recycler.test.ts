/**
 * Recycled volumes: the agent that empties a volume, the time at which the volume is available again,
 * and no binding before that.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import type { PersistentVolume } from '../../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { newConflict } from '../../../../src/apimachinery/status-error.ts';
import { persistentVolumeBinder } from '../../../../src/controllers/volumes/persistent-volume-binder.ts';
import { volumeRecycler } from '../../../../src/controllers/volumes/volume-recycler.ts';
import { node, pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';
import { claim, referenceTo, volume } from './objects.ts';

const label = 'minik8s.io/node';
const byController = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
type Over = NonNullable<Parameters<typeof volume>[1]>;

const released = (over: Over = {}) =>
  volume('v', {
    metadata: { annotations: byController, ...over.metadata },
    spec: { persistentVolumeReclaimPolicy: 'Recycle', claimRef: referenceTo('c'), ...over.spec },
    status: { phase: 'Released', ...over.status },
  });
const share: Over['spec'] = { hostPath: undefined, nfs: { server: 'files', path: '/v' } };
const given = (to: string, over: Over = {}) => released({ ...over, metadata: { labels: { [label]: to } } });

describe('the recycler', () => {
  let world: ScriptedWorld;
  beforeEach(() => {
    world = new ScriptedWorld(volumeRecycler);
  });
  const nodes = (...names: string[]) => {
    for (const name of names) world.put(nodeResource, node(name, { labels: { host: name } }));
  };
  const put = (one: PersistentVolume) => world.put(persistentVolumeResource, one);
  const now = () => world.stored(persistentVolumeResource, 'v') ?? assert.fail();
  const look = async (times = 1) => {
    for (let time = 0; time < times; time++) {
      await world.reconcile('v');
      world.sync(persistentVolumeResource);
    }
  };

  it('assigns a volume to the only node, and makes it available when it is empty', async () => {
    nodes('n1');
    put(released());
    await look(2);
    assert.equal(now().metadata.labels?.[label], 'n1');
    put({ ...now(), status: { phase: 'Released', reason: 'Emptied' } });
    await look();
    assert.deepEqual([now().metadata.labels, now().spec.claimRef], [{}, undefined]);
    assert.deepEqual(world.told, ['Normal VolumeRecycled v: Volume recycled']);
    const asked = world.asked.length;
    await look();
    assert.deepEqual([world.asked.length, world.told.length], [asked, 1]);
  });

  it('keeps the claim of an emptied volume if a user has reserved the volume for it', async () => {
    nodes('n1');
    put(given('n1', { status: { reason: 'Emptied' } }));
    put({ ...now(), metadata: { ...now().metadata, annotations: {} } });
    await look();
    assert.deepEqual(now().spec.claimRef, referenceTo('c', ''));
  });

  for (const verb of ['update', 'updateStatus'])
    for (const error of [new Error('cut off'), newConflict(persistentVolumeResource, 'v', 'it has changed')])
      it(`continues after ${error.message} at ${verb}`, async () => {
        nodes('n1', 'n2');
        put(given('n1', { spec: share, status: { phase: 'Failed', reason: 'Stuck', message: 'no' } }));
        world.refuse = (asked) => (asked === verb ? error : undefined);
        await look().catch(() => world.sync(persistentVolumeResource));
        world.refuse = () => undefined;
        // The agent that was chosen first reports the failure again, if needed.
        if (!now().status?.reason) put({ ...now(), status: { phase: 'Failed', reason: 'Stuck' } });
        await look(3);
        assert.deepEqual([now().metadata.labels?.[label], now().status?.reason], ['n2', undefined]);
        assert.deepEqual(world.told, [], 'the second node has not been asked yet');
      });

  const affinity = (name: string) => ({
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'host', operator: 'In' as const, values: [name] }] }],
    },
  });
  it('uses the node of the volume', async () => {
    nodes('n1', 'n2');
    put(released({ spec: { nodeAffinity: affinity('n2') } }));
    await look();
    assert.equal(now().metadata.labels?.[label], 'n2');
  });

  for (const [what, spec, why] of [
    [
      'has a node affinity without a known node',
      {},
      'its data is on one of several nodes; set spec.nodeAffinity to that node',
    ],
    ['has no suitable node', { nodeAffinity: affinity('n3') }, 'no node matches its nodeAffinity'],
  ] as const)
    it(`reports once that it ${what}, until there is a node`, async () => {
      nodes('n1', 'n2');
      put(released({ spec }));
      await look(3);
      assert.deepEqual(now().status, { phase: 'Failed', message: `Recycle failed: ${why}` });
      assert.deepEqual(world.told, [`Warning VolumeFailedRecycle v: Recycle failed: ${why}`]);
      world.seen.remove(nodeResource, 'n1');
      world.seen.remove(nodeResource, 'n2');
      nodes('n3');
      assert.ok(world.keysOf(nodeResource, node('n3')).includes('v'));
      await look();
      assert.equal(now().metadata.labels?.[label], 'n3');
    });

  it('tries each node once for a share, and reports the failure of the last one', async () => {
    nodes('n1', 'n2', 'n3');
    put(released({ spec: share }));
    const asked: unknown[] = [];
    for (let round = 0; round < 4; round++) {
      await look(2);
      asked.push(now().metadata.labels?.[label]);
      put({ ...now(), status: { phase: 'Failed', reason: 'Stuck', message: `not on ${asked.at(-1)}` } });
    }
    assert.deepEqual(asked, ['n1', 'n2', 'n3', 'n3']);
    assert.deepEqual(world.told, ['Warning VolumeFailedRecycle v: Recycle failed: not on n3']);
  });

  it('uses another node when one is deleted', async () => {
    nodes('n2');
    put(given('n1', { spec: share, status: { phase: 'Failed', reason: 'Stuck', message: 'no' } }));
    await look(2);
    assert.deepEqual([now().metadata.labels?.[label], now().status?.reason], ['n2', undefined]);
  });

  it('waits for pods that still use the claim, and not for pods of a new claim of the same name', async () => {
    nodes('n1');
    put(released());
    const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'c' } }];
    const user = world.put(podResource, pod('p', { spec: { volumes } }));
    await look();
    assert.equal(now().metadata.labels?.[label], undefined);
    assert.deepEqual(world.told, ['Normal VolumeFailedRecycle v: Volume is used by pods: default/p']);
    assert.ok(world.keysOf(podResource, user).includes('v'));
    assert.ok(world.keysOf(persistentVolumeResource, now()).includes('v'));
    world.put(persistentVolumeClaimResource, claim('c', { metadata: { uid: 'another' } }));
    await look();
    assert.equal(now().metadata.labels?.[label], 'n1');
  });

  it('does not wait for pods that have ended', async () => {
    nodes('n1');
    put(released());
    const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'c' } }];
    const users = ['b', 'a'].map((name) => pod(name, { spec: { volumes } }));
    for (const user of users) world.put(podResource, user);
    await look();
    assert.match(world.told.join(), /by pods: default\/a,default\/b$/);
    for (const user of users)
      world.put(podResource, { ...user, status: { ...user.status, phase: 'Succeeded' } });
    await look();
    assert.equal(now().metadata.labels?.[label], 'n1');
  });

  it('continues with a volume that was assigned to a node, even if another claim has the name', async () => {
    nodes('n1');
    const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'c' } }];
    world.put(podResource, pod('p', { spec: { volumes } }));
    put(
      given('n1', {
        status: { phase: 'Failed', reason: 'Stuck', message: 'no' },
        spec: { claimRef: undefined },
      }),
    );
    await look();
    assert.equal(now().status?.message, 'Recycle failed: no');
    put(given('n1', { status: { phase: 'Failed', reason: 'Stuck' } }));
    await look();
    assert.equal(now().status?.message, 'Recycle failed: ');
  });

  it('does nothing for a pod if the volume of its claim is not to be emptied', () => {
    put(released({ status: { phase: 'Bound' } }));
    const user = pod('p', { spec: { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'c' } }] } });
    assert.deepEqual(world.keysOf(podResource, user), []);
    assert.deepEqual(world.keysOf(persistentVolumeResource, now()), []);
    assert.deepEqual(world.keysOf(nodeResource, node('n1')), []);
  });

  it('reports a failure again if the reason has changed', async () => {
    nodes('n1', 'n2');
    put(released({ status: { phase: 'Failed', message: 'something else', lastPhaseTransitionTime: 't' } }));
    await look(2);
    assert.equal(world.told.length, 1);
    assert.equal(now().status?.lastPhaseTransitionTime, 't');
    put(released({ status: { phase: 'Released', message: now().status?.message } }));
    await look();
    assert.equal(now().status?.phase, 'Failed');
    assert.equal(await world.reconcile('gone'), undefined);
  });

  for (const [what, over] of [
    ['is bound', { status: { phase: 'Bound' } }],
    ['is free', { status: { phase: 'Available' }, spec: { claimRef: undefined } }],
    ['goes', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    ['has the policy Retain', { spec: { persistentVolumeReclaimPolicy: 'Retain' } }],
    ['is of a kind that is not recycled', { spec: { hostPath: undefined, local: { path: '/d' } } }],
  ] as [string, Over][])
    it(`ignores a volume that ${what}`, async () => {
      nodes('n1');
      put(released(over));
      await look();
      assert.deepEqual([world.asked, world.told], [[], []]);
    });
});

describe('a volume that is being emptied', () => {
  let world: ScriptedWorld;
  beforeEach(() => {
    world = new ScriptedWorld(persistentVolumeBinder);
  });
  const now = () => world.stored(persistentVolumeResource, 'v');
  const bindTo = async (spec: object) => {
    world.put(persistentVolumeClaimResource, claim('d', { spec }));
    await world.reconcile('default/d');
    return world.stored(persistentVolumeClaimResource, 'default/d')?.status?.phase;
  };

  for (const [what, one] of [
    ['has lost its reference to the claim', given('n1', { spec: { claimRef: undefined } })],
    ['is reserved for another claim', given('n1', { spec: { claimRef: referenceTo('d', '') } })],
    ['could not be emptied', given('n1', { status: { phase: 'Failed', message: 'no' } })],
  ] as const)
    it(`is available to no claim although it ${what}`, async () => {
      world.put(persistentVolumeResource, one);
      await world.reconcile('v');
      assert.deepEqual(now(), one);
      assert.equal(await bindTo({}), 'Pending');
      assert.equal(await bindTo({ volumeName: 'v' }), 'Pending');
      assert.deepEqual(now(), one);
    });

  it('is available again when the agent has finished', async () => {
    const freed = released({ spec: { claimRef: undefined }, status: { reason: 'Emptied' } });
    world.put(persistentVolumeResource, freed);
    await world.reconcile('v');
    assert.deepEqual(now()?.status, { phase: 'Available' });
    world.sync(persistentVolumeResource);
    assert.equal(await bindTo({}), 'Bound');
  });
});
