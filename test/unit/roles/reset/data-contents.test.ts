import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemExec } from '../../../../src/os/exec.ts';
import {
  entriesOf,
  hasOnlyStarted,
  isMasterAlone,
  removeContents,
} from '../../../../src/roles/reset/data-contents.ts';

const parent = mkdtempSync(join(tmpdir(), 'minik8s-reset-'));
after(() => rmSync(parent, { recursive: true }));

test('a data directory without a kubelet is one of a master that runs no pods', () => {
  assert.ok(isMasterAlone(['pki', 'etcd', 'admin.conf']));
  assert.ok(isMasterAlone(['pki', 'admin.conf']), 'its etcd is external');
  assert.ok(!isMasterAlone(['minik8s.pid']));
  assert.ok(hasOnlyStarted(['minik8s.pid', 'up.log']), 'its first start failed');
  assert.ok(!hasOnlyStarted([]) && !hasOnlyStarted(['minik8s.pid', 'node']));
  assert.ok(!isMasterAlone(['pki', 'etcd', 'kubelet']));
  assert.ok(!isMasterAlone(['kubelet', 'node']));
  assert.ok(!isMasterAlone([]), 'a node whose data directory was deleted may have left traces elsewhere');
});

test('the files of minik8s are removed; other entries stay, and are returned', async () => {
  const path = join(parent, 'a');
  for (const name of ['etcd/member', 'images/sha256']) mkdirSync(join(path, name), { recursive: true });
  writeFileSync(join(path, 'admin.conf'), '');
  writeFileSync(join(path, 'restoring'), '');
  mkdirSync(join(path, 'pki.before-restore-1795947236775'));
  writeFileSync(join(path, 'notes'), '');
  assert.deepEqual(await removeContents(path, systemExec), ['notes']);
  assert.deepEqual(await entriesOf(path), ['notes']);
  rmSync(join(path, 'notes'));
  assert.deepEqual(await removeContents(path, systemExec), []);
  assert.ok(!existsSync(path));
  assert.deepEqual(await removeContents(path, systemExec), [], 'a second time');
});
