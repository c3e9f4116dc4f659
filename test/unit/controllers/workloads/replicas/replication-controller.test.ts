/**
 * Differences of a ReplicationController to a ReplicaSet: its selector is a plain map, and its kind differs.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import {
  type ReplicationController,
  replicationControllerResource,
} from '../../../../../src/api/core/v1/replication-controller.ts';
import { replicationController } from '../../../../../src/controllers/workloads/replicas/replication-controller.ts';
import { ownedBy, pod, replicaSet } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';

const key = 'default/web';
function controller(replicas: number): ReplicationController {
  const { metadata, spec } = replicaSet('web', replicas);
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata,
    spec: { replicas, selector: { app: 'web' }, template: spec.template },
  };
}
const mine = { ...ownedBy('ReplicationController', 'web'), apiVersion: 'v1' };

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(replicationController);
});
const put = (one: ReplicationController, ...pods: Pod[]) => {
  world.put(replicationControllerResource, one);
  for (const each of pods) world.put(podResource, each);
};
const active = () =>
  world.all(podResource).filter(({ metadata }) => metadata.deletionTimestamp === undefined);

describe('a ReplicationController', () => {
  it('creates missing pods, as their controller', async () => {
    put(controller(2));
    await world.reconcile(key);
    assert.equal(active().length, 2);
    assert.deepEqual(active()[0]?.metadata.ownerReferences, [mine]);
  });

  it('adopts a pod that its selector matches, and creates one pod less', async () => {
    put(controller(2), pod('loose'), pod('other', { metadata: { labels: { app: 'db' } } }));
    await world.reconcile(key);
    assert.deepEqual(world.stored(podResource, 'default/loose')?.metadata.ownerReferences, [mine]);
    assert.equal(world.stored(podResource, 'default/other')?.metadata.ownerReferences, undefined);
    assert.equal(active().length, 3);
  });

  it('does not change the pods of a ReplicaSet with its name', async () => {
    put(
      controller(0),
      pod('theirs', { metadata: { ownerReferences: [{ ...ownedBy('ReplicaSet', 'web'), uid: 'another' }] } }),
    );
    await world.reconcile(key);
    assert.equal(active().length, 1);
  });

  it('writes its status', async () => {
    put(controller(1), pod('a', { readyAt: 0, metadata: { ownerReferences: [mine] } }));
    await world.reconcile(key);
    const { status } = world.stored(replicationControllerResource, key) ?? {};
    assert.deepEqual([status?.replicas, status?.readyReplicas, status?.observedGeneration], [1, 1, 1]);
  });
});
