/** Usage of containers, pods and the machine, read from kernel files in a folder. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ContainerState, SandboxState } from '../../../../src/kubelet/runtime/runtime.ts';
import { GroupReader } from '../../../../src/kubelet/usage/group-reader.ts';
import { readIfThere } from '../../../../src/kubelet/usage/kernel-text.ts';
import { readLogSize, readWritableLayer } from '../../../../src/kubelet/usage/layers.ts';
import { readMachine } from '../../../../src/kubelet/usage/machine-reader.ts';
import { CpuHistory } from '../../../../src/kubelet/usage/plan/cpu-history.ts';
import { UsageReader } from '../../../../src/kubelet/usage/usage-reader.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';
import { pod } from '../../controllers/objects.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'minik8s-usage-'));
});
afterEach(() => rm(root, { recursive: true }));

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

const group = 'sys/fs/cgroup/docker/abc';
const v2 = {
  'proc/7/cgroup': '0::/docker/abc/init\n',
  [`${group}/cpu.stat`]: 'usage_usec 5\nuser_usec 3\nsystem_usec 2\n',
  [`${group}/memory.current`]: '100\n',
  [`${group}/memory.stat`]: 'anon 10\ninactive_file 20\n',
  [`${group}/memory.max`]: '4096\n',
  [`${group}/memory.peak`]: '200\n',
  [`${group}/memory.events`]: 'max 4\noom_kill 2\n',
  [`${group}/memory.swap.current`]: '6\n',
  [`${group}/io.stat`]: '8:0 rbytes=1 wbytes=2 rios=3 wios=4\n',
  [`${group}/pids.current`]: '9\n',
};
const v1Of = (controller: string) => `sys/fs/cgroup/${controller}/docker/abc`;
const v1 = {
  'proc/7/cgroup': ['memory', 'cpu', 'cpuacct', 'pids', 'blkio']
    .map((name, index) => `${index}:${name}:/docker/abc\n`)
    .join(''),
  [`${v1Of('cpuacct')}/cpuacct.usage`]: '5000\n',
  [`${v1Of('cpuacct')}/cpuacct.usage_user`]: '3000\n',
  [`${v1Of('cpuacct')}/cpuacct.usage_sys`]: '2000\n',
  [`${v1Of('cpu')}/cpu.stat`]: 'nr_periods 5\nnr_throttled 1\nthrottled_time 9\n',
  [`${v1Of('memory')}/memory.usage_in_bytes`]: '100\n',
  [`${v1Of('memory')}/memory.stat`]: 'total_rss 10\ntotal_inactive_file 20\ntotal_swap 6\n',
  [`${v1Of('memory')}/memory.limit_in_bytes`]: '4096\n',
  [`${v1Of('memory')}/memory.max_usage_in_bytes`]: '200\n',
  [`${v1Of('memory')}/memory.failcnt`]: '4\n',
  [`${v1Of('memory')}/memory.kmem.usage_in_bytes`]: '7\n',
  [`${v1Of('memory')}/memory.oom_control`]: 'oom_kill 2\n',
  [`${v1Of('pids')}/pids.current`]: '9\n',
  [`${v1Of('blkio')}/blkio.throttle.io_service_bytes_recursive`]: '8:0 Read 1\n8:0 Write 2\n',
  [`${v1Of('blkio')}/blkio.throttle.io_serviced_recursive`]: '8:0 Read 3\n8:0 Write 4\n',
};
const device = { major: 8, minor: 0, readBytes: 1, writeBytes: 2, reads: 3, writes: 4 };
const memory = {
  ...{ usage: 100, workingSet: 80, rss: 10, cache: 0, mapped: 0, activeFile: 0, inactiveFile: 20 },
  ...{ swap: 6, pageFaults: 0, majorPageFaults: 0, most: 200, failures: 4, oomKills: 2, limit: 4096 },
};
const container = { id: 'abc', pid: 7 };

describe('the group of a container', () => {
  for (const [version, files, kernel, throttling] of [
    ['v2', v2, 0, undefined],
    ['v1', v1, 7, { periods: 5, throttled: 1, throttledNs: 9 }],
  ] as const)
    it(`is read in ${version}`, async () => {
      await put(files);
      const reader = new GroupReader(root);
      assert.equal(await reader.path(container), '/docker/abc');
      assert.deepEqual(await reader.cpu(container), { total: 5000, user: 3000, system: 2000, throttling });
      assert.deepEqual(await reader.memory(container), { ...memory, kernel });
      assert.deepEqual(await reader.details(container), { devices: [device], processes: 9 });
    });

  it('is located once, until it is dropped', async () => {
    await put(v2);
    const reader = new GroupReader(root);
    await reader.path(container);
    await rm(join(root, 'proc'), { recursive: true });
    assert.equal((await reader.memory(container))?.usage, 100);
    reader.forget('abc');
    assert.equal(await reader.memory(container), undefined);
  });

  it("is undefined for an ended process and for another container's process", async () => {
    await put({ 'proc/7/cgroup': '0::/docker/def\n', 'proc/0/cgroup': '0::/docker/abc\n' });
    const reader = new GroupReader(root);
    for (const one of [container, { id: 'abc', pid: 8 }, { id: 'abc', pid: 0 }, { id: 'abc', pid: -1 }])
      assert.deepEqual(
        await Promise.all([reader.path(one), reader.cpu(one), reader.memory(one), reader.details(one)]),
        [undefined, undefined, undefined, { devices: [], processes: undefined }],
      );
  });

  for (const [version, cgroup] of [
    ['v2', v2['proc/7/cgroup']],
    ['v1', '0:memory:/docker/abc\n1:cpuacct:/docker/abc\n'],
  ] as const)
    it(`has no values in ${version} while it ends`, async () => {
      await put({
        'proc/7/cgroup': cgroup,
        'sys/fs/cgroup/pids.current': '77',
        'sys/fs/cgroup/io.stat': '8:1 rbytes=1',
      });
      const reader = new GroupReader(root);
      assert.equal(await reader.cpu(container), undefined);
      assert.equal(await reader.memory(container), undefined);
      assert.deepEqual(await reader.details(container), { devices: [], processes: undefined });
    });

  it('needs both files of memory', async () => {
    await put({ 'proc/7/cgroup': '0::/docker/abc\n', [`${group}/memory.current`]: '1' });
    assert.equal(await new GroupReader(root).memory(container), undefined);
  });
});

describe('files of containers', () => {
  it('are read if they exist; a read error is thrown', async () => {
    await put({ a: 'x' });
    assert.equal(await readIfThere(join(root, 'a')), 'x');
    assert.equal(await readIfThere(join(root, 'b')), undefined);
    await assert.rejects(readIfThere(root), { code: 'EISDIR' });
  });

  it('name the writable folder', async () => {
    const options = 'rw,lowerdir=/l,upperdir=/var/lib/docker/overlay2/x/diff,workdir=/w';
    await put({ 'proc/7/mountinfo': `1 2 0:3 / / rw - overlay overlay ${options}\n` });
    assert.equal(await readWritableLayer(7, root), '/var/lib/docker/overlay2/x/diff');
    assert.equal(await readWritableLayer(8, root), undefined);
  });

  it('are counted in disk blocks for a log and its rotated logs', async () => {
    await put({
      'containers/abc/abc-json.log': 'x'.repeat(9000),
      'containers/abc/abc-json.log.1': 'x',
      'containers/abc/config.json': 'x',
      'containers/none/config.json': 'x',
    });
    const size = await readLogSize(root, 'abc');
    assert.equal(size?.inodes, 2);
    assert.ok((size?.bytes ?? 0) >= 9001 && (size?.bytes ?? 0) < 100_000, String(size?.bytes));
    assert.equal((size?.bytes ?? 1) % 512, 0);
    assert.deepEqual(
      [await readLogSize(root, 'none'), await readLogSize(root, 'gone')],
      [undefined, undefined],
    );
    await put({ 'containers/file': '' });
    await assert.rejects(readLogSize(root, 'file'), { code: 'ENOTDIR' });
  });
});

const machine = {
  'proc/stat': 'cpu  100 0 0 0\nbtime 50\n',
  'proc/meminfo': 'MemTotal: 2 kB\nMemFree: 1 kB\n',
  'proc/self/stat': `1 (node) ${Array.from({ length: 30 }, (_, index) => index + 3).join(' ')}`,
};

describe('the machine', () => {
  const read = (clock = new FakeClock(), history = new CpuHistory()) => readMachine(clock, history, root);

  it('is read with the present files', async () => {
    await put({
      ...machine,
      'proc/vmstat': 'pgfault 3\n',
      'proc/self/net/dev': 'eth0: 5 0\n',
      'proc/partitions': ' 8 0 1 sda\n',
    });
    const clock = new FakeClock();
    const { cpu, bootedAt, at, memory, interfaces, devices, agent } = await read(clock);
    assert.deepEqual([bootedAt, at], [50_000, clock.now()]);
    assert.deepEqual(cpu, { at, total: 1e9, rate: undefined });
    assert.deepEqual([memory.total, memory.usage, memory.pageFaults], [2048, 1024, 3]);
    assert.deepEqual([interfaces[0]?.name, interfaces[0]?.receivedBytes], ['eth0', 5]);
    assert.deepEqual([...devices], [['8:0', '/dev/sda']]);
    assert.deepEqual([agent.at, agent.cpu, agent.rate], [at, 290_000_000, undefined]);
  });

  it('is read without optional files, and not without required ones', async () => {
    await put(machine);
    const { interfaces, devices, memory } = await read();
    assert.deepEqual([interfaces, devices.size, memory.pageFaults], [[], 0, 0]);
    for (const path of Object.keys(machine)) {
      await rm(join(root, path));
      await assert.rejects(read(), { code: 'ENOENT' }, path);
      await put(machine);
    }
  });

  it('is read from the root cgroup; rates of the machine and the agent are computed', async () => {
    await put({ ...machine, 'sys/fs/cgroup/cpu.stat': 'usage_usec 2000000\n' });
    assert.equal((await read()).cpu.total, 2e9);
    await put({ 'sys/fs/cgroup/cpuacct/cpuacct.usage': '3000000000\n' });
    const [clock, history] = [new FakeClock(), new CpuHistory()];
    assert.equal((await read(clock, history)).cpu.total, 3e9);
    await clock.advance(1000);
    await put({ 'sys/fs/cgroup/cpuacct/cpuacct.usage': '3500000000\n' });
    const { cpu, agent } = await read(clock, history);
    assert.deepEqual([cpu.rate, agent.rate], [5e8, 0]);
  });
});

describe('usage of pods', () => {
  const sandbox = {
    ...{ kind: 'sandbox', id: 'box', state: 'running', pid: 6, ip: '10.0.0.2', attempt: 0, createdAt: 1000 },
  } as unknown as SandboxState;
  const app = {
    ...{ kind: 'container', id: 'abc', name: 'app', image: 'app:1', state: 'running', pid: 7, attempt: 2 },
    ...{ createdAt: 3000, startedAt: 4000 },
  } as unknown as ContainerState;
  const files = {
    ...machine,
    ...v2,
    'proc/6/cgroup': '0::/docker/box\n',
    'proc/6/net/dev': 'eth0: 5 0\n',
    'sys/fs/cgroup/docker/box/cpu.stat': 'usage_usec 1\n',
    'sys/fs/cgroup/docker/box/memory.current': '1',
    'sys/fs/cgroup/docker/box/memory.stat': '',
    'engine/containers/abc/abc-json.log': 'x',
  };
  let clock: FakeClock;
  let observed: { sandboxes: readonly SandboxState[]; containers: readonly ContainerState[] };
  let reader: UsageReader;
  let measured: string[];
  const volumes = [
    { name: 'disk', emptyDir: {} },
    { name: 'ram', emptyDir: { medium: 'Memory' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'c' } },
    { name: 'host', hostPath: { path: '/', type: '' as const } },
    { name: 'gone', emptyDir: {} },
  ];
  const one = pod('p', { spec: { volumes } });
  beforeEach(async () => {
    await put({ ...files, 'v/disk/x': '', 'v/ram/x': '', 'v/data/x': '' });
    [clock, measured] = [new FakeClock(), []];
    observed = { sandboxes: [sandbox], containers: [app] };
    reader = new UsageReader({
      ...{ clock, root, log: new RecordingLogger() },
      pods: () => [one],
      observe: () => observed,
      volume: (_, { name }) => (name === 'host' ? undefined : join(root, 'v', name)),
      engineDirectory: () => join(root, 'engine'),
      exec: async (_, args) => {
        const names = args.slice(args.indexOf('--') + 1);
        measured.push(...names);
        return { stdout: names.map((name) => `8\t${name}\0`).join(''), stderr: '' };
      },
    });
  });
  afterEach(() => reader.close());
  const again = async (ms: number) => {
    await clock.advance(ms);
    return (await reader.read()).pods[0];
  };

  it("is reported by container, with the pod's own network", async () => {
    const { at, pods } = await reader.read();
    assert.deepEqual([at, pods.length], [clock.now(), 1]);
    const [found] = pods;
    assert.equal(found?.pod, one);
    assert.deepEqual([found?.startedAt, found?.interfaces?.[0]?.receivedBytes], [1000, 5]);
    assert.equal(found?.cpu.total, 6000);
    const uid = one.metadata.uid;
    assert.deepEqual(
      [found?.sandbox, ...(found?.containers ?? [])].map((each) => [
        ...[each?.fullName, each?.name, each?.image, each?.startedAt, each?.path, each?.processes],
        ...[each?.memory.usage, each?.cpu.total, each?.log?.inodes],
      ]),
      [
        [`k8s_POD_p_default_${uid}_0`, 'POD', '', 1000, '/docker/box', undefined, 1, 1000, undefined],
        [`k8s_app_p_default_${uid}_2`, 'app', 'app:1', 4000, '/docker/abc', 9, 100, 5000, 1],
      ],
    );
  });

  it('includes volumes as far as they are measured; volumes in memory are not part of the pod’s storage', async () => {
    await reader.read();
    const found = await again(2000);
    assert.deepEqual(
      found?.volumes.map(({ name, claim, isEphemeral, size }) => [
        name,
        claim,
        isEphemeral,
        size.bytes === 8,
      ]),
      [
        ['disk', undefined, true, true],
        ['ram', undefined, false, true],
        ['data', 'c', false, false],
      ],
    );
    assert.deepEqual(
      new Set(measured),
      new Set(['disk', 'ram', 'gone'].map((name) => join(root, 'v', name))),
    );
  });

  it('is read at most once a second, and for a while without requests', async () => {
    const [first, same] = await Promise.all([reader.read(), reader.read()]);
    assert.equal(first, same);
    await clock.advance(999);
    assert.equal(await reader.read(), first);
    await clock.advance(1);
    const second = await reader.read();
    assert.notEqual(second, first);
    await clock.advance(200_000);
    assert.equal(clock.pending, 0, 'reading stops without requests');
  });

  it('is absent for a pod without running containers', async () => {
    observed = { sandboxes: [{ ...sandbox, state: 'exited' }], containers: [{ ...app, state: 'exited' }] };
    assert.deepEqual((await reader.read()).pods, []);
  });

  it('begins with the first container and has no network if the pod has no sandbox', async () => {
    const second = { ...app, id: 'box', pid: 6, name: 'second', createdAt: 2000, startedAt: undefined };
    observed = { sandboxes: [], containers: [app, second] };
    const [found] = (await reader.read()).pods;
    assert.deepEqual(
      [found?.startedAt, found?.sandbox, found?.interfaces, found?.containers.map(({ name }) => name)],
      [2000, undefined, undefined, ['second', 'app']],
    );
    assert.equal(found?.containers[0]?.startedAt, 2000);
  });

  it('leaves out containers that end while they are read', async () => {
    await rm(join(root, group, 'memory.current'));
    const [found] = (await reader.read()).pods;
    assert.deepEqual([found?.containers, found?.cpu.total], [[], 1000]);
  });
});
