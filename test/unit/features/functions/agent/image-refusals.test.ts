/**
 * Function images that exist, that a pod may not have, or that cannot be built: messages, counters and
 * remains.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { newConflict, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { Client } from '../../../../../src/client/client.ts';
import { RuntimeError } from '../../../../../src/docker/runtime-error.ts';
import type { BuildLog } from '../../../../../src/features/functions/agent/build-log.ts';
import { logPath } from '../../../../../src/features/functions/agent/build-log.ts';
import { FunctionImages } from '../../../../../src/features/functions/agent/function-images.ts';
import { BuildError } from '../../../../../src/features/functions/agent/plan/build-error.ts';
import { changeStatus } from '../../../../../src/features/functions/agent/version-status.ts';
import {
  type FunctionVersion,
  functionVersionResource,
} from '../../../../../src/features/functions/api/function-version.ts';
import { ImageError } from '../../../../../src/kubelet/images/image-puller.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';

const imageOf = (name: string) => `minik8s.function/default/${name}:h1`;
const versionOf = (name: string, spec: object = {}) =>
  ({
    metadata: { name: `${name}-1`, namespace: 'default', uid: `u-${name}` },
    spec: {
      ...{ function: name, runtime: 'python', handler: 'main.handler', baseImage: 'python:3' },
      ...{ image: imageOf(name), ...spec },
    },
  }) as unknown as FunctionVersion;
const podOf = (name: string, namespace = 'default') =>
  ({
    metadata: { name: 'p', namespace, labels: { 'minik8s.io/function-version': `${name}-1` } },
  }) as unknown as Pod;

function machine(
  context: TestContext,
  build?: (log: BuildLog, signal: AbortSignal, name: string) => Promise<void>,
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'minik8s-function-images-'));
  context.after(() => rmSync(dataDir, { recursive: true }));
  const [clock, log] = [new FakeClock(), new RecordingLogger()];
  const images = new Set<string>();
  const versions = new Map<string, FunctionVersion>();
  const told: string[] = [];
  const pulled: string[] = [];
  const recorded = new Set<string>();
  const world = {
    fault: undefined as Error | undefined,
    baseFault: undefined as Error | undefined,
    isStored: true,
    ready: Promise.resolve(),
  };
  const functions = new FunctionImages({
    ...{ clock, log, nodeName: 'n1', dataDir, ready: Promise.resolve().then(() => world.ready) },
    client: {
      resource: () => ({
        get: async (name: string) => {
          if (world.fault) throw world.fault;
          return versions.get(name) ?? assert.fail(`no ${name}`);
        },
        updateStatus: async (next: FunctionVersion) => {
          if (!world.isStored) throw newStatusError('InternalError', 'the store is away');
          versions.set(next.metadata.name, next);
          return next;
        },
      }),
    } as unknown as Client,
    runtime: { findImage: async (name) => (images.has(name) ? ({ id: name } as never) : undefined) },
    images: {
      ensure: async (_, { image, imagePullPolicy }) => {
        pulled.push(`${image} ${imagePullPolicy}`);
        if (world.baseFault) throw world.baseFault;
        return { id: 'base' } as never;
      },
    },
    record: {
      pulling: async (name) => void recorded.add(name),
      pulled: async (name) => void recorded.delete(name),
      gaveUp: async (name) => void recorded.delete(name),
    },
    builder: build && {
      build: async (version, base, buildLog, signal) => {
        assert.equal(base, 'base');
        await build(buildLog, signal, version.spec.function ?? '');
        images.add(version.spec.image);
      },
    },
    events: { event: (_, type, reason, message) => void told.push(`${type} ${reason} ${message}`) },
  });
  const ensure = (name: string, signal = new AbortController().signal, image = imageOf(name)) =>
    functions.ensure(podOf(name), image, signal).then(
      ({ id }) => id,
      (error: Error) => (error instanceof ImageError ? `${error.reason}: ${error.message}` : error.message),
    );
  for (const name of ['f', 'g', 'h']) versions.set(`${name}-1`, versionOf(name));
  return { functions, ensure, clock, log, images, versions, told, world, dataDir, pulled, recorded };
}

describe('an image of a function', () => {
  it('is used without a query of the registry if it is present', async (context) => {
    const { ensure, images, told, world } = machine(context);
    images.add(imageOf('f'));
    world.fault = new Error('the registry must not be asked');
    assert.equal(await ensure('f'), imageOf('f'));
    assert.deepEqual(told, [`Normal Pulled Container image "${imageOf('f')}" already present on machine`]);
  });
  it('is rejected for a pod of another namespace, even if it is present, and for a pod of another version', async (context) => {
    const { functions, ensure, images, told, versions } = machine(context, async () =>
      assert.fail('nothing is built'),
    );
    images.add(imageOf('f'));
    await assert.rejects(functions.ensure(podOf('f', 'other'), imageOf('f'), new AbortController().signal), {
      reason: 'FunctionImageRefused',
    });
    versions.set('g-1', versionOf('g', { image: imageOf('h') }));
    assert.match(await ensure('g'), /^FunctionImageRefused: FunctionVersion g-1 has the image .*, not /);
    assert.equal(told.length, 2);
    assert.ok(told.every((line) => line.startsWith('Warning Failed ')));
  });
  it('is not built if the version cannot be read, or the node builds nothing', async (context) => {
    const one = machine(context, async () => assert.fail('nothing is built'));
    for (const fault of ['InternalError', 'Forbidden', 'NotFound'] as const) {
      one.world.fault = newStatusError(fault, 'no');
      assert.equal(await one.ensure('f'), 'FunctionBuildFailed: cannot read FunctionVersion f-1: no');
    }
    assert.equal(await machine(context).ensure('f'), 'FunctionBuildFailed: this node builds no functions');
  });
});

describe('a build', () => {
  it('is reported as an event and in the status, with its duration and the log on disk', async (context) => {
    const { ensure, clock, told, versions, dataDir } = machine(context, async (log) => {
      log.addLine('installing');
      clock.spend(2500);
    });
    assert.equal(await ensure('f'), imageOf('f'));
    assert.deepEqual(told, [
      `Normal Building Building image "${imageOf('f')}"`,
      `Normal Built Successfully built image "${imageOf('f')}" in 2.5s`,
    ]);
    const text = `building ${imageOf('f')} from python:3\ninstalling\nbuilt in 2.5s\n`;
    assert.equal(readFileSync(logPath(dataDir, imageOf('f')), 'utf8'), text);
    const { log, nodeName, conditions = [] } = versions.get('f-1')?.status ?? {};
    assert.deepEqual(
      [log, nodeName, conditions[0]?.status, conditions[0]?.message],
      [text, 'n1', 'True', 'built in 2.5s'],
    );
    assert.equal(conditions[0]?.lastTransitionTime, '2026-01-01T00:00:02Z');
  });
  it('reports whether the author or the administrator has to fix a failure, and for the author the last lines of the log', async (context) => {
    for (const [fault, reason, message] of [
      [
        new BuildError('the libraries cannot be installed'),
        'BuildFailed',
        /^the libraries cannot be installed:\n(.*\n)*pip says no$/,
      ],
      [new Error('the engine is away'), 'BuildError', /^the engine is away$/],
      [
        new RuntimeError('Failed', 'create a build: disk full', { engineMessage: 'disk full' }),
        'BuildError',
        /^disk full$/,
      ],
    ] as const) {
      const { ensure, told, versions } = machine(context, async (log) => {
        log.addLine('pip says no');
        throw fault;
      });
      assert.match((await ensure('f')).replace(/^FunctionBuildFailed: /, ''), message);
      const [condition] = versions.get('f-1')?.status?.conditions ?? [];
      assert.deepEqual([condition?.status, condition?.reason], ['False', reason]);
      assert.match(condition?.message ?? '', message);
      assert.match(told.at(-1) ?? '', /^Warning Failed Failed to build image/);
    }
  });
  it('succeeds even if its status cannot be written, and fails if the image is missing afterwards', async (context) => {
    const one = machine(context, async () => undefined);
    one.world.isStored = false;
    assert.equal(await one.ensure('f'), imageOf('f'));
    assert.deepEqual(
      one.log.of('warn').map(({ message, fields }) => [message, fields?.version, fields?.error]),
      [['cannot write the result of a build', 'default/f-1', 'the store is away']],
    );
    const other = machine(context, async () => {
      // The added image is lost.
      other.images.add = function add() {
        return this;
      };
    });
    assert.match(await other.ensure('f'), /was built but is not present/);
  });
  it('succeeds even if its log cannot be written', async (context) => {
    const { ensure, log, dataDir, versions } = machine(context, async () => undefined);
    writeFileSync(join(dataDir, 'function-builds'), '');
    assert.equal(await ensure('f'), imageOf('f'));
    assert.deepEqual(
      log.of('warn').map(({ message, fields }) => [message, fields.version]),
      [['cannot write the log of a build', 'default/f-1']],
    );
    assert.equal(versions.get('f-1')?.status?.conditions?.[0]?.status, 'True');
  });
  it('waits for its turn: two at a time, and none before the leftovers of an earlier agent are removed', async (context) => {
    const ends = new Map<string, () => void>();
    const { ensure, clock, world } = machine(
      context,
      (_, __, name) => new Promise((resolve) => ends.set(name, resolve)),
    );
    const ready = Promise.withResolvers<void>();
    world.ready = ready.promise;
    const all = ['f', 'g', 'h'].map((name) => ensure(name));
    await clock.advance(1000);
    assert.equal(ends.size, 0);
    ready.resolve();
    await clock.settle();
    assert.deepEqual([...ends.keys()], ['f', 'g']);
    ends.get('f')?.();
    while (ends.size < 3) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([...ends.keys()], ['f', 'g', 'h']);
    for (const end of ends.values()) end();
    assert.deepEqual(await Promise.all(all), ['f', 'g', 'h'].map(imageOf));
  });
  it('is recorded while it runs, on a base image that exists already or is pulled', async (context) => {
    const { ensure, clock, recorded, pulled, versions } = machine(context, async () => {
      assert.deepEqual([...recorded], [imageOf('f')]);
      clock.spend(1500);
    });
    await clock.advance(60_000);
    await ensure('f');
    assert.deepEqual([recorded.size, pulled], [0, ['python:3 IfNotPresent']]);
    const [condition] = versions.get('f-1')?.status?.conditions ?? [];
    assert.deepEqual([condition?.reason, condition?.message], ['Built', 'built in 1.5s']);
  });
  it('fails without its base image with the reason of the pull', async (context) => {
    const { ensure, world } = machine(context, async () => assert.fail('nothing is built'));
    world.baseFault = new ImageError('ErrImagePull', 'no such host');
    assert.match(
      await ensure('f'),
      /^ErrImagePull: base image python:3: no such host; load one with minik8s ctl/,
    );
    world.baseFault = new Error('the engine is away');
    assert.equal(await ensure('f'), 'FunctionBuildFailed: the engine is away');
  });
  it('reports its failure at the end of its log, with the cause if the author did not cause it', async (context) => {
    const cause = new Error('no space');
    for (const [fault, line] of [
      [new BuildError('pip failed'), /\npip failed\n$/],
      [new Error('cannot write', { cause }), /\ncannot write.*\n$/],
    ] as const) {
      const { ensure, versions } = machine(context, async () => {
        throw fault;
      });
      await ensure('f');
      assert.match(versions.get('f-1')?.status?.log ?? '', line);
    }
  });
  it('is not begun if its pod is deleted while it waits for its turn, and ends even if others wait for it', async (context) => {
    const idle = machine(context, async () => assert.fail('nothing is built'));
    const ready = Promise.withResolvers<void>();
    idle.world.ready = ready.promise;
    const pod = new AbortController();
    const waiting = idle.ensure('f', pod.signal);
    await idle.clock.settle();
    pod.abort(new Error('the pod has gone'));
    assert.equal(await waiting, 'the pod has gone');
    await idle.functions.close();
    ready.resolve();
    await idle.clock.settle();
    assert.deepEqual([idle.told, idle.clock.pending], [[], 0]);

    let isOver = false;
    const { functions, ensure, clock } = machine(
      context,
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', async () => {
            for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
            isOver = true;
            reject(signal.reason);
          });
        }),
    );
    const left = ensure('f');
    await clock.settle();
    await functions.close();
    assert.equal(isOver, true);
    assert.match(await left, /aborted/);
  });
  it('ends with the agent; a build for a deleted pod is not started', async (context) => {
    const signals: AbortSignal[] = [];
    const { functions, ensure, clock, told } = machine(
      context,
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signals.push(signal);
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    assert.equal(await ensure('g', AbortSignal.abort(new Error('the pod has gone'))), 'the pod has gone');
    assert.equal(signals.length, 0);
    const agent = new AbortController();
    const waiting = ensure('f', agent.signal);
    await clock.settle();
    agent.abort(new Error('the agent ends'));
    await functions.close();
    assert.equal(await waiting, 'the agent ends');
    assert.deepEqual([signals[0]?.aborted, clock.pending], [true, 0]);
    assert.ok(!told.some((line) => line.startsWith('Warning')), 'what was given up is no failure');
  });
});

describe('the status of a version', () => {
  const clientOf = (conflicts: number) => {
    let tries = 0;
    const resource = () => ({
      get: async () => versionOf('f'),
      updateStatus: async (next: FunctionVersion) => {
        if (tries++ < conflicts) throw newConflict(functionVersionResource, 'f-1', 'it has changed');
        return next;
      },
    });
    return { client: { resource } as unknown as Client, tries: () => tries };
  };
  it('is written again after a conflict, at most eight times, and not if nothing changes', async () => {
    const often = clientOf(7);
    assert.equal((await changeStatus(often.client, versionOf('f'), () => ({ lock: 'x' }))).status?.lock, 'x');
    assert.equal(often.tries(), 8);
    const always = clientOf(100);
    await assert.rejects(
      changeStatus(always.client, versionOf('f'), () => ({ lock: 'x' })),
      /it has changed/,
    );
    assert.equal(always.tries(), 8);
    const none = clientOf(0);
    await changeStatus(none.client, versionOf('f'), (status) => status);
    assert.equal(none.tries(), 0);
  });
});
