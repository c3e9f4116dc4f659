import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { ExecError } from '../../../src/os/exec.ts';
import { nextToStart, residentShell, type Turn, turnOf } from '../../../src/os/resident-shell.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const exec = residentShell({ clock: systemClock });
/** Returns the process id of the resident shell, which is the parent of its commands. */
const shellPid = async () => Number((await exec('sh', ['-c', 'echo $PPID'])).stdout);

test('input and output pass unchanged, and no shell reads arguments or input', async () => {
  assert.deepEqual(await exec('cat', [], { input: 'héllo $HOME `id`\n\\n' }), {
    stdout: 'héllo $HOME `id`\n\\n\n',
    stderr: '',
  });
  assert.equal(
    (await exec('printf', ['%s|', '$HOME; ls', "it's", '', 'a\nb'])).stdout,
    "$HOME; ls|it's||a\nb|",
  );
  assert.deepEqual(await exec('sh', ['-c', 'echo out; printf err >&2']), { stdout: 'out\n', stderr: 'err' });
  assert.equal((await exec('cat', [])).stdout, '');
  const long = 'x'.repeat(1 << 20);
  assert.equal((await exec('cat', [], { input: long })).stdout, long);
});

test('one shell runs concurrent requests one after the other', async () => {
  const asked = ['first', 'second', 'third'].map((word) => exec('sh', ['-c', `echo ${word} $PPID`]));
  const said = (await Promise.all(asked)).map(({ stdout }) => stdout.trim().split(' '));
  assert.deepEqual(
    said.map(([word]) => word),
    ['first', 'second', 'third'],
  );
  assert.equal(new Set(said.map(([, pid]) => pid)).size, 1);
});

test('a failure has the command, its status and its first line; the next command runs', async () => {
  const failing = exec('sh', ['-c', 'echo out; echo no such table >&2; echo more >&2; exit 3']);
  await assert.rejects(failing, (error) => {
    assert.ok(error instanceof ExecError);
    assert.match(error.message, /^sh -c .*: exit status 3: no such table$/);
    assert.deepEqual([error.failure.code, error.failure.stdout], [3, 'out\n']);
    return true;
  });
  await assert.rejects(exec('no-such-program', []), /no-such-program: not found; install it/);
  assert.equal((await exec('echo', ['on'])).stdout, 'on\n');
});

test('aborting and the time limit kill the program; another shell runs the next', async () => {
  const first = await shellPid();
  const controller = new AbortController();
  const running = exec('sleep', ['60'], { signal: controller.signal });
  const next = exec('echo', ['next']);
  setImmediate(() => controller.abort(new Error('enough')));
  await assert.rejects(running, /^Error: enough$/);
  assert.equal((await next).stdout, 'next\n');
  await assert.rejects(exec('true', [], { signal: controller.signal }), /^Error: enough$/);
  await assert.rejects(
    exec('sleep', ['60'], { timeoutMs: 20 }),
    /sleep 60: did not end within 0.02 s and was killed$/,
  );
  assert.notEqual(await shellPid(), first);
});

/** Creates a pipe that shows when a program has begun, and a program that writes to it and then hangs. */
async function hanging(context: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-shell-'));
  context.after(() => rm(directory, { recursive: true }));
  const pipe = join(directory, 'begun');
  execFileSync('mkfifo', [pipe]);
  return {
    command: ['sh', ['-c', `echo $$ >${pipe}; sleep 600; true`]] as const,
    /** Returns the process id of the program. */
    begun: async () => Number(await readFile(pipe, 'utf8')),
  };
}

/** Returns when the process does not exist; fails after half a minute. */
const gone = (pid: number) =>
  execFileSync('timeout', ['30', 'tail', '-s0.05', `--pid=${pid}`, '-f', '/dev/null']);

test('if a program hangs, other programs run, calls of the same program wait, and it is killed at its timeout', async (context) => {
  const clock = new FakeClock();
  const run = residentShell({ clock });
  const { command, begun } = await hanging(context);
  const ended: string[] = [];
  const hung = run(...command);
  hung.catch(() => ended.push('hung'));
  const pid = await begun();
  const alike = run('sh', ['-c', 'echo alike']).then(({ stdout }) => ended.push(stdout.trim()));
  const other = run('echo', ['other']).then(({ stdout }) => ended.push(stdout.trim()));
  await clock.advance(999);
  assert.deepEqual(ended, []);
  await clock.advance(1);
  await other;
  assert.deepEqual(ended, ['other']);
  assert.equal((await run('echo', ['more'])).stdout, 'more\n');
  await clock.advance(28_999);
  assert.deepEqual(ended, ['other']);
  process.kill(pid, 0);
  await clock.advance(1);
  await assert.rejects(hung, /^ExecError: sh -c .*: did not end within 30 s and was killed$/s);
  await alike;
  assert.deepEqual(ended, ['other', 'hung', 'alike']);
  gone(pid);
  assert.equal(clock.pending, 0);
});

test('a timeout applies to programs outside the shell, and to programs that they started', async (context) => {
  const clock = new FakeClock();
  const { command, begun } = await hanging(context);
  const hung = residentShell({ clock, limitMs: 5_000 })(...command, { cwd: '/' });
  hung.catch(() => undefined);
  const pid = await begun();
  await clock.advance(5_000);
  await assert.rejects(hung, /did not end within 5 s and was killed$/);
  gone(pid);
});

test('a lengthy program has no limit, others do not wait for it, and a signal kills it', async (context) => {
  const clock = new FakeClock();
  const run = residentShell({ clock });
  const { command, begun } = await hanging(context);
  const controller = new AbortController();
  const hung = run(...command, { lengthy: true, signal: controller.signal });
  hung.catch(() => undefined);
  const pid = await begun();
  assert.equal((await run('echo', ['at once'])).stdout, 'at once\n');
  assert.equal((await run('sh', ['-c', 'echo its like'])).stdout, 'its like\n');
  await clock.advance(3_600_000);
  process.kill(pid, 0);
  controller.abort(new Error('enough'));
  await assert.rejects(hung, /^Error: enough$/);
  gone(pid);
  assert.equal(clock.pending, 0);
});

test('a waiting command that is aborted is never run', async (context) => {
  const run = residentShell({ clock: new FakeClock() });
  const { command, begun } = await hanging(context);
  const [first, second] = [new AbortController(), new AbortController()];
  const hung = run(...command, { signal: first.signal });
  hung.catch(() => undefined);
  await begun();
  const waits = run('echo', [], { signal: second.signal });
  second.abort(new Error('no more'));
  await assert.rejects(waits, /^Error: no more$/);
  first.abort(new Error('enough'));
  await assert.rejects(hung, /^Error: enough$/);
});

test('a command starts beside at most seven slow commands of other turns, and beside no other command', () => {
  const [nft, ip, pod, otherPod] = [
    turnOf('nft', ['-f', '-']),
    turnOf('ip', ['-batch', '-']),
    turnOf('nsenter', ['--net=/proc/1/ns/net', 'ip']),
    turnOf('nsenter', ['--net=/proc/2/ns/net', 'ip']),
  ];
  const [tree, otherTree] = [turnOf('rm', ['-rf', '/a']), turnOf('rm', ['-rf', '/b'])];
  const turns = (list: readonly string[], slow: boolean): Turn[] => list.map((turn) => ({ turn, slow }));
  const next = (waiting: readonly string[], running: readonly Turn[]) =>
    nextToStart(turns(waiting, false), new Set(running))?.turn;
  assert.equal(next([], []), undefined);
  assert.equal(next([nft, ip], []), nft);
  assert.equal(next([nft, ip], turns([pod], false)), undefined);
  assert.equal(next([nft, ip], turns([nft], true)), ip);
  assert.equal(next([nft], turns([nft], true)), undefined);
  assert.equal(next([otherPod], turns([pod], true)), otherPod);
  assert.equal(next([pod], turns([pod], true)), undefined);
  assert.equal(next([otherTree], turns([tree], true)), otherTree);
  assert.equal(next([tree], turns([tree], true)), undefined);
  assert.equal(next([ip], [...turns([nft], true), ...turns([pod], false)]), undefined);
  assert.equal(
    next(
      [ip],
      turns(
        Array.from({ length: 8 }, (_, n) => `${n}`),
        true,
      ),
    ),
    undefined,
  );
});

test('when a shell is killed, the program that it ran fails and the shell is replaced', async () => {
  await assert.rejects(exec('sh', ['-c', 'kill -9 $PPID; sleep 60']), /killed by SIGKILL/);
  assert.equal((await exec('echo', ['on'])).stdout, 'on\n');
});

test('a command with its own directory or environment runs with them', async () => {
  assert.equal((await exec('pwd', [], { cwd: '/' })).stdout, '/\n');
  assert.equal((await exec('/bin/sh', ['-c', 'echo $WORD'], { env: { WORD: 'own' } })).stdout, 'own\n');
  assert.equal((await exec('cat', [], { input: Buffer.from('bytes') })).stdout, 'bytes');
});

test('a process ends although its shell waits for a command, and the shell ends with it', () => {
  const program = `
    import { residentShell } from ${JSON.stringify(import.meta.resolve('../../../src/os/resident-shell.ts'))};
    import { systemClock } from ${JSON.stringify(import.meta.resolve('../../../src/base/clock.ts'))};
    const { stdout } = await residentShell({ clock: systemClock })('sh', ['-c', 'echo $PPID']);
    process.stdout.write(stdout);`;
  const args = ['--input-type=module', '--eval', program];
  const pid = Number(execFileSync(process.execPath, args, { timeout: 30_000, encoding: 'utf8' }));
  assert.ok(pid > 1);
  gone(pid);
});
