/** Data of Debian's etcd that the etcd inside the single file takes over: no data is ever lost. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { errorMessage, silentLogger } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { systemExec } from '../../src/os/exec.ts';
import { type EmbeddedEtcd, startEmbeddedEtcd } from '../../src/storage/embedded-etcd.ts';
import { connectEtcd } from '../../src/storage/etcd.ts';
import { runEtcd, socketAddress } from '../../src/storage/etcd-process.ts';
import { processesWithArguments } from '../../src/storage/leftover-process.ts';
import type { Store, StoredValue, StoreEvent } from '../../src/storage/store.ts';
import { insideEtcd } from '../fixtures/etcd-binary.ts';
import { earlierBinary, requireEarlierEtcd } from './etcd-server.ts';
import { Collector } from './store.ts';

const limit = { timeout: 180_000 };
const tree = '/registry/';
const missing = '/nowhere/etcd';
/** MINIK8S_TEST_ETCD does not affect the binaries of this test. */
const binaries = { binary: insideEtcd, earlierBinary };

let scratch: string;
/** Directory as an earlier minik8s leaves it when killed, and all acknowledged objects in it. */
let earlier: string;
let acknowledged: readonly StoredValue[];
let last: number;
/** Events after the last compaction. */
let history: readonly StoreEvent[];

const connect = (socket: string) =>
  connectEtcd({
    endpoints: [`unix:${socket}`],
    log: silentLogger,
    clock: systemClock,
    random: systemRandom,
    settleMs: 20_000,
  });

before(async () => {
  requireEarlierEtcd();
  scratch = await mkdtemp(path.join(tmpdir(), 'minik8s-store-'));
  earlier = path.join(scratch, 'earlier');
  await mkdir(earlier);
  const data = path.join(earlier, 'data');
  const started = Promise.withResolvers<number>();
  const running = runEtcd(
    { binary: earlierBinary, dataDir: earlier, data, stopMs: 5000, clock: systemClock },
    new AbortController().signal,
    started.resolve,
  );
  const pid = await started.promise;
  const store = await connect(socketAddress(earlier, 0));
  const compacted = await writeSome(store);
  ({ items: acknowledged, revision: last } = await store.list(tree));
  history = await historyAfter(store, compacted);
  // etcd writes to its log at once and to its database ten times a second, so that these objects are only in
  // the log.
  const value = Buffer.from('last');
  const write = async (n: number) => {
    const key = `${tree}last/${n}`;
    return { key, value, revision: await store.create(key, value) };
  };
  const final = await Promise.all([0, 1, 2, 3, 4].map(write));
  process.kill(pid, 'SIGKILL');
  await running;
  await store.close();
  acknowledged = [...acknowledged, ...final];
  final.sort((a, b) => a.revision - b.revision);
  history = [...history, ...final.map((item) => ({ type: 'put' as const, ...item }))];
  last = final.at(-1)?.revision ?? 0;
});

after(async () => {
  await Promise.all(started.map((etcd) => etcd.stop()));
  await rm(scratch, { recursive: true, force: true });
});

/** Writes objects; resolves to the compacted revision. */
async function writeSome(store: Store): Promise<number> {
  const write = async (lane: number) => {
    for (let n = 0; n < 100; n++) {
      const key = `${tree}${lane}/${n}`;
      let revision = await store.create(key, Buffer.from(`first ${n}`));
      if (n % 2 === 0) revision = await store.update(key, Buffer.alloc(2000, `${lane} ${n}`), revision);
      if (n % 5 === 0) await store.delete(key, revision);
    }
  };
  await Promise.all([0, 1, 2].map(write));
  const compacted = await store.currentRevision();
  await store.compact(compacted);
  await Promise.all([3, 4, 5].map(write));
  return compacted;
}

async function historyAfter(store: Store, revision: number): Promise<readonly StoreEvent[]> {
  const collector = new Collector(store, tree, revision);
  await collector.until(() => collector.events.at(-1)?.revision === last);
  await collector.stop();
  return collector.events;
}

let copies = 0;
async function copyOfEarlier(): Promise<string> {
  const dataDir = path.join(scratch, `copy-${copies++}`);
  await cp(earlier, dataDir, { recursive: true, filter: (file) => !file.endsWith(':0') });
  return dataDir;
}

/** Processes of failed tests, which end with the file. */
const started: EmbeddedEtcd[] = [];
async function begin(dataDir: string, given: Partial<typeof binaries> = {}): Promise<EmbeddedEtcd> {
  const { signal } = new AbortController();
  const options = { ...binaries, dataDir, log: silentLogger, clock: systemClock, ...given, signal };
  const etcd = await startEmbeddedEtcd(options);
  started.push(etcd);
  return etcd;
}

/**
 * Starts etcd and asserts that everything exists: values, revisions, and the history after the compaction.
 */
async function assertTakenOver(dataDir: string, given: Partial<typeof binaries> = {}): Promise<void> {
  const etcd = await begin(dataDir, given);
  const store = await connect(socketAddress(dataDir, 0));
  try {
    const { items, revision } = await store.list(tree);
    assert.deepEqual(items, acknowledged);
    assert.equal(revision, last);
    assert.deepEqual(await historyAfter(store, (history[0]?.revision ?? 0) - 1), history);
  } finally {
    await store.close();
    await etcd.stop();
  }
}

const entries = async (dataDir: string) =>
  (await readdir(dataDir)).filter((name) => name.startsWith('data')).sort();

test('after the take-over each object exists once, and the earlier data are kept', limit, async () => {
  assert.ok(acknowledged.length > 400 && history.length > 400);
  const dataDir = await copyOfEarlier();
  await assertTakenOver(dataDir);
  assert.deepEqual(await entries(dataDir), ['data', 'data.earlier']);
  // The earlier etcd is missing from now on.
  await assertTakenOver(dataDir, { earlierBinary: missing });
  const etcd = await begin(dataDir, { earlierBinary: missing });
  const store = await connect(socketAddress(dataDir, 0));
  const revision = await store.create(`${tree}new`, Buffer.from('x'));
  assert.ok(revision > last);
  await store.close();
  await etcd.stop();
});

test('data whose etcd is missing are rejected with the remedy, and stay unchanged', limit, async () => {
  const dataDir = await copyOfEarlier();
  await assert.rejects(begin(dataDir, { earlierBinary: missing }), (error: Error) => {
    assert.match(
      errorMessage(error),
      /are of an earlier version, and \/nowhere\/etcd, which reads them, is not there: put an .* removes the cluster with all its objects$/,
    );
    assert.ok(error.message.includes(dataDir));
    return true;
  });
  const program = path.join(dataDir, 'etcd-earlier');
  await writeFile(program, '', { mode: 0o600 });
  await assert.rejects(begin(dataDir, { earlierBinary: program }), (error: Error) => {
    assert.match(errorMessage(error), /etcd-earlier, which reads them, cannot be run: put an .*EACCES/);
    return true;
  });
  assert.deepEqual(await entries(dataDir), ['data']);
  await assertTakenOver(dataDir);
});

test('damaged earlier data are reported as damaged, and stay unchanged', limit, async () => {
  const dataDir = await copyOfEarlier();
  const log = path.join(dataDir, 'data/member/wal');
  const [first = ''] = (await readdir(log)).filter((name) => name.endsWith('.wal'));
  await using file = await open(path.join(log, first), 'r+');
  await file.write(Buffer.alloc(64, 0x5a), 0, 64, 20_000);
  await assert.rejects(begin(dataDir), (error: Error) => {
    assert.match(
      errorMessage(error),
      /were not taken over and are as they were: the data of etcd in .* are damaged/,
    );
    return true;
  });
  assert.deepEqual(await entries(dataDir), ['data']);
});

test('a start without a mark reads the database, and does not take over its own data', limit, async () => {
  const dataDir = await copyOfEarlier();
  await assertTakenOver(dataDir);
  await rm(path.join(dataDir, 'format'));
  await assertTakenOver(dataDir, { earlierBinary: missing });
  // The earlier data are in their old place again.
  await rm(path.join(dataDir, 'data'), { recursive: true });
  await rename(path.join(dataDir, 'data.earlier'), path.join(dataDir, 'data'));
  await assert.rejects(begin(dataDir, { earlierBinary: missing }), /are of an earlier version/);
  await assertTakenOver(dataDir);
});

test('earlier data restored under a name whose inode is used again are taken over again', limit, async () => {
  const dataDir = await copyOfEarlier();
  await assertTakenOver(dataDir);
  const at = (name: string) => path.join(dataDir, name);
  // A file system reuses a freed inode number for the next new file.
  await rm(at('data'), { recursive: true });
  await cp(at('data.earlier'), at('data'), { recursive: true, preserveTimestamps: true });
  await assert.rejects(begin(dataDir, { earlierBinary: missing }), /are of an earlier version/);
  await assertTakenOver(dataDir);
});

test('an empty directory in the place of the earlier data is treated as no data', limit, async () => {
  const dataDir = path.join(scratch, 'empty');
  await mkdir(path.join(dataDir, 'data'), { recursive: true });
  const written = { key: `${tree}a`, value: Buffer.from('x'), revision: 0 };
  for (const wanted of [0, 1]) {
    const etcd = await begin(dataDir, { earlierBinary: missing });
    const store = await connect(socketAddress(dataDir, 0));
    const { items } = await store.list(tree);
    assert.deepEqual(items, [written].slice(0, wanted));
    if (wanted === 0) written.revision = await store.create(written.key, written.value);
    await store.close();
    await etcd.stop();
  }
});

/** Makes the directory a mount point of its own contents while `run` runs. */
async function mounted(directory: string, run: () => Promise<void>): Promise<void> {
  await systemExec('mount', ['--bind', directory, directory]);
  try {
    await run();
  } finally {
    await systemExec('umount', [directory]);
  }
}

test('earlier data on a mount point are rejected with the remedy, and stay unchanged', limit, async () => {
  const dataDir = await copyOfEarlier();
  const data = path.join(dataDir, 'data');
  await mounted(data, () =>
    assert.rejects(begin(dataDir), (error: Error) => {
      assert.match(
        errorMessage(error),
        /data is a mount point, .* unmount .*; .* mount it at .*copy-\d+, with/,
      );
      return true;
    }),
  );
  assert.deepEqual(await entries(dataDir), ['data']);
  await assertTakenOver(dataDir);
  // The data of the new etcd may be on a mount point.
  await mounted(data, () => assertTakenOver(dataDir));
});

test('an empty disk in the place of the data is rejected with the remedy', limit, async () => {
  const dataDir = path.join(scratch, 'disk');
  await mkdir(path.join(dataDir, 'data/lost+found'), { recursive: true });
  await mounted(path.join(dataDir, 'data'), () => assert.rejects(begin(dataDir), /data is a mount point/));
});

test('data that another take-over kept are never deleted', limit, async () => {
  const dataDir = await copyOfEarlier();
  const at = (name: string) => path.join(dataDir, name);
  // The process was killed after it had moved the data away; then an earlier minik8s began with new data.
  await rename(at('data'), at('data.earlier'));
  await cp(at('data.earlier'), at('data'), { recursive: true });
  await mkdir(at('data.earlier/only-here'));
  await assertTakenOver(dataDir);
  assert.deepEqual(await entries(dataDir), ['data', 'data.earlier', 'data.earlier.2']);
  assert.deepEqual(await readdir(at('data.earlier')), ['member', 'only-here']);
});

test('a migration of the data that was killed is continued by the next start', limit, async () => {
  const dataDir = await copyOfEarlier();
  const at = (name: string) => path.join(dataDir, name);
  await assertTakenOver(dataDir);
  // The data are ready, but were not renamed yet: `data` is made again.
  await rename(at('data'), at('data.ready'));
  await rename(at('data.earlier'), at('data'));
  await assertTakenOver(dataDir);
  assert.deepEqual(await entries(dataDir), ['data', 'data.earlier']);
  // The earlier data are moved away, and nothing is in their place.
  await rename(at('data'), at('data.ready'));
  for (const marked of [true, false]) {
    if (!marked) await rm(at('format'));
    await assertTakenOver(dataDir, { earlierBinary: missing });
    assert.deepEqual(await entries(dataDir), ['data', 'data.earlier']);
    await rename(at('data'), at('data.ready'));
  }
});

/** Spawns a process that takes the data over, as a master does before anything else. */
function spawnMaster(dataDir: string) {
  const source = path.join(import.meta.dirname, '../../src');
  const script = `
    import { startEmbeddedEtcd } from '${source}/storage/embedded-etcd.ts';
    import { systemClock as clock } from '${source}/base/clock.ts';
    import { silentLogger as log } from '${source}/base/log.ts';
    const [binary, earlierBinary, dataDir] = process.argv.slice(1);
    const signal = new AbortController().signal;
    await startEmbeddedEtcd({ binary, earlierBinary, dataDir, log, clock, signal });
    console.log('started');`;
  const args = ['--input-type=module', '--eval', script, insideEtcd, earlierBinary, dataDir];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

const stages: readonly [what: string, reached: (dataDir: string) => boolean | Promise<boolean>][] = [
  [
    'while the earlier etcd starts',
    async (dataDir) => (await processesWithArguments([`--data-dir=${dataDir}/data`])).length > 0,
  ],
  ['while the earlier etcd serves', (dataDir) => existsSync(path.join(dataDir, 'client:0'))],
  ['while the copy is made', (dataDir) => existsSync(path.join(dataDir, 'data.new/member/snap/db'))],
  [
    'while the copy is tested',
    async (dataDir) => (await processesWithArguments([`--data-dir=${dataDir}/data.new`])).length > 0,
  ],
  ['after the earlier data were moved away', (dataDir) => existsSync(path.join(dataDir, 'data.earlier'))],
];
for (const [what, reached] of stages) {
  test(`the next start has all data after a kill ${what}`, limit, async () => {
    const dataDir = await copyOfEarlier();
    const master = spawnMaster(dataDir);
    const exited = once(master, 'exit');
    let over = false;
    master.stdout.once('data', () => {
      over = true;
    });
    try {
      while (!(await reached(dataDir))) {
        assert.ok(!over && master.exitCode === null, 'it was over before');
        await nextTurn();
      }
    } finally {
      master.kill('SIGKILL');
      await exited;
    }
    await assertTakenOver(dataDir);
    assert.deepEqual(await entries(dataDir), ['data', 'data.earlier']);
    assert.deepEqual(await processesWithArguments([`--data-dir=${dataDir}/data.new`]), []);
  });
}
