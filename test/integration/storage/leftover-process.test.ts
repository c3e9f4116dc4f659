/** Processes that an earlier run left behind, as they really are. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { endProcess, parentLikeUs, processesWithArguments } from '../../../src/storage/leftover-process.ts';

const started: ChildProcess[] = [];
after(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** A program that says when it runs, with arguments that it does not read. */
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
const isThere = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a process is known by all of its arguments, each as a whole', async () => {
  const [name, data] = [`--name=${randomUUID()}`, `--data=${randomUUID()}`];
  const both = pidOf(await run('', [name, data]));
  const one = pidOf(await run('', [name]));
  assert.deepEqual(await processesWithArguments([name, data]), [both]);
  assert.deepEqual((await processesWithArguments([name])).sort(), [both, one].sort());
  assert.deepEqual(await processesWithArguments([data.slice(0, -1)]), []);
  assert.ok(!(await processesWithArguments([process.execPath])).includes(process.pid), 'never this one');
});

test('a parent that runs what this process runs lives, and another one is no master', async () => {
  const here = pidOf(await run(''));
  assert.equal(await parentLikeUs(here), process.pid);
  const directory = await mkdtemp(join(tmpdir(), 'leftover-'));
  try {
    const other = join(directory, 'another (program)');
    await copyFile(process.execPath, other);
    const code = `const child = require('node:child_process').spawn(${JSON.stringify(process.execPath)}, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' }); console.error = () => {}; console.log(child.pid); process.stdin.resume().on('end', () => { child.kill('SIGKILL'); process.exit(); })`;
    const parent = spawn(other, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] });
    started.push(parent);
    const [line] = await once(parent.stdout, 'data');
    const child = Number(String(line).trim());
    assert.equal(await parentLikeUs(child), undefined);
    assert.equal(await parentLikeUs(pidOf(parent)), process.pid, 'whatever its name holds');
    parent.stdin.end();
    await once(parent, 'exit');
    assert.equal(await parentLikeUs(pidOf(parent)), undefined, 'nor one that is gone');
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a process is asked to end, and may take its time', async () => {
  const child = await run("process.on('SIGTERM', () => setTimeout(() => process.exit(7), 50))");
  const exited = once(child, 'exit');
  await endProcess(pidOf(child), 60_000, systemClock);
  assert.deepEqual(await exited, [7, null]);
});

test('a process that does not end is killed, and gone when that is told', async () => {
  const child = await run("process.on('SIGTERM', () => {})");
  const exited = once(child, 'exit');
  await endProcess(pidOf(child), 200, systemClock);
  assert.equal(isThere(pidOf(child)) && child.exitCode === null && child.signalCode === null, false);
  assert.deepEqual(await exited, [null, 'SIGKILL']);
});

test('a process that is gone already has ended', async () => {
  const child = await run('');
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  await endProcess(pidOf(child), 60_000, systemClock);
});

test('one that has ended and is not waited for has ended', async () => {
  // What starts it never asks how it ended.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; kill -STOP $$'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(parent);
  const [line] = await once(parent.stdout, 'data');
  await endProcess(Number(String(line).trim()), 60_000, systemClock);
});
