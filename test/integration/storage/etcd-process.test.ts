/** One run of a program in place of etcd: its arguments, its end, and its leftovers. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { lastOutput, runEtcd, socketAddress, untilServing } from '../../../src/storage/etcd-process.ts';
import type { EtcdBehaviour } from '../../fixtures/etcd-program.ts';
import { until } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { isRunning, ProgramWorld } from './program-world.ts';

const limit = { timeout: 300_000 };
const version = '3.7.0';

interface Given {
  readonly behaviour?: EtcdBehaviour;
  readonly clock?: Clock;
  readonly quotaBytes?: number;
}

/** Begins a run; `pid` is set when the process has started. */
function begin(
  world: ProgramWorld,
  { behaviour = { version }, clock = systemClock, quotaBytes }: Given = {},
) {
  mkdirSync(world.dataDir, { recursive: true });
  const binary = world.program('etcd', behaviour);
  const { dataDir } = world;
  const abort = new AbortController();
  const started = Promise.withResolvers<number>();
  const ended = runEtcd(
    { binary, dataDir, data: join(dataDir, 'data'), stopMs: 5000, clock, ...(quotaBytes && { quotaBytes }) },
    abort.signal,
    started.resolve,
  );
  return { abort, ended, pid: started.promise };
}

const serving = (world: ProgramWorld, signal = new AbortController().signal) =>
  untilServing({
    socketPath: socketAddress(world.dataDir, 0),
    clock: systemClock,
    limitMs: 30_000,
    signal,
  });

const accepts = (socketPath: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(socketPath, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

test('etcd serves on a socket in its directory, and ends on request', limit, async () => {
  await using world = new ProgramWorld();
  const { abort, ended, pid } = begin(world);
  assert.deepEqual(await serving(world), { revision: '1', keys: '0' });
  abort.abort();
  assert.equal(await ended, 'exit status 0');
  assert.equal(isRunning(await pid), false);
});

test('etcd starts although a killed etcd left its sockets', limit, async () => {
  await using world = new ProgramWorld();
  mkdirSync(world.dataDir);
  for (const name of ['client:0', 'peer:0']) writeFileSync(join(world.dataDir, name), '');
  const { abort, ended } = begin(world);
  await serving(world);
  assert.deepEqual(readdirSync(world.dataDir).sort(), ['client:0', 'data', 'etcd.log']);
  abort.abort();
  await ended;
});

test(
  'the process gets its data folder, listens on sockets alone, and inherits no environment',
  limit,
  async () => {
    await using world = new ProgramWorld();
    const clock = new FakeClock(1234);
    for (const [quotaBytes, quota] of [
      [undefined, '2147483648'],
      [1000, '1000'],
    ] as const) {
      const { abort, ended } = begin(world, { clock, ...(quotaBytes && { quotaBytes }) });
      await serving(world);
      const run = world.runs('etcd').findLast((each) => 'args' in each) ?? assert.fail();
      assert.ok('args' in run);
      assert.equal(run.cwd, world.dataDir);
      assert.deepEqual(run.env, { GOGC: '50', ETCD_SNAPSHOT_CATCHUP_ENTRIES: '100' });
      const given = Object.fromEntries(
        run.args.map((each) => {
          const [, name = '', value = ''] = /^--([^=]+)=(.*)$/.exec(each) ?? [];
          return [name, value];
        }),
      );
      assert.deepEqual(given, {
        name: 'minik8s',
        'data-dir': join(world.dataDir, 'data'),
        'listen-client-urls': 'unix://client:0',
        'advertise-client-urls': 'unix://client:0',
        'listen-peer-urls': 'unix://peer:0',
        'initial-advertise-peer-urls': 'unix://peer:0',
        'initial-cluster': 'minik8s=unix://peer:0',
        'initial-cluster-token': '1234',
        'quota-backend-bytes': quota,
        'backend-batch-limit': '1000',
        'max-request-bytes': String(4 << 20),
        'grpc-keepalive-min-time': '1s',
        'heartbeat-interval': '20',
        'snapshot-count': '500',
        'election-timeout': '200',
        logger: 'zap',
        'log-level': 'warn',
      });
      abort.abort();
      await ended;
    }
  },
);

test('etcd has a process group of its own, so Ctrl-C does not end it', limit, async () => {
  await using world = new ProgramWorld();
  const { abort, ended, pid } = begin(world);
  const stat = readFileSync(`/proc/${await pid}/stat`, 'utf8');
  assert.equal(Number(stat.slice(stat.lastIndexOf(')')).split(' ')[3]), await pid);
  abort.abort();
  await ended;
});

test('etcd ends when the process that started it is killed', limit, async () => {
  await using world = new ProgramWorld();
  mkdirSync(world.dataDir);
  const source = join(import.meta.dirname, '../../../src');
  const script = `
    import { runEtcd } from '${source}/storage/etcd-process.ts';
    import { systemClock as clock } from '${source}/base/clock.ts';
    const [binary, dataDir] = process.argv.slice(1);
    const data = dataDir + '/data';
    runEtcd({ binary, dataDir, data, stopMs: 5000, clock }, new AbortController().signal, () => {});`;
  const master = spawn(
    process.execPath,
    ['--input-type=module', '--eval', script, world.program('etcd'), world.dataDir],
    { stdio: 'inherit' },
  );
  try {
    await serving(world);
  } finally {
    master.kill('SIGKILL');
    await once(master, 'exit');
  }
  const { pid } = world.runs('etcd')[0] ?? assert.fail();
  await until(() => !isRunning(pid));
  assert.deepEqual(world.runs('etcd').at(-1), { pid, heard: 'SIGTERM' });
});

test('an etcd that does not end is killed at the timeout', limit, async () => {
  await using world = new ProgramWorld();
  const clock = new FakeClock();
  const { abort, ended, pid } = begin(world, { clock, behaviour: { version, deaf: true } });
  await serving(world);
  assert.equal(clock.pending, 0);
  abort.abort();
  await until(() => world.runs('etcd').some((run) => 'heard' in run));
  await clock.advance(4999);
  assert.equal(isRunning(await pid), true);
  await clock.advance(1);
  assert.equal(await ended, 'killed by SIGKILL');
  assert.equal(clock.pending, 0);
});

test('a run leaves no timers and no open files', limit, async () => {
  await using world = new ProgramWorld();
  const clock = new FakeClock();
  const asked = begin(world, { clock });
  await serving(world);
  asked.abort.abort();
  await asked.ended;
  assert.equal(clock.pending, 0, 'no kill is pending');
  const dying = begin(world, { clock, behaviour: { version, lastWords: { output: '', status: 3 } } });
  assert.equal(await dying.ended, 'exit status 3');
  dying.abort.abort();
  assert.equal(clock.pending, 0);
  const open = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  assert.deepEqual(
    open.filter((file) => file.startsWith(world.directory)),
    [],
  );
});

test('a failed start is reported, and leaves no process', limit, async () => {
  await using world = new ProgramWorld();
  mkdirSync(world.dataDir);
  const source = join(import.meta.dirname, '../../../src');
  const script = `
    import { runEtcd } from '${source}/storage/etcd-process.ts';
    import { systemClock as clock } from '${source}/base/clock.ts';
    const [binary, dataDir] = process.argv.slice(1);
    const given = { binary, dataDir, data: dataDir + '/data', stopMs: 5000, clock };
    console.log(await runEtcd(given, new AbortController().signal, () => console.log('started')));`;
  // A machine on which setpriv, which starts the process, is not executable.
  const without = 'mount --bind /dev/null "$(command -v setpriv)" && exec "$@"';
  const node = [
    process.execPath,
    '--input-type=module',
    '--eval',
    script,
    world.program('etcd'),
    world.dataDir,
  ];
  const said = execFileSync('unshare', ['--mount', 'sh', '-c', without, 'sh', ...node], { encoding: 'utf8' });
  assert.equal(said, 'cannot be started: spawn setpriv EACCES\n');
  assert.deepEqual(world.runs('etcd'), []);
});

test('a start that is aborted ends etcd', limit, async () => {
  await using world = new ProgramWorld();
  mkdirSync(world.dataDir);
  const ended = await runEtcd(
    {
      binary: world.program('etcd'),
      dataDir: world.dataDir,
      data: join(world.dataDir, 'data'),
      stopMs: 30_000,
      clock: systemClock,
    },
    AbortSignal.abort(),
    () => undefined,
  );
  assert.match(ended, /^(exit status 0|killed by SIGTERM)$/);
});

test(
  'the output of etcd is kept until the next run, only its user can read it, and a full disk does not stop etcd',
  limit,
  async () => {
    await using world = new ProgramWorld();
    const output = '{"level":"fatal","msg":"the end","error":"of one"}\n';
    assert.match((await lastOutput(world.dataDir)).line, /ENOENT/);
    await begin(world, { behaviour: { version, lastWords: { output, status: 1 } } }).ended;
    assert.deepEqual(await lastOutput(world.dataDir), { line: 'the end: of one' });
    const log = join(world.dataDir, 'etcd.log');
    assert.equal(statSync(log).mode & 0o777, 0o600);
    assert.equal(statSync(log).size, 16_384);
    assert.ok(readFileSync(log, 'utf8').startsWith(output));
    await begin(world, { behaviour: { version, lastWords: { output: 'short\n', status: 1 } } }).ended;
    assert.deepEqual(await lastOutput(world.dataDir), { line: 'short' });
  },
);

test('a socket whose path is too long is reached through the open directory', () => {
  const ofLength = (length: number) => `/${'d'.repeat(length - '//client:0'.length)}`;
  assert.equal(socketAddress(ofLength(107), 7), `${ofLength(107)}/client:0`);
  assert.equal(socketAddress(ofLength(108), 7), '/proc/self/fd/7/client:0');
});

test(
  'the wait for etcd to serve repeats its call until the timeout, and rejects with the last answer',
  limit,
  async () => {
    await using world = new ProgramWorld();
    const { abort, ended } = begin(world, { behaviour: { version, leaderless: true } });
    const clock = new FakeClock();
    const began = clock.now();
    const { signal } = new AbortController();
    const socketPath = socketAddress(world.dataDir, 0);
    // The socket exists a moment before the process listens on it.
    await until(() => accepts(socketPath));
    let [told, toldAt] = ['', 0];
    untilServing({ socketPath, clock, limitMs: 50, signal }).catch((error: Error) => {
      [told, toldAt] = [error.message, clock.now()];
    });
    for (let waits = 0; told === ''; waits++) {
      await until(() => told !== '' || clock.pending > 0);
      if (told === '') assert.equal(clock.nextIn, 20);
      await clock.advance(20);
      assert.ok(waits < 10);
    }
    assert.equal(told, 'etcd did not begin to serve: {"error":"etcdserver: no leader"}');
    assert.equal(toldAt - began, 60, 'called at 0, 20, 40 and 60 ms');
    abort.abort();
    await ended;
  },
);

test('the wait for etcd to serve ends at the timeout even if a call gets no answer', limit, async () => {
  await using world = new ProgramWorld();
  mkdirSync(world.dataDir);
  const socketPath = socketAddress(world.dataDir, 0);
  const silent = createServer(() => undefined).listen(socketPath);
  await once(silent, 'listening');
  try {
    const { signal } = new AbortController();
    await assert.rejects(untilServing({ socketPath, clock: new FakeClock(), limitMs: 0, signal }), {
      message: 'etcd did not begin to serve: no answer',
    });
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});

test('the wait for etcd to serve rejects with the reason of its signal', limit, async () => {
  await using world = new ProgramWorld();
  mkdirSync(world.dataDir);
  const reason = new Error('not wanted any more');
  await assert.rejects(serving(world, AbortSignal.abort(reason)), reason);
  // A server that accepts connections and sends nothing.
  const abort = new AbortController();
  const silent = createServer(() => abort.abort(reason)).listen(socketAddress(world.dataDir, 0));
  await once(silent, 'listening');
  try {
    await assert.rejects(serving(world, abort.signal), reason);
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});
