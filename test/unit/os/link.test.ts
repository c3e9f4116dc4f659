import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Exec, ExecError } from '../../../src/os/exec.ts';
import { deleteLink } from '../../../src/os/link.ts';

const saying =
  (stderr: string): Exec =>
  (file, args) =>
    Promise.reject(new ExecError({ file, args, code: 2, stdout: '', stderr }, 'exit status 2'));

for (const gone of ['Cannot find device "mk8s1"\n', 'RTNETLINK answers: No such device\n']) {
  test(`a link that was removed in the meantime counts as deleted: ${gone.trim()}`, async () => {
    await deleteLink(saying(gone), 'mk8s1');
  });
}

test('a link that cannot be deleted for another reason is an error', async () => {
  await assert.rejects(
    deleteLink(saying('RTNETLINK answers: Operation not permitted\n'), 'mk8s1'),
    /^ExecError: ip link delete dev mk8s1: exit status 2: RTNETLINK answers: Operation not permitted$/,
  );
});
