/**
 * Times at which a node searches for remains of builds, and its behavior when the engine or the server fails.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { newNotFound } from '../../../../../src/apimachinery/status-error.ts';
import type { Client } from '../../../../../src/client/client.ts';
import { RuntimeError } from '../../../../../src/docker/runtime-error.ts';
import { logPath } from '../../../../../src/features/functions/agent/build-log.ts';
import { FunctionChores } from '../../../../../src/features/functions/agent/function-chores.ts';
import {
  type FunctionVersion,
  functionVersionResource,
} from '../../../../../src/features/functions/api/function-version.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';

const imageOf = (name: string) => `minik8s.function/default/${name}:h1`;

const versionOf = (name: string, status?: object) =>
  ({
    metadata: { name: `${name}-1`, namespace: 'default', uid: `u-${name}` },
    spec: { function: name, image: imageOf(name) },
    ...(status && { status }),
  }) as unknown as FunctionVersion;

/** A machine with images of functions whose versions exist or not. */
function machine(context: TestContext, ...images: readonly string[]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'minik8s-chores-'));
  const [clock, log, stop] = [new FakeClock(), new RecordingLogger(), new AbortController()];
  const there = new Set(images);
  const asked: string[] = [];
  const world = {
    versions: new Map<string, FunctionVersion>(),
    /** Errors by the name of the function that throws them: removeLeft, images, removeImage. */
    faults: new Map<string, Error>(),
    left: 1,
    discarded: 1,
    used: new Set<string>(),
    usedAsked: 0,
    named: new Map<string, string>(),
    looks: 0,
    labels: new Map<string, string>(),
  };
  const fails = (what: string) => {
    const fault = world.faults.get(what);
    if (fault) throw fault;
  };
  const chores = new FunctionChores({
    ...{ clock, log, dataDir, nodeName: 'n1' },
    client: {
      resource: () => ({
        get: async (name: string, namespace: string) => {
          asked.push(`${namespace}/${name}`);
          return world.versions.get(name) ?? Promise.reject(newNotFound(functionVersionResource, name));
        },
        updateStatus: async (next: FunctionVersion) => {
          fails('updateStatus');
          world.versions.set(next.metadata.name, next);
          return next;
        },
      }),
    } as unknown as Client,
    engine: {
      images: async () => {
        world.looks++;
        fails('images');
        return [...there].map((name) => ({
          ...{
            id: `id-${name}`,
            image: world.named.get(name) ?? imageOf(name),
            version: world.labels.get(name) ?? `${name}-1`,
          },
        }));
      },
      removeLeft: async () => {
        fails('removeLeft');
        world.left = 0;
      },
      removeDiscarded: async () => {
        fails('removeDiscarded');
        world.discarded = 0;
      },
    },
    runtime: {
      usedImages: async () => {
        world.usedAsked++;
        return world.used;
      },
      removeImage: async (image: string) => {
        fails('removeImage');
        fails(image);
        for (const name of there) if (imageOf(name) === image) there.delete(name);
      },
    } as never,
  });
  let running = Promise.resolve();
  context.after(async () => {
    stop.abort();
    await running;
    rmSync(dataDir, { recursive: true });
  });
  return {
    ...{ chores, clock, log, there, world, asked, dataDir },
    run: () => {
      running = chores.run(stop.signal);
    },
    end: async () => {
      stop.abort();
      await running;
    },
    isReady: async () => {
      await clock.settle();
      return Promise.race([chores.ready.then(() => true), Promise.resolve().then(() => false)]);
    },
  };
}

it('builds nothing before the containers of a killed agent are removed, even if the engine is unavailable for long', async (context) => {
  const { run, clock, world, isReady, there } = machine(context, 'f');
  world.faults.set('removeLeft', new RuntimeError('Failed', 'the engine is away'));
  run();
  await clock.advance(600_000);
  assert.equal(await isReady(), false);
  assert.deepEqual([world.left, there.size], [1, 1]);
  world.faults.clear();
  await clock.advance(60_000);
  assert.equal(await isReady(), true);
  assert.deepEqual([world.left, there.size], [0, 0]);
});

it('a build waits no longer when the agent ends, and no images are listed then', async (context) => {
  const { run, end, world, clock, isReady } = machine(context, 'f');
  world.faults.set('removeLeft', new RuntimeError('Failed', 'the engine is away'));
  run();
  await clock.advance(1);
  await end();
  assert.equal(await isReady(), true);
  assert.equal(world.looks, 0);
});

it('images are checked every ten minutes, and a minute after a pod was removed', async (context) => {
  const { run, clock, chores, world } = machine(context);
  run();
  await clock.advance(0);
  assert.equal(world.looks, 1);
  await clock.advance(659_000);
  assert.equal(world.looks, 1);
  await clock.advance(1000);
  assert.equal(world.looks, 2);
  chores.podGone();
  await clock.advance(59_000);
  chores.podGone();
  assert.equal(world.looks, 2);
  await clock.advance(1000);
  assert.equal(world.looks, 3, 'pods that go together are one reason');
  await clock.advance(59_000);
  assert.equal(world.looks, 3);
  await clock.advance(600_000);
  assert.equal(world.looks, 3);
  await clock.advance(1000);
  assert.equal(world.looks, 4, 'after a pod has gone the next look is ten minutes later again');
  assert.equal(clock.pending, 1);
  chores.podGone();
  await clock.settle();
  assert.deepEqual([clock.pending, clock.nextIn], [1, 60_000]);
  assert.equal(world.usedAsked, 0, 'without images the engine is not asked which are in use');
});

it('containers of a killed agent are searched for after a second, and then with growing delays', async (context) => {
  const { run, clock, world } = machine(context);
  world.faults.set('removeLeft', new RuntimeError('Failed', 'the engine is away'));
  run();
  for (const ms of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
    await clock.settle();
    assert.equal(clock.nextIn, ms);
    await clock.advance(ms);
  }
});

it('an image without the name of a function is not removed', async (context) => {
  const { chores, there, world, asked } = machine(context, 'f');
  world.named.set('f', 'registry.example/f:1');
  await chores.look();
  assert.deepEqual([[...there], asked], [['f'], []]);
});

it('an image is removed with the log of its build; an image of an existing version, of no function, or in use again stays', async (context) => {
  const { chores, there, world, dataDir, asked, log } = machine(context, 'gone', 'kept', 'unlabeled');
  world.versions.set('kept-1', versionOf('kept', { nodeName: 'other' }));
  world.labels.set('unlabeled', '');
  for (const name of ['gone', 'kept']) {
    const path = logPath(dataDir, imageOf(name));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
  }
  await chores.look();
  const logs = readdirSync(join(dataDir, 'function-builds'));
  assert.deepEqual([[...there], logs], [['kept', 'unlabeled'], ['default_kept_h1.log']]);
  assert.deepEqual(asked.toSorted(), ['default/gone-1', 'default/kept-1']);
  assert.deepEqual(
    log.of('info').map(({ fields }) => fields),
    [{ image: imageOf('gone') }],
  );
  // A container was made of the image meanwhile, which is no error.
  world.faults.set('removeImage', new RuntimeError('Conflict', 'in use'));
  there.add('busy');
  await chores.look();
  assert.ok(there.has('busy'));
  assert.deepEqual(log.of('warn'), []);
});

it('a failed round is logged, and the next one runs at its time', async (context) => {
  for (const what of ['images', 'removeImage']) {
    const { run, clock, there, world, log } = machine(context, 'f');
    world.faults.set(what, new RuntimeError('Failed', 'the engine is away'));
    run();
    await clock.advance(0);
    assert.equal(log.of('warn').length, 1, what);
    assert.match(JSON.stringify(log.of('warn')), /the engine is away/);
    assert.equal(there.size, 1);
    world.faults.clear();
    await clock.advance(660_000);
    assert.equal(there.size, 0, what);
  }
});

it('an image or containers that cannot be removed do not prevent the removal of other images', async (context) => {
  const { chores, there, world } = machine(context, 'f', 'g');
  const fault = new RuntimeError('Failed', 'the engine is away');
  for (const what of [imageOf('f'), 'removeDiscarded']) world.faults.set(what, fault);
  await assert.rejects(chores.look(), fault);
  assert.deepEqual([...there, world.discarded], ['f', 1]);
  world.faults.clear();
  await chores.look();
  assert.deepEqual([...there, world.discarded], [0]);
});

it('an unreported build is reported later, unless another node has built or is building the version', async (context) => {
  const condition = (status: string) => ({ type: 'Built', status, reason: 'r', message: 'm' });
  const failed = { nodeName: 'n1', log: 'l', conditions: [condition('False')] };
  const [built, theirs] = [
    { nodeName: 'n1', conditions: [condition('True')] },
    { nodeName: 'n2', conditions: [condition('False')] },
  ];
  const { chores, world, clock } = machine(context, 'f', 'g', 'h', 'k', 'changed');
  await clock.advance(5000);
  const said = {
    ...{ type: 'Built', status: 'True', reason: 'Built', message: 'the image is present' },
    lastTransitionTime: '2026-01-01T00:00:05Z',
  };
  const status = (name: string) => world.versions.get(`${name}-1`)?.status;
  for (const [name, one] of Object.entries({ f: undefined, g: failed, h: built, k: theirs }))
    world.versions.set(`${name}-1`, versionOf(name, one));
  world.versions.set('changed-1', {
    ...versionOf('changed'),
    spec: versionOf('other').spec,
  });
  // An image that is in use is checked as well.
  world.used.add('id-f');
  world.faults.set('updateStatus', new Error('the store is away'));
  await assert.rejects(chores.look(), /the store is away/);
  assert.equal(status('f'), undefined);
  world.faults.clear();
  await chores.look();
  assert.deepEqual(status('f'), { log: '', nodeName: 'n1', conditions: [said] });
  assert.deepEqual(status('g'), { log: 'l', nodeName: 'n1', conditions: [said] });
  assert.deepEqual([status('h'), status('k'), status('changed')], [built, theirs, undefined]);
});

it('an image in use stays, even if its version is deleted', async (context) => {
  const { chores, there, world } = machine(context, 'f');
  world.used.add('id-f');
  await chores.look();
  assert.deepEqual([...there], ['f']);
});
