/** Hooks that run: their files, their ends, and the events about them. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { LifecycleHandler } from '../../../../src/api/core/v1/types.gen.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import { RuntimeError } from '../../../../src/docker/runtime-error.ts';
import { type HookName, hookKey, type RunHook } from '../../../../src/kubelet/pods/plan/hooks.ts';
import { PodHooks } from '../../../../src/kubelet/pods/pod-hooks.ts';
import type { ContainerConfig } from '../../../../src/kubelet/runtime/container-config.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { SimulatedRuntime } from '../../../fixtures/simulated-runtime.ts';
import { exited, makeContainer, makePod, observed, reference, seconds } from '../builders.ts';

describe('hooks of a pod', () => {
  let directory = '';
  let clock: FakeClock;
  let events: string[];
  let id = '';
  let runtime: SimulatedRuntime;
  /** Resolves when a hook has ended. */
  let ended = Promise.withResolvers<void>();
  const pod = makePod();

  const make = () =>
    new PodHooks(
      {
        runtime,
        clock,
        log: silentLogger,
        nodeIP: '127.0.0.1',
        events: {
          event: (_about, type, reason, message) => void events.push(`${type} ${reason} ${message}`),
        },
      },
      directory,
      () => ended.resolve(),
    );
  const run = (handler: LifecycleHandler, hook: HookName = 'preStop'): RunHook => ({
    type: 'runHook',
    id,
    name: 'main',
    hook,
    handler,
    ports: [],
  });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-hooks-'));
    clock = new FakeClock();
    events = [];
    ended = Promise.withResolvers();
    runtime = new SimulatedRuntime({
      clock,
      random: new SeededRandom(1),
      images: new Map(),
      onExec: async ([first], { stdout }) => {
        if (first === 'forever') return new Promise(() => undefined);
        if (first === 'engine-goes') throw new RuntimeError('Unavailable', 'Docker cannot run a command');
        await new Promise<void>((resolve) => stdout?.write('it printed this\n', () => resolve()));
        return first === 'true' ? 0 : 3;
      },
    });
    const made = await runtime.runSandbox({ ip: '10.0.0.1', hostname: 'web' });
    const config = { pod: reference, name: 'main', sandboxId: made.id, attempt: 0 };
    id = await runtime.createContainer(config as ContainerConfig);
    await runtime.startContainer(id);
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('keep a successful result over a restart of the agent until the container is removed', async () => {
    const hooks = make();
    await hooks.read();
    hooks.begin(run({ exec: { command: ['true'] } }), pod, undefined);
    assert.deepEqual(hooks.states.get(hookKey(id, 'preStop')), { at: 'running' });
    await ended.promise;
    assert.deepEqual(hooks.states.get(hookKey(id, 'preStop')), { at: 'done' });
    const next = make();
    await next.read();
    assert.deepEqual([...next.states], [[hookKey(id, 'preStop'), { at: 'done' }]]);
    await next.forget(id);
    assert.equal(next.states.size, 0);
    const last = make();
    await last.read();
    assert.equal(last.states.size, 0);
    assert.deepEqual(events, []);
  });

  it('report a failure without the output of the program', async () => {
    const hooks = make();
    hooks.begin(run({ exec: { command: ['no', 'way'] } }, 'postStart'), pod, undefined);
    await ended.promise;
    assert.deepEqual(hooks.states.get(hookKey(id, 'postStart')), {
      at: 'failed',
      message:
        'Exec lifecycle hook ([no way]) for Container "main" in Pod "web_shop(uid-1)" failed - error: command \'no way\' exited with 3, message: "it printed this\\n"',
    });
    assert.deepEqual(events, ['Warning FailedPostStartHook PostStartHook failed']);
    const next = make();
    await next.read();
    assert.equal(next.states.size, 0);
  });

  it('with tcpSocket fail, as in Kubernetes', async () => {
    const hooks = make();
    hooks.begin(run({ tcpSocket: { port: 80 } }), pod, undefined);
    await ended.promise;
    assert.deepEqual(hooks.states.get(hookKey(id, 'preStop')), {
      at: 'failed',
      message: 'Cannot run handler: invalid handler',
    });
    assert.deepEqual(events, ['Warning FailedPreStopHook PreStopHook failed']);
  });

  it('with sleep end after their seconds', async () => {
    const hooks = make();
    hooks.begin(run({ sleep: { seconds: 5 } }), pod, undefined);
    await clock.advance(seconds(5) - 1);
    assert.deepEqual(hooks.states.get(hookKey(id, 'preStop')), { at: 'running' });
    await clock.advance(1);
    await ended.promise;
    assert.deepEqual(hooks.states.get(hookKey(id, 'preStop')), { at: 'done' });
  });

  it('that do not end are terminated with their container, without an event', async () => {
    for (const handler of [{ exec: { command: ['forever'] } }, { sleep: { seconds: 1000 } }]) {
      ended = Promise.withResolvers();
      const hooks = make();
      hooks.begin(run(handler), pod, undefined);
      hooks.follow(observed(makeContainer({ id })));
      await turn();
      assert.deepEqual(hooks.states.get(hookKey(id, 'preStop')), { at: 'running' });
      hooks.follow(observed(exited(0, { id })));
      await ended.promise;
      assert.equal(hooks.states.size, 0);
      assert.equal(clock.pending, 0);
    }
    assert.deepEqual(events, []);
  });

  it('are left running for the next agent when the agent stops', async () => {
    const hooks = make();
    hooks.begin(run({ sleep: { seconds: 1000 } }), pod, undefined);
    await turn();
    hooks.stop();
    await ended.promise;
    assert.equal(hooks.states.size, 0);
    assert.deepEqual([clock.pending, events], [0, []]);
  });

  it('are run again after a while if the engine was unavailable, without an event', async () => {
    const hooks = make();
    await hooks.read();
    hooks.begin(run({ exec: { command: ['engine-goes'] } }), pod, undefined);
    await clock.advance(999);
    assert.deepEqual(hooks.states.get(hookKey(id, 'preStop')), { at: 'running' });
    await clock.advance(1);
    await ended.promise;
    assert.equal(hooks.states.get(hookKey(id, 'preStop')), undefined);
    assert.deepEqual(events, []);
  });

  it('are successful even if their result cannot be written to disk', async () => {
    await writeFile(join(directory, 'hooks'), 'in the way');
    const hooks = make();
    hooks.begin(run({ exec: { command: ['true'] } }), pod, undefined);
    await ended.promise;
    assert.deepEqual(hooks.states.get(hookKey(id, 'preStop')), { at: 'done' });
  });

  it('of both kinds are removed with their container', async () => {
    const hooks = make();
    for (const hook of ['postStart', 'preStop'] as const) {
      ended = Promise.withResolvers();
      hooks.begin(run({ exec: { command: ['true'] } }, hook), pod, undefined);
      await ended.promise;
    }
    assert.equal(hooks.states.size, 2);
    await hooks.forget(id);
    assert.equal(hooks.states.size, 0);
    // The files of earlier hooks are read only once.
    await hooks.read();
    await writeFile(join(directory, 'hooks', hookKey(id, 'preStop')), '');
    await hooks.read();
    assert.equal(hooks.states.size, 0);
  });
});
