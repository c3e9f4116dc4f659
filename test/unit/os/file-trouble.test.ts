import assert from 'node:assert/strict';
import { test } from 'node:test';
import { troubleAt } from '../../../src/os/file-trouble.ts';

const failure = (code: string) => Object.assign(new Error(`${code}: write '/a.minik8s-12-0'`), { code });

test('errors of a file system name the path, what is wrong, and what to do, in one line', () => {
  for (const [code, says] of [
    ['ENOSPC', '/a cannot be changed: its file system is full (ENOSPC): make room there'],
    ['EDQUOT', '/a cannot be changed: the quota of its file system is used up (EDQUOT): make room there'],
    ['EROFS', '/a cannot be changed: its file system is read-only (EROFS): make it writable'],
    [
      'EPERM',
      '/a cannot be changed: the system does not allow it (EPERM): lsattr shows whether the file or directory is immutable',
    ],
  ] as const) {
    const error = troubleAt('/a', failure(code));
    assert.ok(error instanceof Error);
    assert.deepEqual([error.message, (error as NodeJS.ErrnoException).code], [says, code]);
  }
});

test('a missing directory is named, and other errors are forwarded', () => {
  const missing = troubleAt('/no/such/minik8s', failure('ENOENT'));
  assert.equal(
    (missing as Error).message,
    '/no/such/minik8s cannot be changed: the directory /no/such does not exist: create it',
  );
  for (const other of [failure('ENOENT'), failure('EIO'), new Error('no'), 'text'])
    assert.equal(troubleAt('/etc', other), other);
});
