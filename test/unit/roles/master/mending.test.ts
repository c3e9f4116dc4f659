import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mendingOf, mendingText } from '../../../../src/roles/master/mending.ts';

const facts = {
  dataDir: '/var/lib/minik8s',
  backupDir: '/b',
  backups: [] as readonly string[],
  isDatabaseWhole: false,
};
const [older, newer] = ['minik8s-2026-11-28T09-17-29Z.tar.zst', 'minik8s-2026-11-29T01-02-03Z.tar.zst'];

test('a database that is whole is backed up first, even if there are backups', () => {
  const text = mendingText({ ...facts, backups: [older], isDatabaseWhole: true });
  assert.match(text, /minik8s backup create --from-database, then minik8s backup restore --replace with the/);
  assert.match(text, /only the last changes may be lost/);
});

test('otherwise the latest backup is named, with its time and the flags that it needs', () => {
  const plain = mendingText({ ...facts, backups: [newer, 'other', older] });
  assert.match(plain, new RegExp(`minik8s backup restore --replace /b/${newer} \\(`));
  assert.match(plain, /changes after 2026-11-29T01:02:03Z are lost/);
  const encrypted = mendingText({ ...facts, dataDir: '/d', backups: [`${older}.age`] });
  assert.match(encrypted, new RegExp(`--replace --data-dir /d --passphrase-file FILE /b/${older}\\.age`));
});

test('without a backup, reset is named with what is lost', () => {
  assert.match(
    mendingText({ ...facts, backups: ['other'] }),
    /^there is no backup in \/b: .*minik8s reset removes the cluster with all its objects/,
  );
});

test('the facts are read: the backups, and the database', async () => {
  const backupDir = mkdtempSync(join(tmpdir(), 'mending-'));
  writeFileSync(join(backupDir, older), '');
  const sources = { dataDir: '/d', backupDir, etcdBinary: '/bin/etcd' };
  const answering = (keys: number) => async (file: string, args: readonly string[]) => {
    assert.deepEqual([file, ...args], ['/bin/etcd', 'database-status', '/d/etcd/data/member/snap/db']);
    return { stdout: JSON.stringify({ keys, revision: 1, version: '3.7.0' }), stderr: '' };
  };
  try {
    assert.match(await mendingOf({ ...sources, exec: answering(3) }), /--from-database/);
    assert.match(await mendingOf({ ...sources, exec: answering(0) }), new RegExp(older));
    const failing = () => Promise.reject(new Error('invalid database'));
    assert.match(await mendingOf({ ...sources, exec: failing }), new RegExp(older));
    const elsewhere = { ...sources, backupDir: join(backupDir, 'none'), exec: failing };
    assert.match(await mendingOf(elsewhere), /there is no backup/);
  } finally {
    rmSync(backupDir, { recursive: true });
  }
});
