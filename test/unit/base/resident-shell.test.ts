import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { ExecError } from '../../../src/base/exec.ts';
import { residentShell } from '../../../src/base/resident-shell.ts';

const exec = residentShell();
/** Its shell is the parent of what it runs. */
const shellPid = async () => Number((await exec('sh', ['-c', 'echo $PPID'])).stdout);

test('input goes in, output comes back, no shell reads arguments or input', async () => {
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

test('one shell runs what is asked for at once, one after the other', async () => {
  const asked = ['first', 'second', 'third'].map((word) => exec('sh', ['-c', `echo ${word} $PPID`]));
  const said = (await Promise.all(asked)).map(({ stdout }) => stdout.trim().split(' '));
  assert.deepEqual(
    said.map(([word]) => word),
    ['first', 'second', 'third'],
  );
  assert.equal(new Set(said.map(([, pid]) => pid)).size, 1);
});

test('a failure says the command, its status and its first word on it; the next goes on', async () => {
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
  await assert.rejects(exec('sleep', ['60'], { timeoutMs: 20 }), /sleep 60: killed by SIGKILL/);
  assert.notEqual(await shellPid(), first);
});

test('a shell that somebody kills is told by what it ran, and replaced', async () => {
  await assert.rejects(exec('sh', ['-c', 'kill -9 $PPID; sleep 60']), /killed by SIGKILL/);
  assert.equal((await exec('echo', ['on'])).stdout, 'on\n');
});

test('what has a directory or an environment of its own is run with them', async () => {
  assert.equal((await exec('pwd', [], { cwd: '/' })).stdout, '/\n');
  assert.equal((await exec('/bin/sh', ['-c', 'echo $WORD'], { env: { WORD: 'own' } })).stdout, 'own\n');
  assert.equal((await exec('cat', [], { input: Buffer.from('bytes') })).stdout, 'bytes');
});

test('a process ends although its shell waits, and the shell with it', () => {
  const program = `
    import { residentShell } from ${JSON.stringify(import.meta.resolve('../../../src/base/resident-shell.ts'))};
    const { stdout } = await residentShell()('sh', ['-c', 'echo $PPID']);
    process.stdout.write(stdout);`;
  const args = ['--input-type=module', '--eval', program];
  const pid = Number(execFileSync(process.execPath, args, { timeout: 30_000, encoding: 'utf8' }));
  assert.ok(pid > 1);
  execFileSync('timeout', ['30', 'tail', '-s0.05', `--pid=${pid}`, '-f', '/dev/null']);
});
