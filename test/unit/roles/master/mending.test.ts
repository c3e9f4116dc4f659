import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DamagedAuthorityError } from '../../../../src/pki/credentials.ts';
import { authorityText, mendingOf, mendingText, withBackup } from '../../../../src/roles/master/mending.ts';

const facts = {
  dataDir: '/var/lib/minik8s',
  backupDir: '/b',
  backups: [] as readonly string[],
  isDatabaseWhole: false,
};
const [older, newer] = ['minik8s-2026-11-28T09-17-29Z.tar.zst', 'minik8s-2026-11-29T01-02-03Z.tar.zst'];

test('the advice is to back up an intact database first, even if there are backups', () => {
  const text = mendingText({ ...facts, backups: [older], isDatabaseWhole: true });
  assert.match(text, /minik8s backup create --from-database, then minik8s backup restore --replace with the/);
  assert.match(text, /only the last changes may be lost/);
});

test('without an intact database, the advice names the latest backup, its time and the flags that it needs', () => {
  const plain = mendingText({ ...facts, backups: [newer, 'other', older] });
  assert.match(plain, new RegExp(`minik8s backup restore --replace /b/${newer} \\(`));
  assert.match(plain, /changes after 2026-11-29T01:02:03Z are lost/);
  const encrypted = mendingText({ ...facts, dataDir: '/d', backups: [`${older}.age`] });
  assert.match(encrypted, new RegExp(`--replace --data-dir /d --passphrase-file FILE /b/${older}\\.age`));
});

test('without a backup, the advice names minik8s reset and the data that it deletes', () => {
  assert.match(
    mendingText({ ...facts, backups: ['other'] }),
    /^there is no backup in \/b: .*minik8s reset removes the cluster with all its objects/,
  );
});

test('the advice follows from the state of the database and the files in the directory of backups', async () => {
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

test('a damaged authority is restored alone, from the latest backup', () => {
  const text = authorityText('ca.key is missing', { ...facts, backups: [newer, `${older}.age`] });
  assert.match(
    text ?? '',
    new RegExp(`^ca\\.key is missing: run minik8s backup restore --only-pki --replace /b/${newer} \\(`),
  );
  assert.match(text ?? '', /of 2026-11-29T01:02:03Z\), which keeps the objects/);
  assert.equal(authorityText('ca.key is missing', facts), undefined);
});

test('an error about a damaged authority names the backup to restore; other errors stay unchanged', async () => {
  const backupDir = mkdtempSync(join(tmpdir(), 'mending-'));
  const settings = { 'data-dir': '/d', 'backup-dir': backupDir };
  const damaged = new DamagedAuthorityError('ca.key is missing');
  const other = new Error('else');
  try {
    assert.equal(await withBackup(damaged, settings), damaged);
    writeFileSync(join(backupDir, `${older}.age`), '');
    const named = (await withBackup(damaged, settings)) as Error;
    assert.match(
      named.message,
      new RegExp(`--data-dir /d --passphrase-file FILE ${backupDir}/${older}\\.age`),
    );
    assert.equal(await withBackup(other, settings), other);
  } finally {
    rmSync(backupDir, { recursive: true });
  }
});
