/** Values that the kernel does not report: they are 0 or undefined, never NaN. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  counters,
  cpuUsageV1,
  cpuUsageV2,
  devicesV1,
  devicesV2,
  groupDirectories,
  memoryUsage,
  numberIn,
} from '../../../../../src/kubelet/usage/plan/cgroup-files.ts';
import { CpuHistory, PodCpuTotals } from '../../../../../src/kubelet/usage/plan/cpu-history.ts';
import {
  blockDevices,
  machineMemory,
  machineStat,
  processUsage,
} from '../../../../../src/kubelet/usage/plan/machine-files.ts';
import { interfacesIn } from '../../../../../src/kubelet/usage/plan/network-files.ts';

describe('files of a cgroup', () => {
  it('are in the directory of the group, and absent for controllers that do not exist', () => {
    assert.deepEqual(groupDirectories('9:memory:/abc\n8:cpuacct:/abc\n5:pids:/x\n', 'abc'), {
      ...{ version: 1, cpu: 'cpuacct/abc', cpuacct: 'cpuacct/abc', memory: 'memory/abc', pids: '', io: '' },
    });
    assert.deepEqual(
      groupDirectories('8:cpuacct:/abc\n0::/abc\n', 'abc')?.version,
      2,
      'version 1 needs the controller memory',
    );
    assert.equal(groupDirectories('0::abc\n', 'abc')?.memory, '.abc', 'the path may begin with the id');
    assert.equal(groupDirectories('9:memory:/abc\n8:cpuacct:/x\n', 'abc'), undefined);
  });

  it('contain names with numbers, a single number, or no number', () => {
    assert.deepEqual(
      [...counters('a 1\nb x\nc\n 5\n\nd 0\n')],
      [
        ['a', 1],
        ['', 5],
        ['d', 0],
      ],
    );
    assert.deepEqual(['7\n', ' ', 'max', '', undefined].map(numberIn), [7, ...Array(4).fill(undefined)]);
  });

  it('have zeros for missing times', () => {
    const none = { user: 0, system: 0, throttling: undefined };
    assert.deepEqual(cpuUsageV2('usage_usec 2\n'), { total: 2000, ...none });
    assert.deepEqual(cpuUsageV2('usage_usec 2\nnr_periods 1\n')?.throttling, {
      ...{ periods: 1, throttled: 0, throttledNs: 0 },
    });
    assert.deepEqual(cpuUsageV1('2', undefined, undefined, 'nr_periods 1\n'), {
      ...{ total: 2, user: 0, system: 0, throttling: { periods: 1, throttled: 0, throttledNs: 0 } },
    });
    assert.deepEqual(cpuUsageV1('2', undefined, undefined, 'mutated'), { total: 2, ...none });
  });

  const nothing = {
    ...{ rss: 0, cache: 0, mapped: 0, activeFile: 0, inactiveFile: 0, kernel: 0, swap: 0, pageFaults: 0 },
    ...{ majorPageFaults: 0, most: undefined, failures: 0, oomKills: 0, limit: undefined },
  };
  for (const version of [1, 2] as const)
    it(`v${version} have zeros for missing memory values`, () => {
      const files = { usage: '3', stat: '', limit: undefined };
      assert.deepEqual(memoryUsage(version, files), { usage: 3, workingSet: 3, ...nothing });
    });

  it('have memory values under the names of their version', () => {
    const stat = 'pgfault 1\ntotal_pgfault 2\n';
    assert.equal(memoryUsage(1, { usage: '3', stat, limit: '5' })?.pageFaults, 2);
    assert.equal(memoryUsage(2, { usage: '3', stat, limit: '5' })?.pageFaults, 1);
    const bounds = [2 ** 60 - 2 ** 10, 2 ** 60, 2 ** 60 + 2 ** 10].map(
      (limit) => memoryUsage(1, { usage: '3', stat, limit: String(limit) })?.limit,
    );
    assert.deepEqual(bounds, [2 ** 60 - 2 ** 10, undefined, undefined]);
  });

  it('have devices that only wrote, and none for other lines', () => {
    const device = { major: 8, minor: 1, readBytes: 0, writeBytes: 0, reads: 0, writes: 0 };
    assert.deepEqual(devicesV2('8:1 wbytes=2 rbytes=x wios\nmutated\n'), [{ ...device, writeBytes: 2 }]);
    assert.deepEqual(devicesV1('8:1 Write 2\n', ''), [{ ...device, writeBytes: 2 }]);
    assert.deepEqual(devicesV1('', '8:1 Read 2\n'), [{ ...device, reads: 2 }]);
    assert.deepEqual(devicesV1('8:1 Read 4\n', ''), [{ ...device, readBytes: 4 }]);
  });
});

describe('rates', () => {
  it('are computed over half a second, from the last reading', () => {
    const history = new CpuHistory();
    history.take('a', { at: 1000, total: 0 });
    assert.equal(history.take('a', { at: 1499, total: 9 }).rate, undefined);
    assert.equal(history.take('a', { at: 1500, total: 1e9 }).rate, 2e9);
    history.keep(new Set(['a', 'b']));
    assert.equal(history.last('a')?.at, 1500);
    history.keep(new Set(['b']));
    assert.equal(history.last('a'), undefined);
  });
});

describe('sums of pods', () => {
  it('never fall, even if a container has a lower reading, or none', () => {
    const totals = new PodCpuTotals();
    assert.equal(totals.take('p', new Map([['a', 10]])), 10);
    assert.equal(totals.take('p', new Map([['a', 4]])), 10);
    totals.keep(new Set(['p']));
    assert.equal(totals.take('p', new Map([['b', 1]])), 11);
  });

  it('include a temporarily unreadable container once, among 64 ended containers', () => {
    const totals = new PodCpuTotals();
    for (let run = 0; run < 64; run++) totals.take('p', new Map([[`run-${run}`, 1]]));
    assert.equal(totals.take('p', new Map([['now', 1]])), 65);
    assert.equal(totals.take('p', new Map([['run-0', 3]])), 67, 'run-0 is still remembered by its name');
    for (const name of ['x', 'y', 'z']) totals.take('p', new Map([[name, 1]]));
    assert.equal(totals.take('p', new Map([['run-1', 1]])), 71, 'run-1 is not, and counts again');
  });
});

describe('files of the machine', () => {
  it('have zeros without values', () => {
    assert.deepEqual(machineMemory('', ''), {
      ...{ total: 0, usage: 0, workingSet: 0, rss: 0, swapUsage: 0, swapFree: 0 },
      ...{ pageFaults: 0, majorPageFaults: 0 },
    });
    assert.deepEqual(machineStat(''), { cpu: 0, bootedAt: 0 });
    assert.deepEqual(machineStat('cpu  5\n'), { cpu: 50_000_000, bootedAt: 0 });
    assert.deepEqual(processUsage('1 (a)', 7), {
      ...{ cpu: 0, startedAt: 7, resident: 0, virtual: 0, pageFaults: 0, majorPageFaults: 0 },
    });
    assert.equal(machineMemory('MemTotal: 2 kB\nMemFree: 1 kB\nInactive(file): 9 kB\n', '').workingSet, 0);
  });

  it('name block devices by their numbers', () => {
    const text =
      'major minor  #blocks  name\n\n   8        0  20971520 sda\n 253       17 1 dm-1\n 8 x 1 sdb\n';
    assert.deepEqual(
      [...blockDevices(text)],
      [
        ['8:0', '/dev/sda'],
        ['253:17', '/dev/dm-1'],
      ],
    );
  });

  it('have zeros for missing interface values', () => {
    const none = {
      ...{ receivedBytes: 0, receivedPackets: 0, receiveErrors: 0, receiveDrops: 0 },
      ...{ sentBytes: 0, sentPackets: 0, sendErrors: 0, sendDrops: 0 },
    };
    assert.deepEqual(interfacesIn('eth0: 1\n'), [{ name: 'eth0', ...none, receivedBytes: 1 }]);
    assert.deepEqual(interfacesIn('eth0: 1 2 3 4 5 6 7 8 9  \n'), [
      ...[{ name: 'eth0', receivedBytes: 1, receivedPackets: 2, receiveErrors: 3, receiveDrops: 4 }].map(
        (one) => ({ ...one, sentBytes: 9, sentPackets: 0, sendErrors: 0, sendDrops: 0 }),
      ),
    ]);
    assert.deepEqual(interfacesIn('eth0:\n'), []);
  });
});
