import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../../src/base/log.ts';
import { directoryUsage } from '../../../../src/kubelet/volumes/directory-usage.ts';
import { type Exec, ExecError } from '../../../../src/os/exec.ts';

const failing =
  (stdout: string): Exec =>
  async (file, args) => {
    throw new ExecError(
      { file, args, stdout, stderr: 'du: cannot access /x: No such file', code: 1 },
      'status 1',
    );
  };
const usage = (exec: Exec) => directoryUsage({ exec, log: silentLogger }, '/x', 'bytes');

test('the usage is the number that du prints', async () => {
  assert.equal(await usage(async () => ({ stdout: '4096\t/x\n', stderr: '' })), 4096);
});

test('the usage is known if du fails because files were removed meanwhile', async () => {
  assert.equal(await usage(failing('8192\t/x\n')), 8192);
});

test('the usage is unknown if du prints nothing', async () => {
  assert.equal(await usage(failing('')), undefined);
});
