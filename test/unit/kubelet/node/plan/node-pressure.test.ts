/** Pressure conditions of a node, and how long they last. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../../../src/base/log.ts';
import {
  defaultEvictionHard,
  type NodeUsage,
  parseThresholds,
  type Shortage,
} from '../../../../../src/kubelet/node/plan/eviction-thresholds.ts';
import { nodeConditions } from '../../../../../src/kubelet/node/plan/node-conditions.ts';
import { PressureMonitor } from '../../../../../src/kubelet/node/pressure-monitor.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const Mi = 2 ** 20;
const Gi = 2 ** 30;
const disk = { size: 100 * Gi, available: 50 * Gi, inodes: 1000, inodesFree: 500 };
const plenty: NodeUsage = {
  memory: { size: 8 * Gi, available: 4 * Gi },
  nodefs: disk,
  pids: { size: 32_768, available: 30_000 },
};

describe('pressure', () => {
  function scene() {
    const clock = new FakeClock();
    let usage: NodeUsage | Error | Promise<NodeUsage> = plenty;
    const told: (readonly Shortage[])[] = [];
    const monitor = new PressureMonitor({
      readUsage: async () => {
        if (usage instanceof Error) throw usage;
        return usage;
      },
      thresholds: parseThresholds(defaultEvictionHard),
      onShortages: (shortages) => void told.push(shortages),
      onLook: () => {},
      clock,
      log: silentLogger,
    });
    const look = async (now: typeof usage) => {
      usage = now;
      const measured = monitor.measure();
      if (now instanceof Promise) await clock.advance(2000);
      await measured;
      const conditions = nodeConditions(
        { problem: undefined, reported: {}, ...monitor.health(clock.now()), now: clock.now() },
        [],
      );
      return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
    };
    return { clock, look, told };
  }
  const short = { ...plenty, memory: { size: Gi, available: 10 * Mi } };

  it('is reported at once, and for five minutes after it was last observed', async () => {
    const { clock, look, told } = scene();
    assert.equal((await look(plenty)).MemoryPressure, 'False KubeletHasSufficientMemory');
    const under = await look(short);
    assert.equal(under.MemoryPressure, 'True KubeletHasInsufficientMemory');
    assert.equal(under.DiskPressure, 'False KubeletHasNoDiskPressure');
    assert.equal(under.Ready, 'True KubeletReady');
    await clock.advance(60_000);
    await look(short);
    await clock.advance(299_999);
    assert.equal((await look(plenty)).MemoryPressure, 'True KubeletHasInsufficientMemory');
    await clock.advance(1);
    assert.equal((await look(plenty)).MemoryPressure, 'False KubeletHasSufficientMemory');
    assert.equal(told.length, 2, 'pods are evicted only while the node is short');
  });

  it('is unknown if it cannot be measured, and known again afterwards', async () => {
    const { look } = scene();
    assert.equal((await look(new Error('no /proc'))).PIDPressure, 'Unknown KubeletCannotMeasure');
    assert.equal((await look(plenty)).PIDPressure, 'False KubeletHasSufficientPID');
  });

  it('is unknown while the kernel does not answer, without delaying other work', async () => {
    const { look, clock } = scene();
    const { promise, resolve } = Promise.withResolvers<NodeUsage>();
    assert.equal((await look(promise)).DiskPressure, 'Unknown KubeletCannotMeasure');
    // The kernel is not asked again before it has answered.
    assert.equal((await look(promise)).DiskPressure, 'Unknown KubeletCannotMeasure');
    resolve(plenty);
    await clock.settle();
    assert.equal((await look(plenty)).DiskPressure, 'False KubeletHasNoDiskPressure');
    assert.equal(clock.pending, 0);
  });
});
