import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileChecks } from '../../../../src/doctor/checks/files.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

test('a file with a key that other users can read is a fault, with the chmod command that closes it', () => {
  const closed = { path: '/data', mode: 0o700, most: 0o700 };
  assert.deepEqual(linesOf(observe(fileChecks, 'permissions', [closed, { ...closed, mode: 0o500 }])), [
    'ok: 2 files with keys are closed to others',
  ]);
  const open = { path: "/it's/ca.key", mode: 0o640, most: 0o600 };
  const found = observe(fileChecks, 'permissions', [closed, open]);
  assert.deepEqual(linesOf(found), [
    "fault: /it's/ca.key has the permissions 640 # chmod 600 '/it'\\''s/ca.key'",
  ]);
  assert.deepEqual(found[0]?.fix, { kind: 'mode', path: "/it's/ca.key", mode: 0o600 });
  assert.deepEqual(observe(fileChecks, 'permissions', []), []);
});
