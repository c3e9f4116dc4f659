/** Waiting containers in spite of restarts of the agent and of failures. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { newForbidden, newNotFound } from '../../../../../src/apimachinery/status-error.ts';
import { sha256 } from '../../../../../src/base/sha256.ts';
import type { Client } from '../../../../../src/client/client.ts';
import { givenArchive } from '../../../../../src/features/functions/agent/plan/warm-use.ts';
import { WarmInstances } from '../../../../../src/features/functions/agent/warm-instances.ts';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';
import { functionVersionResource } from '../../../../../src/features/functions/api/function-version.ts';
import { warmVersion } from '../../../../../src/features/functions/api/warm-instance.ts';
import type { ObservedPod } from '../../../../../src/kubelet/runtime/observed-pod.ts';

const versionOf = (files: Record<string, string>) =>
  ({
    metadata: { name: 'fn-1', namespace: 'default' },
    spec: {
      ...{ function: 'fn', runtime: 'python', baseImage: 'python:3', handler: 'main.handler', files },
      ...{ image: 'minik8s.function/default/fn:1', timeoutSeconds: 30, concurrency: 1 },
    },
  }) as unknown as FunctionVersion;
const first = versionOf({ 'main.py': 'first' });

const { spec: waited, metadata: pool } = warmVersion('default', 'python', 'python:3', sha256);
const podWith = (labels: object, more: object = {}) =>
  ({
    metadata: {
      ...{ name: 'w', namespace: 'default', uid: 'u', ...more },
      labels: { 'minik8s.io/warm': 'python', 'minik8s.io/function-version': pool.name, ...labels },
    },
    spec: { containers: [{ name: 'function', image: waited.image }] },
  }) as unknown as Pod;
const waiting = podWith({});
const given = podWith({ 'minik8s.io/function': 'fn', 'minik8s.io/function-version': 'fn-1' });

/** A machine with containers, a server with one version, and agents one after another. */
class World {
  version: FunctionVersion | undefined = first;
  fault: Error | undefined;
  /** When true, the next signal fails. */
  isDeaf = false;
  readonly told: string[] = [];
  /** Number of checks whether a container has its file. */
  asked = 0;
  readonly containers = new Map<string, { holds?: Uint8Array; told: number }>([['c1', { told: 0 }]]);
  #agent = this.#begin();

  get container() {
    return this.containers.get('c1');
  }

  #begin(): WarmInstances {
    const of = (id: string) => this.containers.get(id) ?? assert.fail(`there is no container ${id}`);
    const get = async () =>
      this.fault
        ? Promise.reject(this.fault)
        : (this.version ?? Promise.reject(newNotFound(functionVersionResource, 'fn-1')));
    return new WarmInstances({
      client: { resource: () => ({ get }) } as unknown as Client,
      engine: {
        hasFile: async (id, path) => {
          this.asked++;
          return path === '/minik8s/given.json' && of(id).holds !== undefined;
        },
        give: async (id, archive) => {
          if (archive) of(id).holds = archive;
          if (this.isDeaf) throw new Error('the engine is away');
          of(id).told++;
        },
      },
      events: { event: (_, type, reason, message) => void this.told.push(`${type} ${reason} ${message}`) },
    });
  }

  forget(uid: string): void {
    this.#agent.forget(uid);
  }

  restart(): void {
    this.#agent = this.#begin();
  }

  see(pod: Pod, id = 'c1', state = 'running'): Promise<string | undefined> {
    return this.#agent.see(pod, { containers: [{ id, state }] } as unknown as ObservedPod);
  }
}

describe('a container that waits', () => {
  it('gets the files once, when its pod is assigned', async () => {
    const world = new World();
    assert.equal(await world.see(waiting), undefined);
    assert.deepEqual(world.container, { told: 0 });
    for (let i = 0; i < 3; i++) assert.equal(await world.see(given), undefined);
    assert.deepEqual(world.container, { told: 1, holds: givenArchive(first) });
    assert.deepEqual(world.told, ['Normal Given Became an instance of FunctionVersion fn-1']);
    assert.equal(world.asked, 0, 'its agent saw it wait, without files');
  });
  it('is ignored if it belongs to no pool, and gets the signal for its files once it is assigned', async () => {
    const world = new World();
    const { 'minik8s.io/warm': _, ...labels } = given.metadata.labels ?? {};
    const other = { ...given, metadata: { ...given.metadata, labels } } as unknown as Pod;
    assert.equal(await world.see(other), undefined);
    assert.deepEqual([world.container, world.told], [{ told: 0 }, []]);
    assert.equal(await world.see(given), undefined);
    assert.equal(world.asked, 1);
  });
  it('gets its files and the signal again after the agent has forgotten it', async () => {
    const world = new World();
    await world.see(waiting);
    world.forget('u');
    await world.see(given);
    assert.equal(world.asked, 1);
    world.forget('u');
    await world.see(given);
    assert.deepEqual([world.container?.told, world.asked], [2, 2]);
  });
  it('gets nothing before it runs, or while its pod is being deleted', async () => {
    const world = new World();
    assert.equal(await world.see(given, 'c1', 'created'), undefined);
    const leaving = podWith(given.metadata.labels ?? {}, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    assert.equal(await world.see(leaving), undefined);
    assert.deepEqual(world.container, { told: 0 });
  });
  it('keeps its files over a restart of the agent, even if the version has changed, and gets the signal again', async () => {
    for (const now of [undefined, versionOf({ 'main.py': 'second' })]) {
      const world = new World();
      await world.see(waiting);
      await world.see(given);
      world.restart();
      world.version = now;
      for (let i = 0; i < 2; i++) assert.equal(await world.see(given), undefined);
      assert.deepEqual(world.container, { told: 2, holds: givenArchive(first) });
    }
  });
  it('gets the version that its pod was assigned while no agent ran', async () => {
    const world = new World();
    await world.see(waiting);
    world.restart();
    await world.see(given);
    assert.deepEqual(world.container, { told: 1, holds: givenArchive(first) });
  });
  it('gets its signal later if the agent ended or the engine failed between files and signal', async () => {
    for (const ends of [true, false]) {
      const world = new World();
      await world.see(waiting);
      world.isDeaf = true;
      await assert.rejects(world.see(given), /the engine is away/);
      world.isDeaf = false;
      if (ends) world.restart();
      assert.equal(await world.see(given), undefined);
      assert.deepEqual(world.container, { told: 1, holds: givenArchive(first) });
    }
  });
  it('gets the files again if it is another container of the same pod', async () => {
    const world = new World();
    await world.see(waiting);
    await world.see(given);
    world.containers.set('c2', { told: 0 });
    await world.see(given, 'c2');
    assert.equal(world.asked, 1);
    assert.deepEqual(world.containers.get('c2'), { told: 1, holds: givenArchive(first) });
  });
  it('must end if the version is deleted, belongs to another function, or has a path out of the container', async () => {
    for (const [version, why] of [
      [undefined, /not found/],
      [{ ...first, spec: { ...first.spec, function: 'other' } }, /belongs to function other, not fn/],
      [
        { ...first, spec: { ...first.spec, baseImage: 'python:4' } },
        /needs an instance of .*, but the pod has/,
      ],
      [versionOf({ '../etc/passwd': '' }), /the file "..\/etc\/passwd"/],
    ] as const) {
      const world = new World();
      await world.see(waiting);
      world.version = version as FunctionVersion | undefined;
      assert.match((await world.see(given)) ?? '', why);
      assert.deepEqual(world.container, { told: 0 });
    }
  });
});

it('a pod is not ended because the server or the engine does not answer', async () => {
  for (const fault of [
    newForbidden(functionVersionResource, 'fn-1', 'no'),
    new Error('the server is away'),
  ]) {
    const world = new World();
    world.fault = fault;
    await assert.rejects(world.see(given), fault);
    world.fault = undefined;
    assert.equal(await world.see(given), undefined);
    assert.equal(world.container?.told, 1);
  }
});
