/** Processes that an earlier run left behind, with real processes. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, link, mkdtemp, readlink, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import {
  endProcess,
  hasSameDirectory,
  parentLikeUs,
  processesWithArguments,
} from '../../../src/storage/leftover-process.ts';
import { until } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { isRunning } from './program-world.ts';

/** User id of nobody; the tests run as root. */
const nobody = 65_534;

const started: ChildProcess[] = [];
after(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** Starts a program that prints when it runs; it ignores its arguments. */
async function run(
  program: string,
  args: readonly string[] = [],
  file = process.execPath,
): Promise<ChildProcess> {
  const code = `${program}; setInterval(() => {}, 1000); console.log(process.pid)`;
  const child = spawn(file, ['-e', code, '--', ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  await once(child.stdout ?? assert.fail(), 'data');
  return child;
}
const pidOf = (child: ChildProcess) => child.pid ?? assert.fail();

test('a process is identified by all of its arguments, each as a whole', async () => {
  const [name, data] = [`--name=${randomUUID()}`, `--data=${randomUUID()}`];
  const both = pidOf(await run('', [name, data]));
  const one = pidOf(await run('', [name]));
  assert.deepEqual(await processesWithArguments([name, data]), [both]);
  assert.deepEqual((await processesWithArguments([name])).sort(), [both, one].sort());
  assert.deepEqual(await processesWithArguments([data.slice(0, -1)]), []);
  assert.ok(!(await processesWithArguments([process.execPath])).includes(process.pid), 'never this one');
});

test('a process of another mount namespace has a separate directory at the same path', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-same-'));
  const name = `--name=${randomUUID()}`;
  const script = `mount -t tmpfs tmpfs ${directory}; echo; read line`;
  const theirs = spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', name], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.push(theirs);
  await once(theirs.stdout, 'data');
  const ours = pidOf(await run('', [name]));
  assert.deepEqual((await processesWithArguments([name])).sort(), [ours, pidOf(theirs)].sort());
  assert.equal(await hasSameDirectory(ours, directory), true);
  assert.equal(await hasSameDirectory(pidOf(theirs), directory), false);
  await rm(directory, { recursive: true });
});

test('a process of another user is never found, whatever its arguments are', async () => {
  const name = `--name=${randomUUID()}`;
  const theirs = spawn('sh', ['-c', 'echo; read line', 'sh', name], {
    uid: nobody,
    gid: nobody,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.push(theirs);
  await once(theirs.stdout, 'data');
  const ours = pidOf(await run('', [name]));
  assert.deepEqual(await processesWithArguments([name]), [ours]);
});

/** Starts a process below `file`, which is Node; both end with the standard input of the parent. */
async function runBelow(file: string) {
  const code = `
    const child = require('node:child_process').spawn(${JSON.stringify(process.execPath)}, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    console.log(child.pid);
    process.stdin.resume().on('end', () => {
      child.kill('SIGKILL');
      process.exit();
    });`;
  const parent = spawn(file, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(parent);
  const [line] = await once(parent.stdout, 'data');
  const end = async () => {
    parent.stdin.end();
    await once(parent, 'exit');
  };
  return { parent: pidOf(parent), child: Number(String(line).trim()), end };
}

test('a parent that runs the program of this process counts as a master, and any other parent does not', async () => {
  const here = pidOf(await run(''));
  assert.equal(await parentLikeUs(here), process.pid);
  const directory = await mkdtemp(join(tmpdir(), 'leftover-'));
  try {
    const other = join(directory, 'another (program)');
    await copyFile(process.execPath, other);
    const { parent, child, end } = await runBelow(other);
    assert.equal(await parentLikeUs(child), undefined);
    assert.equal(await parentLikeUs(parent), process.pid, 'whatever its name holds');
    await end();
    assert.equal(await parentLikeUs(parent), undefined, 'a parent that has ended is no master');
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a parent counts as a master although an upgrade has replaced its program', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'leftover-'));
  try {
    const [program, upgrade] = [join(directory, 'program'), join(directory, 'upgrade')];
    await copyFile(process.execPath, upgrade);
    await link(upgrade, program);
    const { parent, child, end } = await runBelow(program);
    await rm(program);
    await rename(upgrade, program);
    assert.equal(await readlink(`/proc/${parent}/exe`), `${program} (deleted)`);
    const source = join(import.meta.dirname, '../../../src/storage/leftover-process.ts');
    const code = `import { parentLikeUs } from '${source}'; console.log(await parentLikeUs(${child}));`;
    const said = execFileSync(program, ['--input-type=module', '--eval', code], { encoding: 'utf8' });
    assert.equal(Number(said), parent);
    await end();
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a process gets SIGTERM, and may take some time to end', async () => {
  const child = await run("process.on('SIGTERM', () => setTimeout(() => process.exit(7), 50))");
  const exited = once(child, 'exit');
  await endProcess(pidOf(child), 60_000, systemClock);
  assert.deepEqual(await exited, [7, null]);
});

test('a process that does not end is killed, and has ended when the call resolves', async () => {
  const child = await run("process.on('SIGTERM', () => {})");
  const exited = once(child, 'exit');
  await endProcess(pidOf(child), 200, systemClock);
  assert.equal(isRunning(pidOf(child)), false);
  assert.deepEqual(await exited, [null, 'SIGKILL']);
});

test('a process is checked every 10 ms, and killed at the timeout', async () => {
  const child = await run("process.on('SIGTERM', () => console.log('heard'))");
  const heard = once(child.stdout ?? assert.fail(), 'data');
  const exited = once(child, 'exit');
  const clock = new FakeClock();
  const ending = endProcess(pidOf(child), 20, clock);
  await heard;
  for (const _ of [1, 2]) {
    await until(() => clock.pending > 0);
    assert.equal(clock.nextIn, 10);
    assert.ok(isRunning(pidOf(child)));
    await clock.advance(10);
  }
  assert.deepEqual(await exited, [null, 'SIGKILL']);
  await until(() => clock.pending > 0);
  await clock.advance(10);
  await ending;
});

test('a process that this process has no right to end is not awaited', async () => {
  const child = await run('');
  const other = spawn('sleep', ['60'], { uid: nobody, gid: nobody, stdio: 'ignore' });
  started.push(other);
  await once(other, 'spawn');
  process.seteuid?.(nobody + 1);
  try {
    await assert.rejects(endProcess(pidOf(other), 60_000, systemClock), { code: 'EPERM' });
    assert.equal(await parentLikeUs(pidOf(child)), process.pid);
    // The program of this process's parent is not readable for others.
    assert.equal(await parentLikeUs(process.pid), undefined);
  } finally {
    process.seteuid?.(0);
  }
});

test('a process that cannot be inspected does not count as ended', async () => {
  const source = join(import.meta.dirname, '../../../src');
  const code = `
    import { closeSync, openSync } from 'node:fs';
    import { endProcess } from '${source}/storage/leftover-process.ts';
    import { systemClock } from '${source}/base/clock.ts';
    const held = [];
    try {
      for (;;) held.push(openSync('/dev/null'));
    } catch {
      endProcess(process.ppid, 60_000, systemClock).catch(({ code }) => {
        held.forEach((fd) => closeSync(fd));
        process.exit(code === 'EMFILE' ? 7 : 8);
      });
    }`;
  // The parent, which the code tries to end, is a shell that ignores SIGTERM.
  const script = 'trap "" TERM; ulimit -n 100; "$@"; exit $?';
  const shell = spawn('sh', ['-c', script, 'sh', process.execPath, '--input-type=module', '--eval', code], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  started.push(shell);
  assert.deepEqual(await once(shell, 'exit'), [7, null]);
});

test('a process that no longer exists has ended', async () => {
  const child = await run('');
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  await endProcess(pidOf(child), 60_000, systemClock);
});

test('a zombie process counts as ended', async () => {
  // The parent becomes a program that never waits for its child and prints the child's process ID on request.
  const parent = spawn('sh', ['-c', 'sleep 60 & exec sed -u "s/.*/$!/"'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.push(parent);
  parent.stdin.write('which?\n');
  const [line] = await once(parent.stdout, 'data');
  await endProcess(Number(String(line).trim()), 60_000, systemClock);
});
