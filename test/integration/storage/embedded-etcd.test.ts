/** Start, restart and end of a program in place of etcd, and the messages about its failures. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { type EmbeddedEtcd, startEmbeddedEtcd } from '../../../src/storage/embedded-etcd.ts';
import type { EtcdBehaviour, EtcdRun } from '../../fixtures/etcd-program.ts';
import { until } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { isRunning, ProgramWorld } from './program-world.ts';

const limit = { timeout: 300_000 };
const version = '3.7.0';
const dying = (output: string): EtcdBehaviour => ({ version, lastWords: { output, status: 2 } });
const fullDisk = '{"level":"fatal","msg":"cannot write","error":"no space left on device"}\n';

class World extends ProgramWorld {
  readonly log = new RecordingLogger();
  readonly abort = new AbortController();

  start(clock: Clock = systemClock): Promise<EmbeddedEtcd> {
    const binary = join(this.directory, 'etcd');
    if (!existsSync(binary)) this.program('etcd');
    const { dataDir, log } = this;
    const { signal } = this.abort;
    return startEmbeddedEtcd({ binary, earlierBinary: '/nowhere/etcd', dataDir, log, clock, signal });
  }

  /** Starts and ends it, so that it has served once. */
  async serveOnce(): Promise<void> {
    await (await this.start()).stop();
  }

  starts(): readonly (EtcdRun & { readonly args: readonly string[] })[] {
    return this.runs('etcd').filter((run) => 'args' in run && run.args[0]?.startsWith('--name')) as never;
  }

  openFiles(): readonly string[] {
    const files = readdirSync('/proc/self/fd').map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return '';
      }
    });
    return files.filter((file) => file.startsWith(this.directory));
  }
}

test(
  'the first start is complete once etcd has answered, and a stop leaves no process and no open file',
  limit,
  async () => {
    await using world = new World();
    mkdirSync(world.dataDir, { mode: 0o755 });
    chmodSync(world.dataDir, 0o755);
    const etcd = await world.start();
    assert.equal(statSync(world.dataDir).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(world.dataDir).sort(), ['client:0', 'data', 'etcd.log', 'format']);
    assert.deepEqual(etcd.endpoints, [`unix:${join(world.dataDir, 'client:0')}`]);
    assert.equal(etcd.keepaliveMs, 2000);
    assert.equal(etcd.trouble(), undefined);
    const pid = etcd.pid() ?? assert.fail();
    assert.ok(isRunning(pid));
    await etcd.stop();
    assert.equal(isRunning(pid), false);
    assert.equal(etcd.pid(), undefined);
    assert.deepEqual(world.openFiles(), []);
    assert.deepEqual(world.log.lines, []);
  },
);

test('later starts do not wait for an answer', limit, async () => {
  await using world = new World();
  await world.serveOnce();
  world.program('etcd', { version, leaderless: true });
  const etcd = await world.start();
  assert.ok(etcd.pid());
  await etcd.stop();
});

test('a failed first start is logged, and its data are created again', limit, async () => {
  await using world = new World();
  world.program('etcd', { version, leaderless: true });
  const clock = new FakeClock();
  const began = clock.now();
  let told: Error | undefined;
  world.start(clock).catch((error: Error) => {
    told = error;
  });
  while (!told) {
    await until(() => told || clock.pending > 0);
    // Advances only to the next question, and then at once to the last one.
    await clock.advance(clock.now() - began < 100 ? 20 : 29_000);
  }
  assert.match(told.message, /^etcd did not begin to serve: .*no leader"}; see .*\/etcd-dir\/etcd\.log$/);
  assert.ok(clock.now() - began >= 30_000);
  const [first] = world.starts();
  assert.equal(isRunning(first?.pid ?? assert.fail()), false);
  assert.deepEqual(world.openFiles(), []);
  writeFileSync(join(world.dataDir, 'data/of-the-first'), '');
  world.program('etcd');
  await world.serveOnce();
  assert.equal(existsSync(join(world.dataDir, 'data/of-the-first')), false);
  writeFileSync(join(world.dataDir, 'data/of-the-second'), '');
  await world.serveOnce();
  assert.equal(existsSync(join(world.dataDir, 'data/of-the-second')), true);
});

test('an abort ends a first start, which fails with the reason of the signal', limit, async () => {
  await using world = new World();
  world.program('etcd', { version, leaderless: true });
  const reason = new Error('not wanted any more');
  const refused = assert.rejects(world.start(), reason);
  await until(() => world.starts().length > 0);
  world.abort.abort(reason);
  await refused;
  assert.equal(isRunning(world.starts()[0]?.pid ?? assert.fail()), false);
});

test('an abort ends etcd as stop does', limit, async () => {
  await using world = new World();
  const etcd = await world.start();
  const pid = etcd.pid() ?? assert.fail();
  world.abort.abort();
  await until(() => !isRunning(pid));
  await etcd.stop();
  assert.equal(world.starts().length, 1);
});

test('an abort ends a later start, which fails with the reason of the signal', limit, async () => {
  await using world = new World();
  await world.serveOnce();
  const reason = new Error('not wanted any more');
  world.abort.abort(reason);
  await assert.rejects(world.start(), reason);
  assert.deepEqual(world.openFiles(), []);
  for (const { pid } of world.starts()) assert.equal(isRunning(pid), false);
});

test('an etcd that does not end is killed after 5 s', limit, async () => {
  await using world = new World();
  await world.serveOnce();
  world.program('etcd', { version, deaf: true });
  const clock = new FakeClock();
  const etcd = await world.start(clock);
  await until(() => existsSync(join(world.dataDir, 'client:0')));
  let stopped = false;
  const stopping = etcd.stop().then(() => {
    stopped = true;
  });
  await until(() => world.runs('etcd').some((run) => 'heard' in run && run.pid === etcd.pid()));
  await clock.advance(4999);
  assert.equal(stopped, false);
  await clock.advance(1);
  await stopping;
});

test(
  'etcd is restarted at growing intervals while it ends soon, and at once after a long run',
  limit,
  async () => {
    await using world = new World();
    await world.serveOnce();
    const clock = new FakeClock();
    const etcd = await world.start(clock);
    const delays: (number | undefined)[] = [];
    const kill = async () => {
      const pid = etcd.pid() ?? assert.fail();
      process.kill(pid, 'SIGKILL');
      await until(() => etcd.pid() === undefined && clock.nextIn !== undefined);
      delays.push(clock.nextIn);
      await clock.advance(clock.nextIn ?? 0);
      await until(() => etcd.pid() !== undefined);
      assert.notEqual(etcd.pid(), pid);
    };
    for (let n = 0; n < 9; n++) await kill();
    assert.deepEqual(delays, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    await clock.advance(10_000);
    await kill();
    assert.equal(delays.at(-1), 5000, 'a run of just ten seconds counts as short');
    await clock.advance(10_001);
    await kill();
    assert.equal(delays.at(-1), 50);
    const lines = world.log.of('error');
    assert.equal(lines.length, 11);
    assert.deepEqual(lines[1]?.fields, { outcome: 'killed by SIGKILL', delayMs: 100, lastLine: '' });
    await etcd.stop();
    assert.equal(clock.pending, 0);
  },
);

test('stop does not wait for the next start', limit, async () => {
  await using world = new World();
  await world.serveOnce();
  world.program('etcd', dying(''));
  const clock = new FakeClock();
  const etcd = await world.start(clock);
  await until(() => clock.pending > 0);
  await etcd.stop();
  assert.equal(clock.pending, 0);
  assert.equal(world.starts().length, 2);
});

test(
  'a fault that an administrator has to mend is logged once, and reported until etcd has run for ten seconds',
  limit,
  async () => {
    await using world = new World();
    await world.serveOnce();
    world.program('etcd', dying(fullDisk));
    const clock = new FakeClock();
    const etcd = await world.start(clock);
    const advice = new RegExp(`^the disk of ${world.dataDir}/data is full .*make room there`);
    for (let n = 0; n < 3; n++) {
      await until(() => clock.pending > 0);
      assert.match(etcd.trouble() ?? '', advice);
      if (n === 2) world.program('etcd');
      await clock.advance(clock.nextIn ?? 0);
    }
    const lines = world.log.of('error').map(({ message }) => message);
    assert.equal(lines.filter((line) => advice.test(line)).length, 1);
    assert.equal(lines.length, 4);
    // The process runs; whether it becomes ready is not known yet.
    await until(() => etcd.pid() !== undefined);
    await clock.advance(10_000);
    assert.match(etcd.trouble() ?? '', advice);
    await clock.advance(1);
    assert.equal(etcd.trouble(), undefined);
    // A second end, which needs no action of an administrator.
    process.kill(etcd.pid() ?? assert.fail(), 'SIGKILL');
    await until(() => etcd.pid() === undefined && clock.pending > 0);
    assert.equal(etcd.trouble(), undefined);
    assert.deepEqual(
      world.log
        .of('error')
        .map(({ message }) => message)
        .slice(4),
      ['etcd ended, starting it again'],
    );
    await etcd.stop();
  },
);

test('a program that cannot be run is reported before any data are created', limit, async () => {
  await using world = new World();
  writeFileSync(join(world.directory, 'etcd'), '', { mode: 0o600 });
  await assert.rejects(world.start(), /\/etcd cannot be run$/);
  assert.equal(existsSync(world.dataDir), false);
});

test('data that cannot be taken over make the start fail, and nothing stays open', limit, async () => {
  await using world = new World();
  mkdirSync(join(world.dataDir, 'data'), { recursive: true });
  writeFileSync(join(world.dataDir, 'data/what'), '');
  await assert.rejects(world.start(), /damaged/);
  assert.deepEqual(world.openFiles(), []);
  assert.deepEqual(world.starts(), []);
});

/** Starts a process like the program of this world, as an earlier run would have left it behind. */
async function leftover(world: World, by: string): Promise<number> {
  const data = join(world.dataDir, 'data');
  const code = `setInterval(() => {}, 1000)`;
  const args = ['-e', code, '--', `--data-dir=${data}`, '--listen-client-urls=unix://client:0'];
  const script = `require('node:child_process').spawn(process.execPath, ${JSON.stringify(args)}, { detached: true, stdio: 'ignore' }).unref()`;
  if (by === 'this') return spawn(process.execPath, args, { stdio: 'ignore' }).pid ?? assert.fail();
  const source = `const child = ${script.replace('.unref()', '')}; child.unref(); console.log(child.pid)`;
  const parent = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  if (parent.exitCode === null) await once(parent, 'exit');
  return Number(line.toString());
}

test('the etcd of a killed master is ended, that of a running master is not', limit, async () => {
  await using world = new World();
  const orphan = await leftover(world, 'another');
  await until(() => isRunning(orphan));
  await world.serveOnce();
  assert.equal(isRunning(orphan), false);
  assert.deepEqual(
    world.log.lines.map(({ level, fields }) => [level, fields]),
    [['warn', { pid: orphan }]],
  );
  const child = await leftover(world, 'this');
  try {
    const refused = new RegExp(`^process ${process.pid} runs its etcd on ${world.dataDir}: stop it first`);
    await assert.rejects(world.start(), { message: refused });
    assert.equal(isRunning(child), true);
  } finally {
    process.kill(child, 'SIGKILL');
  }
});

test('a path of minik8s that is not a file is named with the command that removes it', limit, async () => {
  for (const name of ['etcd.log', 'format']) {
    await using world = new World();
    await world.serveOnce();
    const path = join(world.dataDir, name);
    rmSync(path);
    mkdirSync(path);
    await assert.rejects(world.start(), {
      message: `${path} is not a file: remove it (rm -r '${path}'), and start minik8s again`,
    });
    rmSync(path, { recursive: true });
    symlinkSync(path, path);
    await assert.rejects(world.start(), /is not a file: remove it/);
    rmSync(path);
    await world.serveOnce();
  }
});
