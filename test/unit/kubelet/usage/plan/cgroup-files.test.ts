/** Files of cgroups and namespaces as kernels write them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  cpuUsageV1,
  cpuUsageV2,
  devicesV1,
  devicesV2,
  groupDirectories,
  memoryUsage,
} from '../../../../../src/kubelet/usage/plan/cgroup-files.ts';
import {
  machineMemory,
  machineStat,
  processUsage,
} from '../../../../../src/kubelet/usage/plan/machine-files.ts';
import { interfacesIn, mainInterface } from '../../../../../src/kubelet/usage/plan/network-files.ts';

describe('the cgroup paths of a container', () => {
  it('are read in v2 for either driver', () => {
    for (const path of [
      '/docker/abc',
      '/system.slice/docker-abc.scope',
      '/kubepods.slice/x/docker-abc.scope',
    ])
      assert.deepEqual(groupDirectories(`0::${path}\n`, 'abc'), {
        ...{ version: 2, cpu: `.${path}`, cpuacct: `.${path}`, memory: `.${path}`, pids: `.${path}` },
        io: `.${path}`,
      });
  });

  it('are read in v1 for the hierarchy of each controller', () => {
    const text =
      '9:memory:/docker/abc\n8:cpu,cpuacct:/docker/abc\n5:pids:/docker/abc\n4:blkio:/docker/abc\n0::/x\n';
    assert.deepEqual(groupDirectories(text, 'abc'), {
      ...{ version: 1, cpu: 'cpu/docker/abc', cpuacct: 'cpuacct/docker/abc', memory: 'memory/docker/abc' },
      ...{ pids: 'pids/docker/abc', io: 'blkio/docker/abc' },
    });
  });

  it('cover the whole container, also if its first process created a group below', () => {
    assert.equal(groupDirectories('0::/docker/abc/init.scope\n', 'abc')?.memory, './docker/abc');
  });

  it('are absent if the process belongs to another container', () => {
    for (const text of ['', '0::/\n', '0::/docker/def\n', '9:memory:/docker/abc\n', 'abc', '0:abc'])
      assert.equal(groupDirectories(text, 'abc'), undefined);
  });
});

describe('the CPU time of a cgroup', () => {
  it('is read in v2 from microseconds, with the throttling', () => {
    const text =
      'usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nnr_periods 10\nnr_throttled 2\nthrottled_usec 300\n';
    assert.deepEqual(cpuUsageV2(text), {
      ...{ total: 1_500_000, user: 1_000_000, system: 500_000 },
      throttling: { periods: 10, throttled: 2, throttledNs: 300_000 },
    });
    assert.equal(cpuUsageV2('usage_usec 1\nnr_periods 0\n')?.throttling, undefined);
    assert.equal(cpuUsageV2(''), undefined);
  });

  it('is read in v1 from nanoseconds, with the throttling', () => {
    assert.deepEqual(cpuUsageV1('7\n', '4\n', '3\n', 'nr_periods 5\nnr_throttled 1\nthrottled_time 9\n'), {
      ...{ total: 7, user: 4, system: 3, throttling: { periods: 5, throttled: 1, throttledNs: 9 } },
    });
    assert.deepEqual(cpuUsageV1('7\n', undefined, undefined, undefined), {
      ...{ total: 7, user: 0, system: 0, throttling: undefined },
    });
    assert.equal(cpuUsageV1('', undefined, undefined, undefined), undefined);
  });
});

describe('the memory of a cgroup', () => {
  it('is read in v2', () => {
    const stat =
      'anon 10\nfile 50\nkernel 3\nfile_mapped 5\ninactive_file 20\nactive_file 30\npgfault 7\npgmajfault 1\n';
    const files = {
      stat,
      limit: 'max\n',
      most: '200\n',
      failures: 'low 0\nmax 4\noom_kill 2\n',
      swap: '6\n',
    };
    assert.deepEqual(memoryUsage(2, { usage: '100\n', oom: files.failures, ...files }), {
      ...{ usage: 100, workingSet: 80, rss: 10, cache: 50, mapped: 5, activeFile: 30, inactiveFile: 20 },
      ...{ kernel: 3, swap: 6, pageFaults: 7, majorPageFaults: 1, most: 200, failures: 4, oomKills: 2 },
      limit: undefined,
    });
    assert.equal(memoryUsage(2, { usage: '100', stat, limit: '4096\n' })?.limit, 4096);
  });

  it('is read in v1 with the usage of child groups', () => {
    const stat =
      'cache 1\nrss 1\ntotal_cache 50\ntotal_rss 10\ntotal_mapped_file 5\ntotal_inactive_file 20\ntotal_active_file 30\ntotal_pgfault 7\ntotal_pgmajfault 1\ntotal_swap 6\n';
    const files = { usage: '100', stat, limit: '9223372036854771712', failures: '4', kernel: '3' };
    const read = memoryUsage(1, { ...files, oom: 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n' });
    assert.deepEqual(read, {
      ...{ usage: 100, workingSet: 80, rss: 10, cache: 50, mapped: 5, activeFile: 30, inactiveFile: 20 },
      ...{ kernel: 3, swap: 6, pageFaults: 7, majorPageFaults: 1, most: undefined, failures: 4, oomKills: 2 },
      limit: undefined,
    });
  });

  it('has a working set that is never negative', () => {
    assert.equal(memoryUsage(2, { usage: '5', stat: 'inactive_file 20\n', limit: undefined })?.workingSet, 0);
    assert.equal(memoryUsage(2, { usage: '', stat: '', limit: undefined }), undefined);
  });
});

describe('the devices of a cgroup', () => {
  const sda = { major: 8, minor: 0, readBytes: 1, writeBytes: 2, reads: 3, writes: 4 };
  it('are read in v2', () => {
    const text = '8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n253:1 \n';
    assert.deepEqual(devicesV2(text), [
      sda,
      { major: 253, minor: 1, readBytes: 0, writeBytes: 0, reads: 0, writes: 0 },
    ]);
    assert.deepEqual(devicesV2(''), []);
  });
  it('are read in v1', () => {
    assert.deepEqual(
      devicesV1('8:0 Read 1\n8:0 Write 2\n8:0 Sync 9\nTotal 3\n', '8:0 Read 3\n8:0 Write 4\n8:0 Total 7\n'),
      [sda],
    );
  });
});

describe('interfaces', () => {
  const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  net1:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
  eth0:     20       2    1    3    0     0          0         0       30       4    5    6    0     0       0          0
`;
  it('are all but loopback', () => {
    assert.deepEqual(interfacesIn(text)[1], {
      ...{ name: 'eth0', receivedBytes: 20, receivedPackets: 2, receiveErrors: 1, receiveDrops: 3 },
      ...{ sentBytes: 30, sentPackets: 4, sendErrors: 5, sendDrops: 6 },
    });
    assert.deepEqual(interfacesIn(text)[0]?.sentBytes, 9);
    assert.equal(interfacesIn(text).length, 2);
    assert.deepEqual(interfacesIn(''), []);
  });
  it('include one main interface', () => {
    assert.equal(mainInterface(interfacesIn(text))?.name, 'eth0');
    assert.equal(mainInterface(interfacesIn(text).slice(0, 1))?.name, 'net1');
    assert.equal(mainInterface([]), undefined);
  });
});

describe('the usage of the machine', () => {
  it('has the memory in bytes', () => {
    const meminfo =
      'MemTotal: 1000 kB\nMemFree: 400 kB\nInactive(file): 100 kB\nAnonPages: 50 kB\nSwapTotal: 20 kB\nSwapFree: 5 kB\n';
    assert.deepEqual(machineMemory(meminfo, 'pgfault 9\npgmajfault 2\n'), {
      ...{ total: 1_024_000, usage: 614_400, workingSet: 512_000, rss: 51_200, swapUsage: 15_360 },
      ...{ swapFree: 5120, pageFaults: 9, majorPageFaults: 2 },
    });
  });
  it('has the CPU time that was not idle', () => {
    assert.deepEqual(machineStat('cpu  1 2 3 1000 500 4 5 6 7 8\ncpu0 9 9\nbtime 100\n'), {
      cpu: 210_000_000,
      bootedAt: 100_000,
    });
  });
  it('is read for a process with any name', () => {
    const fields = Array.from({ length: 50 }, (_, index) => String(index + 3));
    assert.deepEqual(processUsage(`7 (a) b) ${fields.join(' ')}`, 1000), {
      ...{ cpu: 290_000_000, startedAt: 1220, resident: 24 * 4096, virtual: 23, pageFaults: 10 },
      majorPageFaults: 12,
    });
  });
});
