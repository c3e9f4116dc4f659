import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openBackup, openStore, type PlaceOptions } from '../../../../src/roles/backup/place.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const account = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'the-secret' };

const options = (settings: Partial<PlaceOptions['settings']>, environment = account): PlaceOptions => ({
  settings: {
    'backup-s3-endpoint': undefined,
    'backup-s3-region': 'us-east-1',
    'backup-s3-path-style': undefined,
    'backup-s3-credentials-file': undefined,
    'backup-s3-ca-file': undefined,
    'backup-s3-plain-http': 'false',
    ...settings,
  },
  environment,
  ...{ clock: new FakeClock(0), random: new SeededRandom(1) },
});
const signal = new AbortController().signal;

test('an endpoint without TLS requires --backup-s3-plain-http', async () => {
  const endpoint = { 'backup-s3-endpoint': new URL('http://127.0.0.1:9000') };
  await assert.rejects(openStore('s3://bucket/x', options(endpoint)), {
    name: 'UsageError',
    message:
      /http:\/\/127\.0\.0\.1:9000 is without TLS, .* give an https URL, or --backup-s3-plain-http true$/,
  });
  const store = await openStore('s3://bucket/x', options({ ...endpoint, 'backup-s3-plain-http': 'true' }));
  assert.equal(store.path, 's3://bucket/x');
  assert.equal(store.pathOf('name'), 's3://bucket/x/name');
});

test('missing credentials and an unusable CA file are errors before the first request', async (context) => {
  await assert.rejects(
    openStore('s3://bucket', options({}, {} as typeof account)),
    /no credentials for the bucket/,
  );
  const none = { 'backup-s3-ca-file': '/nonexistent' };
  await assert.rejects(
    openStore('s3://bucket', options(none)),
    /--backup-s3-ca-file: cannot read \/nonexistent/,
  );
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-place-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'ca.crt');
  writeFileSync(file, 'hello');
  await assert.rejects(
    openStore('s3://bucket', options({ 'backup-s3-ca-file': file })),
    /has no certificate in PEM/,
  );
});

test('a directory requires no credentials, and a backup is opened from a file or from an object in a bucket', async () => {
  assert.equal((await openStore('/var/backups', options({}, {} as typeof account))).path, '/var/backups');
  await assert.rejects(
    openBackup('/nonexistent', options({}), signal),
    /there is no file \/nonexistent; minik8s/,
  );
  for (const [word, expected] of [
    ['s3://bucket', /it names a bucket, not a backup in it; minik8s backup list shows/],
    ['s3://bucket/../x', /without empty parts/],
  ] as const)
    await assert.rejects(openBackup(word, options({}), signal), expected);
  const { source, directory } = await openBackup('s3://bucket/a b', options({}), signal);
  assert.deepEqual([source.path, directory], ['s3://bucket/a b', undefined]);
  const own = await openBackup(import.meta.filename, options({}), signal);
  assert.deepEqual([own.source.path, own.directory], [import.meta.filename, import.meta.dirname]);
});
