/**
 * Pods that wait for builds, builds for which no pod waits any more, and images that are removed afterwards.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { newConflict, newForbidden, newNotFound } from '../../../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import type { Client } from '../../../../../src/client/client.ts';
import { BuildLog } from '../../../../../src/features/functions/agent/build-log.ts';
import { FunctionChores } from '../../../../../src/features/functions/agent/function-chores.ts';
import { FunctionImages } from '../../../../../src/features/functions/agent/function-images.ts';
import { changeStatus } from '../../../../../src/features/functions/agent/version-status.ts';
import {
  type FunctionVersion,
  functionVersionResource,
} from '../../../../../src/features/functions/api/function-version.ts';
import { ImageError } from '../../../../../src/kubelet/images/image-puller.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const image = 'minik8s.function/default/f:h1';
const version = {
  metadata: { name: 'f-1', namespace: 'default', uid: 'u' },
  spec: { function: 'f', runtime: 'python', handler: 'main.handler', baseImage: 'python:3', image },
} as unknown as FunctionVersion;
const pod = {
  metadata: { name: 'p', namespace: 'default', labels: { 'minik8s.io/function-version': 'f-1' } },
} as unknown as Pod;

/** Path at which no folder can be made. */
const noPlace = '/dev/null/no-place';

/** A machine with images, and builds that end when the test ends them. */
class World {
  readonly clock = new FakeClock();
  readonly images = new Set<string>();
  /** Builds that have begun and have neither ended nor been aborted. */
  readonly recorded = new Set<string>();
  readonly builds: { readonly end: (error?: Error) => void; readonly signal: AbortSignal }[] = [];
  stored: FunctionVersion = version;
  baseFails: Error | undefined;
  readonly functions = new FunctionImages({
    ...{ clock: this.clock, log: silentLogger, nodeName: 'n', dataDir: noPlace },
    client: {
      resource: () => ({
        get: async () => this.stored,
        updateStatus: async (next: FunctionVersion) => {
          this.stored = next;
          return next;
        },
      }),
    } as unknown as Client,
    runtime: { findImage: async (name) => (this.images.has(name) ? ({ id: name } as never) : undefined) },
    images: {
      ensure: async () => {
        if (this.baseFails) throw this.baseFails;
        return { id: 'base' } as never;
      },
    },
    record: {
      pulling: async (name) => void this.recorded.add(name),
      pulled: async (name) => void this.recorded.delete(name),
      gaveUp: async (name) => void this.recorded.delete(name),
    },
    builder: {
      build: (_, __, ___, signal) =>
        new Promise((resolve, reject) => {
          const end = (error?: Error) => {
            if (error) return reject(error);
            this.images.add(image);
            resolve();
          };
          this.builds.push({ end, signal });
          // The engine needs a moment to end a running build.
          signal.addEventListener('abort', () => setImmediate(() => reject(signal.reason)));
        }),
    },
    events: { event: () => undefined },
  });

  ensure(signal = new AbortController().signal): Promise<string> {
    return this.functions.ensure(pod, image, signal).then(
      () => 'built',
      (error: Error) => error.message,
    );
  }
}

describe('a build', () => {
  it('is one for all pods that wait for it', async () => {
    const world = new World();
    const both = [world.ensure(), world.ensure()];
    await world.clock.settle();
    assert.equal(world.builds.length, 1);
    world.builds[0]?.end();
    assert.deepEqual(await Promise.all(both), ['built', 'built']);
    assert.equal(await world.ensure(), 'built');
    assert.deepEqual([world.builds.length, world.recorded.size, world.clock.pending], [1, 0, 0]);
    assert.equal(world.stored.status?.conditions?.[0]?.status, 'True');
  });
  it('continues while one pod still waits, ends with the last of them, and is not joined at its end', async () => {
    const world = new World();
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = [world.ensure(first.signal), world.ensure(second.signal)];
    await world.clock.settle();
    first.abort(new Error('the first has gone'));
    await world.clock.settle();
    assert.equal(world.builds[0]?.signal.aborted, false);
    second.abort(new Error('the second has gone'));
    const third = world.ensure();
    assert.deepEqual(await Promise.all(waiting), ['the first has gone', 'the second has gone']);
    await world.clock.settle();
    assert.deepEqual([world.builds[0]?.signal.aborted, world.builds.length], [true, 2]);
    assert.equal(world.stored.status, undefined, 'what was given up is no failure');
    world.builds[1]?.end();
    assert.equal(await third, 'built');
  });
  it('succeeds if the image exists afterwards, even if it ended with an error', async () => {
    const world = new World();
    const waiting = world.ensure();
    await world.clock.settle();
    world.images.add(image);
    world.builds[0]?.end(new Error('the answer was lost'));
    assert.equal(await waiting, 'built');
    assert.deepEqual([world.recorded.size, world.stored.status?.conditions?.[0]?.reason], [0, 'Built']);
  });
  it('with a failure or a timeout is not recorded as running, and reports the reason', async () => {
    const world = new World();
    const failed = world.ensure();
    await world.clock.settle();
    world.builds[0]?.end(new Error('no space left'));
    assert.match(await failed, /no space left/);
    assert.deepEqual([world.recorded.size, world.stored.status?.conditions?.[0]?.reason], [0, 'BuildError']);
    const late = world.ensure();
    await world.clock.advance(600_000);
    assert.match(await late, /took more than 10 minutes/);
    assert.deepEqual([world.recorded.size, world.clock.pending], [0, 0]);
  });
});

const noBase =
  'base image python:3: no such host; load one with minik8s ctl image load IMAGE --name python:3, or start minik8s up with another --python-image';

describe('a base image that cannot be pulled', () => {
  it('is named in the error, since its readers know only the function', async () => {
    const world = new World();
    world.baseFails = new ImageError('ErrImagePull', 'no such host');
    assert.equal(await world.ensure(), noBase);
    const [condition] = world.stored.status?.conditions ?? [];
    assert.deepEqual([condition?.reason, condition?.message], ['BaseImageMissing', noBase]);
  });
});

describe('the result of a build', () => {
  const client = (answers: { readonly get: () => FunctionVersion; readonly put: () => void }) => {
    const written: FunctionVersion[] = [];
    const updateStatus = async (next: FunctionVersion) => {
      answers.put();
      written.push(next);
      return next;
    };
    const resource = () => ({ get: async () => answers.get(), updateStatus });
    return { written, client: { resource } as unknown as Client };
  };
  it('is written to that version, and to no other of its name', async () => {
    const another = { ...version, metadata: { ...version.metadata, uid: 'another' } };
    const { client: one, written } = client({ get: () => another, put: () => undefined });
    await assert.rejects(
      changeStatus(one, version, () => ({ lock: 'x' })),
      /was replaced/,
    );
    assert.deepEqual(written, []);
  });
  it('is computed again after a write of another node', async () => {
    let reads = 0;
    const get = () => ({ ...version, status: reads++ ? { lock: 'theirs' } : {} }) as FunctionVersion;
    let isFirst = true;
    const put = () => {
      if (isFirst) {
        isFirst = false;
        throw newConflict(functionVersionResource, 'f-1', 'it has changed');
      }
    };
    const { client: one, written } = client({ get, put });
    const now = await changeStatus(one, version, (status) => ({ ...status, lock: status?.lock ?? 'ours' }));
    assert.deepEqual([now.status?.lock, written.length], ['theirs', 0]);
  });
});

describe('images of deleted functions', () => {
  async function left(answer: () => unknown, used: readonly string[] = []): Promise<readonly string[]> {
    const images = new Set([image]);
    const chores = new FunctionChores({
      ...{ clock: new FakeClock(), log: silentLogger, dataDir: '/nowhere/at/all', nodeName: 'n' },
      client: {
        resource: () => ({ get: async () => answer(), updateStatus: async () => undefined }),
      } as unknown as Client,
      engine: {
        images: async () => [{ id: 'id', image, version: 'f-1' }],
        removeLeft: async () => undefined,
        removeDiscarded: async () => undefined,
      },
      runtime: {
        usedImages: async () => new Set(used),
        removeImage: async (name: string) => void images.delete(name),
      } as never,
    });
    await chores.look();
    return [...images];
  }
  const throws = (error: Error) => () => {
    throw error;
  };
  it('are removed, except those that are used or may exist', async () => {
    const notFound = throws(newNotFound(functionVersionResource, 'f-1'));
    assert.deepEqual(await left(notFound), []);
    assert.deepEqual(await left(notFound, ['id']), [image]);
    assert.deepEqual(await left(() => version), [image]);
    assert.deepEqual(await left(throws(newForbidden(functionVersionResource, 'f-1', 'no'))), [image]);
    assert.deepEqual(await left(throws(new Error('the server is away'))), [image]);
  });
});

it('keeps only a part of an endless log', () => {
  const log = new BuildLog();
  for (let i = 0; i < 3000; i++) log.write(Buffer.from(`${'x'.repeat(1000)} ${i}\n`));
  assert.ok(log.tail.length <= 4096 && log.tail.endsWith(' 2999\n'));
});
