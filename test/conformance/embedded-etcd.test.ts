/**
 * etcd as a child process: started on existing data, restarted, closed to other users, and never left behind.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, rm, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { type EmbeddedEtcd, startEmbeddedEtcd } from '../../src/storage/embedded-etcd.ts';
import { connectEtcd } from '../../src/storage/etcd.ts';
import { StoreUnavailableError } from '../../src/storage/store.ts';
import { makeDirectory } from '../e2e/harness/belongings.ts';
import { etcdBinary } from '../fixtures/etcd-binary.ts';
import { RecordingLogger } from '../fixtures/recording-logger.ts';
import { binaries, earlierBinary, startTestEtcd } from './etcd-server.ts';

const limit = { timeout: 180_000 };
const bytes = Buffer.from('x');

function start(dataDir: string, signal = new AbortController().signal): Promise<EmbeddedEtcd> {
  return startEmbeddedEtcd({ ...binaries, dataDir, log: silentLogger, clock: systemClock, signal });
}

const connect = ({ endpoints, keepaliveMs }: EmbeddedEtcd) =>
  connectEtcd({ endpoints, keepaliveMs, log: silentLogger, clock: systemClock, random: systemRandom });

async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => 'gone) Z');
  return !/\) Z/.test(status);
}

test(
  'other users cannot reach etcd: it opens no network port, and only its owner may read its directory',
  limit,
  async () => {
    const { etcd, directory, connect, stop } = await startTestEtcd();
    try {
      await (await connect()).close();
      const pid = etcd.pid();
      assert.ok(pid);
      assert.equal((await stat(path.join(directory, 'etcd'))).mode & 0o777, 0o700);
      const sockets = new Set<string>();
      for (const fd of await readdir(`/proc/${pid}/fd`)) {
        const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
        const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
        if (inode) sockets.add(inode);
      }
      assert.ok(sockets.size >= 2, 'etcd has no sockets');
      for (const table of ['tcp', 'tcp6', 'udp', 'udp6']) {
        const rows = (await readFile(`/proc/${pid}/net/${table}`, 'utf8')).trim().split('\n').slice(1);
        for (const row of rows) assert.ok(!sockets.has(row.trim().split(/\s+/)[9] ?? ''), `${table}: ${row}`);
      }
    } finally {
      await stop();
    }
  },
);

test('a killed etcd is started again, keeps its data, and does not run after stop', limit, async () => {
  const { etcd, connect, stop } = await startTestEtcd();
  const store = await connect();
  let last: number | undefined;
  try {
    const revision = await store.create('/t/a', bytes);
    const first = etcd.pid();
    assert.ok(first);
    process.kill(first, 'SIGKILL');
    assert.equal((await store.get('/t/a'))?.revision, revision);
    last = etcd.pid();
    assert.ok(last && last !== first);
  } finally {
    await store.close();
    await stop();
  }
  assert.equal(await isRunning(last), false);
  assert.equal(etcd.pid(), undefined);
});

/**
 * Starts a process that runs etcd and has written to it. Resolves with the process and the id of its etcd.
 */
async function startMaster(dataDir: string, more = '') {
  const source = path.join(import.meta.dirname, '../../src');
  const script = `
    import { Worker } from 'node:worker_threads';
    import { startEmbeddedEtcd } from '${source}/storage/embedded-etcd.ts';
    import { connectEtcd } from '${source}/storage/etcd.ts';
    import { systemClock as clock } from '${source}/base/clock.ts';
    import { silentLogger as log } from '${source}/base/log.ts';
    import { systemRandom as random } from '${source}/base/random.ts';
    const signal = new AbortController().signal;
    const [binary, dataDir] = process.argv.slice(1);
    const etcd = await startEmbeddedEtcd({ binary, earlierBinary: binary, dataDir, log, clock, signal });
    const store = await connectEtcd({ endpoints: etcd.endpoints, log, clock, random });
    await store.create('/t/a', Buffer.from('from the first'));
    ${more}
    console.log(etcd.pid());`;
  const args = ['--input-type=module', '--eval', script, etcdBinary, dataDir];
  const master = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(master, 'exit').then(([code]) => assert.fail(`the master ended with ${code}`));
  const [line] = (await Promise.race([once(master.stdout, 'data'), ended])) as [Buffer];
  ended.catch(() => undefined);
  return { master, etcd: Number(line.toString()) };
}

test('etcd ends when its master is killed, and not when a thread of the master ends', limit, async () => {
  const dataDir = makeDirectory('minik8s-store-');
  // Workers are threads, as are the file operations of Node.
  const thread = `
    const worker = new Worker('await 0', { eval: true });
    await new Promise((resolve) => worker.once('exit', resolve));
    await import('node:fs/promises').then(({ readdir }) => readdir('/'));
    await store.create('/t/b', Buffer.from('after the thread'));`;
  const { master, etcd } = await startMaster(dataDir, thread);
  try {
    assert.equal(await isRunning(etcd), true);
  } finally {
    master.kill('SIGKILL');
    await once(master, 'exit');
  }
  const deadline = AbortSignal.timeout(120_000);
  try {
    while (await isRunning(etcd)) {
      deadline.throwIfAborted();
      await nextTurn();
    }
  } finally {
    if (await isRunning(etcd)) process.kill(etcd, 'SIGKILL');
    await rm(dataDir, { recursive: true });
  }
});

test('a start ends an etcd that outlived its master, and serves its data', limit, async () => {
  const dataDir = makeDirectory('minik8s-store-');
  const { master, etcd: orphan } = await startMaster(dataDir);
  // A frozen process gets no signal when its parent ends.
  process.kill(orphan, 'SIGSTOP');
  master.kill('SIGKILL');
  await once(master, 'exit');
  assert.equal(await isRunning(orphan), true, 'etcd ended with its master: nothing to test');
  const etcd = await start(dataDir);
  const store = await connect(etcd);
  try {
    assert.equal(await isRunning(orphan), false);
    assert.equal((await store.get('/t/a'))?.value.toString(), 'from the first');
  } finally {
    await store.close();
    await etcd.stop();
    await rm(dataDir, { recursive: true });
  }
});

test('etcd starts in a data directory whose path is longer than a socket address', limit, async () => {
  const { connect, stop } = await startTestEtcd(path.join('a'.repeat(100), 'b'.repeat(100)));
  try {
    const store = await connect();
    await store.create('/t/a', bytes);
    await store.close();
  } finally {
    await stop();
  }
});

test('an aborted signal ends etcd', limit, async () => {
  const dataDir = makeDirectory('minik8s-store-');
  const abort = new AbortController();
  const etcd = await startEmbeddedEtcd({
    ...binaries,
    dataDir,
    log: silentLogger,
    clock: systemClock,
    signal: abort.signal,
  });
  const pid = etcd.pid();
  assert.ok(pid);
  abort.abort();
  await etcd.stop();
  assert.equal(await isRunning(pid), false);
  await rm(dataDir, { recursive: true });
});

test('a binary that cannot run is reported, and stop does not hang', limit, async () => {
  const dataDir = makeDirectory('minik8s-store-');
  const binary = path.join(dataDir, 'no-such-etcd');
  const signal = new AbortController().signal;
  const start = startEmbeddedEtcd({
    ...{ binary, earlierBinary, dataDir, log: silentLogger, clock: systemClock, signal },
  });
  await assert.rejects(start, /no-such-etcd/);
  await rm(dataDir, { recursive: true });
});

test(
  'a start on the data directory of a running master fails and leaves the directory unchanged',
  limit,
  async () => {
    const { etcd, directory, connect, stop } = await startTestEtcd();
    try {
      const store = await connect();
      const pid = etcd.pid();
      await assert.rejects(
        start(path.join(directory, 'etcd')),
        new RegExp(`process ${process.pid} runs its etcd on`),
      );
      await store.create('/t/a', bytes);
      assert.equal(etcd.pid(), pid);
      await store.close();
    } finally {
      await stop();
    }
  },
);

test('etcd starts again after a kill during its first start, and keeps its data later', limit, async () => {
  for (let round = 0; round < 5; round++) {
    const dataDir = makeDirectory('minik8s-store-');
    const abort = new AbortController();
    const starting = start(dataDir, abort.signal);
    // The log exists, but the member is not in it yet.
    while (!existsSync(path.join(dataDir, 'data/member/wal'))) await nextTurn();
    abort.abort();
    await starting.then(
      (etcd) => etcd.stop(),
      (error) => assert.equal(error, abort.signal.reason),
    );
    for (const written of [false, true]) {
      const etcd = await start(dataDir);
      try {
        const store = await connect(etcd);
        if (written) assert.ok(await store.get('/t/a'));
        else await store.create('/t/a', bytes);
        await store.close();
      } finally {
        await etcd.stop();
      }
    }
    await rm(dataDir, { recursive: true });
  }
});

test('a start on damaged data is rejected at once with the remedy', limit, async () => {
  const dataDir = makeDirectory('minik8s-store-');
  const log = new RecordingLogger();
  const begin = () =>
    startEmbeddedEtcd({
      ...binaries,
      dataDir,
      log,
      clock: systemClock,
      signal: new AbortController().signal,
    });
  const first = await begin();
  const store = await connect(first);
  for (let n = 0; n < 50; n++) await store.create(`/t/${n}`, Buffer.alloc(10_000, 'x'));
  await store.close();
  await first.stop();
  await truncate(path.join(dataDir, 'data/member/snap/db'), 20_000);
  const etcd = await begin();
  try {
    const { endpoints, trouble } = etcd;
    const connecting = connectEtcd({
      ...{ endpoints, trouble, log: silentLogger, clock: systemClock, random: systemRandom },
      // The timeout is longer than this test may take, so that it does not end the wait.
      settleMs: 600_000,
    });
    await assert.rejects(connecting, (error) => {
      assert.ok(error instanceof StoreUnavailableError);
      assert.match(
        error.trouble ?? '',
        /^the data of etcd in .*\/data are damaged \(.+\): .*restore a backup/,
      );
      assert.ok(error.trouble?.includes(dataDir));
      return true;
    });
    const told = log.lines.filter(({ message }) => message.includes('are damaged'));
    assert.equal(told.length, 1, 'said once, however often etcd ends');
  } finally {
    await etcd.stop();
    await rm(dataDir, { recursive: true });
  }
});
