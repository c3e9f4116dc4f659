import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backupPlace, regionName, serviceUrl } from '../../../../src/roles/settings/backup-values.ts';

test('a place of backups is a path from the root or a location in a bucket', () => {
  assert.equal(backupPlace('/var//backups/'), '/var/backups');
  assert.equal(backupPlace('s3://bucket/prefix/'), 's3://bucket/prefix');
  assert.throws(() => backupPlace('backups'), /expected a path from the root/);
  assert.throws(() => backupPlace('s3://bucket/../x'), /expected s3:\/\/BUCKET/);
});

test('an endpoint with credentials, a query or a fragment is rejected, and so is an invalid region', () => {
  assert.equal(serviceUrl('https://s3.example.com').host, 's3.example.com');
  for (const text of [
    's3.example.com',
    'ftp://s3.example.com',
    'https://user:secret@s3.example.com',
    'https://a/?b',
    'https://a/#b',
  ])
    assert.throws(() => serviceUrl(text), /^Error: expected a URL without user, query and fragment/);
  assert.throws(() => regionName('eu west/1'), /expected a region such as eu-central-1/);
});
