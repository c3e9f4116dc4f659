/** Signals that stop a node's process, and settings about its lifetime. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../../src/base/log.ts';
import type { ShutdownPeriods } from '../../../../src/kubelet/node/plan/shutdown-phases.ts';
import { type Exec, ExecError, systemExec } from '../../../../src/os/exec.ts';
import { settingRows } from '../../../../src/roles/settings/setting-table.ts';
import { readSettings } from '../../../../src/roles/settings/settings.ts';
import {
  agentLife,
  machineIsStopping,
  shutdownPeriods,
  signalAfterPods,
} from '../../../../src/roles/worker/node-life.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const settle = () => new FakeClock().settle();

function scene({ periods = { totalMs: 30_000, criticalMs: 10_000 }, machineStops = false } = {}) {
  const power = Object.assign(new EventEmitter(), { stop: () => void stopped.push('process') });
  const stopped: string[] = [];
  const pods = Promise.withResolvers<void>();
  const asked: ShutdownPeriods[] = [];
  const process = new AbortController();
  const ended = signalAfterPods(
    {
      kubelet: {
        shutDown: (given) => {
          asked.push(given);
          return pods.promise;
        },
      },
      periods: periods.totalMs > 0 ? periods : undefined,
      exec: async () => ({ stdout: '', stderr: '' }),
      log: silentLogger,
      source: power,
      isStopping: async () => machineStops,
    },
    process.signal,
  );
  return { power, stopped, pods, asked, process, ended };
}

describe('a node that is stopped', () => {
  it('leaves its pods running', async () => {
    const { process, ended, asked, power } = scene();
    process.abort();
    await settle();
    assert.equal(ended.aborted, true);
    assert.deepEqual(asked, []);
    assert.equal(power.listenerCount('SIGPWR'), 0);
  });

  it('ends its pods first if the machine shuts down', async () => {
    const { process, ended, asked, pods } = scene({ machineStops: true });
    process.abort();
    await settle();
    assert.equal(ended.aborted, false);
    assert.deepEqual(asked, [{ totalMs: 30_000, criticalMs: 10_000 }]);
    pods.resolve();
    await settle();
    assert.equal(ended.aborted, true);
  });

  it('ends its pods once at SIGPWR, and then stops itself', async () => {
    const { power, ended, asked, pods, stopped, process } = scene();
    power.emit('SIGPWR');
    power.emit('SIGPWR');
    await settle();
    assert.equal(asked.length, 1);
    assert.deepEqual(stopped, []);
    pods.resolve();
    await settle();
    assert.ok(stopped.length > 0);
    process.abort();
    await settle();
    assert.equal(ended.aborted, true);
  });

  it('waits for the pods when it is stopped while they end', async () => {
    const { power, ended, pods, stopped, process } = scene();
    power.emit('SIGPWR');
    process.abort();
    await settle();
    assert.equal(ended.aborted, false);
    pods.resolve();
    await settle();
    assert.equal(ended.aborted, true);
    assert.deepEqual(stopped, [], 'a process that stops already is not stopped again');
  });

  it('stops even if its pods cannot be ended', async () => {
    const { process, ended, pods } = scene({ machineStops: true });
    process.abort();
    pods.reject(new Error('no'));
    await settle();
    assert.equal(ended.aborted, true);
  });

  it('does not listen for SIGPWR without a grace period', () => {
    const { power, ended, process } = scene({ periods: { totalMs: 0, criticalMs: 0 } });
    assert.equal(power.listenerCount('SIGPWR'), 0);
    assert.equal(ended, process.signal);
  });
});

describe('whether the machine is shutting down', () => {
  /** `systemctl` for this state: its exit status is not 0 for every state but `running`. */
  const systemctl =
    (state: string): Exec =>
    async (file, args) => {
      assert.deepEqual([file, ...args], ['systemctl', 'is-system-running']);
      const result = { stdout: `${state}\n`, stderr: '' };
      if (state === 'running') return result;
      throw new ExecError({ ...result, file, args, code: 1 }, 'exit status 1');
    };

  it('is read from systemd', async () => {
    for (const [state, stopping] of [
      ['running', false],
      ['degraded', false],
      ['offline', false],
      ['stopping', true],
    ] as const) {
      assert.equal(await machineIsStopping(systemctl(state), '/'), stopping, state);
    }
  });

  it('is unknown without systemd, and when systemd does not answer', async () => {
    assert.equal(await machineIsStopping(systemctl('stopping'), '/nonexistent/systemd'), false);
    const silent: Exec = async () => {
      throw new Error('timed out');
    };
    assert.equal(await machineIsStopping(silent, '/'), false);
  });

  it('is false on the machine of the tests', async () => {
    assert.equal(await machineIsStopping(systemExec), false);
  });
});

describe('settings of a node’s life', () => {
  const read = (flags: Record<string, string> = {}) =>
    readSettings(settingRows('node'), {
      command: 'minik8s node',
      flags,
      environment: {},
      configFile: '/nonexistent/node.yaml',
    });

  it('have upstream defaults', () => {
    const settings = read();
    assert.equal(settings['heartbeat-interval'], 10_000);
    assert.deepEqual(settings['eviction-hard'][0], { signal: 'memory.available', amount: 100 * 2 ** 20 });
    assert.equal(shutdownPeriods(settings), undefined);
    const { maxParallelImagePulls, imageGc } = agentLife(settings);
    assert.deepEqual(imageGc, { highPercent: 85, lowPercent: 80, minAgeMs: 120_000 });
    assert.equal(maxParallelImagePulls, 3);
  });

  it('reject a low image threshold above the high one', () => {
    const flags = { 'image-gc-high-threshold': '50', 'image-gc-low-threshold': '51' };
    const message = /^--image-gc-low-threshold must not be more than/;
    assert.throws(() => agentLife(read(flags)), { name: 'UsageError', message });
  });

  it('list the additional sysctls that are allowed', () => {
    const { allowedUnsafeSysctls } = agentLife(read({ 'allowed-unsafe-sysctls': 'kernel.msg*' }));
    assert.deepEqual(allowedUnsafeSysctls, [{ start: 'kernel.msg', isPrefix: true, namespace: 'IPC' }]);
  });

  it('reserve a third of the time for critical pods by default', () => {
    assert.deepEqual(shutdownPeriods(read({ 'shutdown-grace-period': '30s' })), {
      totalMs: 30_000,
      criticalMs: 10_000,
    });
    const more = { 'shutdown-grace-period': '30s', 'shutdown-grace-period-critical-pods': '0s' };
    assert.deepEqual(shutdownPeriods(read(more)), { totalMs: 30_000, criticalMs: 0 });
  });

  const refused: [Record<string, string>, RegExp][] = [
    [{ 'heartbeat-interval': '500ms' }, /^--heartbeat-interval: "500ms": expected a duration from 1s/],
    [
      { 'allowed-unsafe-sysctls': 'vm.swappiness' },
      /^--allowed-unsafe-sysctls: "vm.swappiness": .*not known to be/,
    ],
    [{ 'eviction-hard': 'memory<1Gi' }, /^--eviction-hard: "memory<1Gi": expected SIGNAL<AMOUNT/],
    [
      { 'shutdown-grace-period': '10s', 'shutdown-grace-period-critical-pods': '11s' },
      /^--shutdown-grace-period-critical-pods must not be more than --shutdown-grace-period, /,
    ],
  ];
  for (const [flags, message] of refused) {
    it(`are refused: ${JSON.stringify(flags)}`, () =>
      assert.throws(() => shutdownPeriods(read(flags)), { name: 'UsageError', message }));
  }
});
