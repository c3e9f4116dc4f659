import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addSystemPrograms } from '../../../../src/roles/install/system-programs.ts';

test('the directories of system programs are appended to PATH once', () => {
  const environment = { PATH: '/usr/bin:/usr/sbin' };
  addSystemPrograms(environment);
  assert.equal(environment.PATH, '/usr/bin:/usr/sbin:/sbin');
  addSystemPrograms(environment);
  assert.equal(environment.PATH, '/usr/bin:/usr/sbin:/sbin');
  const bare: { PATH?: string } = {};
  addSystemPrograms(bare);
  assert.equal(bare.PATH, '/usr/sbin:/sbin');
});
