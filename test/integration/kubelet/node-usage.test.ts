/**
 * Usage that the node agent reads from the kernel: from files as kernels write them, and from this machine
 * and its Docker.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { freemem, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readMemoryLimit, readNodeUsage } from '../../../src/kubelet/node/node-usage.ts';
import { GroupReader } from '../../../src/kubelet/usage/group-reader.ts';
import { readWritableLayer } from '../../../src/kubelet/usage/layers.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { plenty } from '../../fixtures/plenty.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

const Mi = 2 ** 20;

await lockMachine();

describe('usage that is read from files of the kernel', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'minik8s-usage-'));
  });
  after(() => rm(root, { recursive: true }));

  async function machine(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    const directory = join(root, name);
    const all: Readonly<Record<string, string>> = {
      'proc/meminfo': 'MemTotal:        1048576 kB\nMemFree:  10 kB\nMemAvailable:     524288 kB\n',
      'proc/sys/kernel/pid_max': '4194304\n',
      'proc/sys/kernel/threads-max': '1000\n',
      'proc/loadavg': '0.10 0.20 0.30 2/245 999\n',
      ...files,
    };
    for (const [path, content] of Object.entries(all)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), content);
    }
    return directory;
  }
  const usageOf = (directory: string) =>
    readNodeUsage({ root: directory, dataDir: directory, engineDir: join(directory, 'gone') });

  it('is that of the machine if no cgroup limits it', async () => {
    const { memory, pids, imagefs } = await usageOf(await machine('whole', {}));
    assert.deepEqual(memory, { size: 1024 * Mi, available: 512 * Mi });
    assert.deepEqual(pids, { size: 1000, available: 755 });
    assert.equal(imagefs, undefined);
  });

  it('is relative to the limit of the container (cgroup v2)', async () => {
    const directory = await machine('v2', {
      'sys/fs/cgroup/memory.max': `${256 * Mi}\n`,
      'sys/fs/cgroup/memory.current': `${200 * Mi}\n`,
      'sys/fs/cgroup/memory.stat': `anon 1\ninactive_file ${50 * Mi}\n`,
    });
    assert.deepEqual((await usageOf(directory)).memory, { size: 256 * Mi, available: 106 * Mi });
    assert.equal(await readMemoryLimit(directory), 256 * Mi);
  });

  it('is relative to the limit of the container (cgroup v1)', async () => {
    const directory = await machine('v1', {
      'sys/fs/cgroup/memory/memory.limit_in_bytes': `${256 * Mi}\n`,
      'sys/fs/cgroup/memory/memory.usage_in_bytes': `${200 * Mi}\n`,
      'sys/fs/cgroup/memory/memory.stat': `inactive_file 1\ntotal_inactive_file ${50 * Mi}\n`,
    });
    assert.deepEqual((await usageOf(directory)).memory, { size: 256 * Mi, available: 106 * Mi });
  });

  it("is that of the machine if the cgroup has no limit, or one above the machine's memory", async () => {
    for (const [name, limit] of [
      ['v1-none', '9223372036854771712'],
      ['v1-more', String(4096 * Mi)],
    ] as const) {
      const directory = await machine(name, {
        'sys/fs/cgroup/memory/memory.limit_in_bytes': `${limit}\n`,
        'sys/fs/cgroup/memory/memory.usage_in_bytes': `${200 * Mi}\n`,
      });
      assert.deepEqual((await usageOf(directory)).memory, { size: 1024 * Mi, available: 512 * Mi });
    }
    const directory = await machine('v2-none', { 'sys/fs/cgroup/memory.max': 'max\n' });
    assert.deepEqual((await usageOf(directory)).memory, { size: 1024 * Mi, available: 512 * Mi });
  });

  it('of a container is that of its cgroup, in either version', async () => {
    const directory = await machine('containers', {
      'proc/7/cgroup': '9:memory:/docker/abc\n8:cpuacct,cpu:/docker/abc\n1:name=systemd:/\n0::/docker/abc\n',
      'sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes': '3000\n',
      'sys/fs/cgroup/memory/docker/abc/memory.stat': 'total_inactive_file 1000\n',
      'proc/8/cgroup': '0::/system.slice/docker-def.scope\n',
      'sys/fs/cgroup/system.slice/docker-def.scope/memory.current': '5000\n',
      'sys/fs/cgroup/system.slice/docker-def.scope/memory.stat': 'file 2000\ninactive_file 1500\n',
    });
    const groups = new GroupReader(directory);
    const memoryOf = async (id: string, pid: number) => (await groups.memory({ id, pid }))?.workingSet;
    assert.equal(await memoryOf('abc', 7), 2000);
    assert.equal(await memoryOf('def', 8), 3500);
    assert.equal(await memoryOf('ghi', 9), undefined);
    assert.equal(await memoryOf('other', 8), undefined, 'the process belongs to another container');
  });

  it('cannot be read on a machine without Linux', async () => {
    await assert.rejects(usageOf(await machine('other', { 'proc/meminfo': 'none\n' })), /MemAvailable/);
  });

  it('is plausible for this machine', async () => {
    const { memory, nodefs, pids } = await readNodeUsage({ dataDir: root, engineDir: '/' });
    assert.ok(memory.size <= totalmem() && memory.available > 0 && memory.available <= memory.size);
    assert.ok(memory.available > freemem() / 4);
    assert.ok(nodefs.size > nodefs.available && nodefs.available > 0 && nodefs.inodes > nodefs.inodesFree);
    assert.ok(pids.available > 0 && pids.available < pids.size);
  });
});

describe('usage of pods on Docker', { timeout: 300_000 }, () => {
  let node: NodeHarness;
  /** The node is short of this resource as long as the pod runs. */
  let cause: { readonly pod: string; readonly lacks: 'memory' | 'nodefs' } | undefined;

  before(async () => {
    node = await startNodeHarness();
    await node.startAgent({ heartbeatMs: 200, readUsage });
  });
  after(() => node.close());

  const shell = (script: string, more: object = {}) => ({
    containers: [
      {
        name: 'main',
        image: node.images.busybox,
        imagePullPolicy: 'IfNotPresent',
        command: ['sh', '-c', script],
        ...more,
      },
    ],
  });
  const readUsage = async () => {
    const read = await readNodeUsage({ dataDir: node.dataDir, engineDir: undefined });
    const usage = { ...read, nodefs: plenty.nodefs };
    if (!cause || !(await runningPid(cause.pod))) return usage;
    return { ...usage, [cause.lacks]: { ...usage[cause.lacks], available: 1 } };
  };
  const runningContainer = async (name: string) => {
    const { metadata } = await node.pod(name);
    const objects = await Promise.all((await node.runtime.list()).map(({ id }) => node.runtime.inspect(id)));
    return objects.find(
      (object) =>
        object?.kind === 'container' && object.pod.uid === metadata.uid && object.state === 'running',
    );
  };
  const runningPid = async (name: string) => (await runningContainer(name))?.pid;
  const memoryOf = async (name: string) => {
    const container = (await runningContainer(name)) ?? assert.fail(`${name} is not running`);
    return (await new GroupReader().memory(container))?.workingSet;
  };
  const pidOf = async (name: string) => (await runningPid(name)) ?? assert.fail(`${name} is not running`);

  // A file in a tmpfs stays in memory: the kernel does not reclaim it.
  const hog = 'head -c 60000000 /dev/zero >/dev/shm/hog; exec sleep 1000';
  const writer = 'head -c 60000000 /dev/zero >/hog; sync; exec sleep 1000';

  it('is read from their cgroups and writable layers, and the pod that uses most is evicted first', async () => {
    await node.createPod('modest', shell('exec sleep 1000'));
    await node.createPod('hog', shell(hog));
    await node.createPod('writer', shell(writer));
    for (const name of ['modest', 'hog', 'writer']) await node.waitFor(name, isReady);
    await eventually(async () => {
      const used = (await memoryOf('hog')) ?? 0;
      assert.ok(used > 55_000_000, `hog uses ${used}`);
    });
    const modest = await memoryOf('modest');
    assert.ok(modest !== undefined && modest < 20_000_000, `modest uses ${modest}`);
    const layer = (await readWritableLayer(await pidOf('writer'))) ?? assert.fail('no layer');
    await eventually(async () => assert.equal((await stat(join(layer, 'hog'))).size, 60_000_000));

    const evicted = (name: string) =>
      node.waitFor(name, ({ status }) => status?.phase === 'Failed' && status.reason === 'Evicted');
    cause = { pod: 'hog', lacks: 'memory' };
    const first = await evicted('hog');
    assert.match(
      first.status?.message ?? '',
      /Container main was using \d+Ki, request is 0, has larger consumption of memory\.$/,
    );
    assert.equal(await runningPid('hog'), undefined);
    cause = { pod: 'writer', lacks: 'nodefs' };
    assert.match((await evicted('writer')).status?.message ?? '', /low on resource: ephemeral-storage/);
    assert.ok(isReady(await node.pod('modest')), 'there was enough for this one each time');
  });
});
