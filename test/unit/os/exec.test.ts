import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExecError, systemExec } from '../../../src/os/exec.ts';

test('input and output pass unchanged, and no shell reads the arguments', async () => {
  assert.deepEqual(await systemExec('cat', [], { input: 'héllo' }), { stdout: 'héllo', stderr: '' });
  assert.equal((await systemExec('echo', ['$HOME; ls'])).stdout, '$HOME; ls\n');
});

test('input is a private file, as some programs require', async () => {
  const { stdout } = await systemExec('stat', ['-L', '-c', '%F %a %h', '/dev/stdin'], { input: 'x' });
  assert.equal(stdout, 'regular file 600 0\n');
});

test('a failure has the command, its status and its first line', async () => {
  const failing = systemExec('sh', ['-c', 'echo out; echo no such table >&2; echo more >&2; exit 3']);
  await assert.rejects(failing, (error) => {
    assert.ok(error instanceof ExecError);
    assert.match(error.message, /^sh -c .*: exit status 3: no such table$/);
    assert.deepEqual([error.failure.code, error.failure.stdout], [3, 'out\n']);
    return true;
  });
});

test('a missing program is an error, and a program need not read its input', async () => {
  await assert.rejects(systemExec('no-such-program', []), /no-such-program: not found; install it/);
  assert.equal((await systemExec('true', [], { input: 'x'.repeat(1 << 20) })).stdout, '');
});

test('aborting and the time limit kill the program', async () => {
  const controller = new AbortController();
  const running = systemExec('sleep', ['60'], { signal: controller.signal });
  controller.abort(new Error('enough'));
  await assert.rejects(running, /^Error: enough$/);
  await assert.rejects(systemExec('true', [], { signal: controller.signal }), /^Error: enough$/);
  await assert.rejects(
    systemExec('sleep', ['60'], { timeoutMs: 20 }),
    /sleep 60: did not end within 0.02 s and was killed$/,
  );
});
