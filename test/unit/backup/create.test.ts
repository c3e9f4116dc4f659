import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type BackupWorld, backupWorld, database, modeOf, namesIn } from './backup-world.ts';

let world: BackupWorld;
let dataDir: string;
beforeEach(() => {
  world = backupWorld();
  dataDir = world.makeData('a', 'first');
});
afterEach(() => world.remove());

const backups = () => join(world.directory, 'backups');

test('a backup is a file for its owner alone, named by its time, and nothing is left beside the data', async () => {
  writeFileSync(join(dataDir, 'master.yaml'), 'port: 7443\n');
  const { path, size, manifest } = await world.create(dataDir);
  assert.equal(path, join(backups(), 'minik8s-2026-11-29T09-17-29Z-bbbbb.tar.zst'));
  assert.deepEqual([size, modeOf(path), modeOf(backups())], [statSync(path).size, 0o600, 0o700]);
  const { revision, keys, created } = manifest;
  assert.deepEqual([revision, keys, created], [42, 3, '2026-11-29T09:17:29Z']);
  assert.equal(manifest.members['etcd.db']?.size, database.length + 32);
  assert.deepEqual(namesIn(dataDir), ['etcd', 'master.yaml', 'pki']);
});

test('a backup has every file of the authority and the configuration, but no drafts and folders', async () => {
  writeFileSync(join(dataDir, 'master.yaml'), 'port: 7443\n');
  for (const name of ['front.key', 'ca.key.minik8s-4194305-0'])
    writeFileSync(join(dataDir, 'pki', name), name);
  mkdirSync(join(dataDir, 'pki/old'));
  const { manifest } = await world.create(dataDir);
  assert.deepEqual(Object.keys(manifest.members).sort(), [
    'config/master.yaml',
    'etcd.db',
    'pki/ca.crt',
    'pki/ca.key',
    'pki/front.key',
  ]);
  assert.equal(manifest.members['pki/ca.key']?.size, 'first ca.key'.length);
});

test('a master without a configuration file is backed up', async () => {
  const { manifest } = await world.create(dataDir);
  assert.deepEqual(Object.keys(manifest.members).sort(), ['etcd.db', 'pki/ca.crt', 'pki/ca.key']);
});

for (const name of ['ca.key', 'ca.crt'])
  test(`without ${name} nothing is backed up, and the message names it`, async () => {
    rmSync(join(dataDir, 'pki', name));
    await assert.rejects(
      world.create(dataDir),
      (error: Error) => error.message === `${join(dataDir, 'pki', name)} is missing: nothing was backed up`,
    );
    assert.deepEqual([namesIn(backups()), namesIn(dataDir)], [[], ['etcd', 'pki']]);
  });

test('a database that etcd does not read, or sends incompletely, leaves no backup and no copy', async () => {
  const exec = async () => {
    throw new Error('page 3 is damaged');
  };
  await assert.rejects(world.create(dataDir, { exec }), /page 3 is damaged/);
  const cut = {
    async *snapshot() {
      yield database;
    },
  };
  await assert.rejects(world.create(dataDir, { member: cut }), /incomplete snapshot/);
  assert.deepEqual([namesIn(backups()), namesIn(dataDir)], [[], ['etcd', 'pki']]);
});

test('the name of an encrypted backup shows it, and another passphrase does not restore it', async () => {
  const { path } = await world.create(dataDir, { passphrase: 'correct horse' });
  assert.match(path, /Z-bbbbb\.tar\.zst\.age$/);
  const target = join(world.directory, 'b');
  mkdirSync(target);
  await assert.rejects(
    world.restore(path, target, { passphrase: 'wrong horse' }),
    /^BackupError: the passphrase does not open this backup$/,
  );
  assert.deepEqual(namesIn(target), []);
  await world.restore(path, target, { passphrase: 'correct horse' });
  assert.deepEqual(namesIn(join(target, 'pki')), ['ca.crt', 'ca.key']);
});
