/** A world with one StatefulSet, whose pods become ready. */
import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { type StatefulSet, statefulSetResource } from '../../../../../src/api/apps/v1/stateful-set.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { persistentVolumeClaimResource } from '../../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { statefulSetController } from '../../../../../src/controllers/workloads/stateful/stateful-set.ts';
import { pod } from '../../objects.ts';
import { ScriptedWorld } from '../../scripted-world.ts';

export const key = 'default/web';

export let world: ScriptedWorld;

export const put = (set: StatefulSet, ...pods: Pod[]) => {
  world.put(statefulSetResource, set);
  for (const one of pods) world.put(podResource, one);
};

export const sync = () => {
  world.sync(podResource);
  world.sync(controllerRevisionResource);
  world.sync(persistentVolumeClaimResource);
  world.sync(statefulSetResource);
};

/** Reconciles until nothing is left to do: every created pod becomes ready, and every deleted pod ends. */
export const settle = async () => {
  for (let round = 0; round < 60; round++) {
    for (const one of world.all(podResource)) {
      if (one.metadata.deletionTimestamp) world.take(podResource, `default/${one.metadata.name}`);
      else if (!one.status) world.store(podResource, { ...one, status: pod('x', { readyAt: 0 }).status });
    }
    sync();
    const before = world.asked.length;
    await world.reconcile(key);
    if (world.asked.length === before) return;
  }
  assert.fail('it never comes to rest');
};

export const status = () => world.stored(statefulSetResource, key)?.status;

/** Replaces the world within a test, such as after a restart of the controller. */
export function replaceWorld(next: ScriptedWorld): void {
  world = next;
}

/** Makes a new world before each test of a file. */
export function startStatefulWorld(): void {
  beforeEach(() => {
    world = new ScriptedWorld(statefulSetController);
  });
}
