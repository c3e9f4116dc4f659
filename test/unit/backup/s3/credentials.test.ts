import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inFile, readCredentials } from '../../../../src/backup/s3/credentials.ts';

const file = `# of the backups
[default]
aws_access_key_id = AKIA1
aws_secret_access_key=se=cr/et+1
; a comment = x
[ other ]
AWS_ACCESS_KEY_ID=AKIA2
aws_secret_access_key = secret2
aws_session_token = token2
region = eu-west-1
[half]
aws_access_key_id = AKIA3
`;

test('a profile in a file is read with its keys and its token', () => {
  assert.deepEqual(inFile(file, 'default', '/f'), {
    accessKeyId: 'AKIA1',
    secretAccessKey: 'se=cr/et+1',
    sessionToken: undefined,
  });
  assert.deepEqual(inFile(file, 'other', '/f'), {
    accessKeyId: 'AKIA2',
    secretAccessKey: 'secret2',
    sessionToken: 'token2',
  });
});

test('missing values of a file are named, and no value is shown', () => {
  assert.throws(() => inFile(file, 'none', '/f'), /\/f has no profile \[none\]$/);
  assert.throws(() => inFile(file, 'half', '/f'), {
    message:
      '--backup-s3-credentials-file: profile [half] of /f needs aws_access_key_id and aws_secret_access_key',
  });
  const spaced = '[default]\naws_access_key_id = a b\naws_secret_access_key = hidden\u0007\n';
  assert.throws(
    () => inFile(spaced, 'default', '/f'),
    (error: Error) => {
      assert.match(error.message, /has characters that credentials cannot have/);
      return !error.message.includes('hidden') && !error.message.includes('a b');
    },
  );
});

test('a file that others may read, or that does not exist, is refused', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-credentials-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'credentials');
  for (const mode of [0o644, 0o640, 0o604]) {
    rmSync(path, { force: true });
    writeFileSync(path, file, { mode });
    await assert.rejects(readCredentials(path, {}), /users other than its owner may read .*; run chmod 600/);
  }
  rmSync(path);
  await assert.rejects(readCredentials(path, {}), /cannot read .*ENOENT/);
  writeFileSync(path, file, { mode: 0o600 });
  assert.equal((await readCredentials(path, { AWS_ACCESS_KEY_ID: 'x' })).accessKeyId, 'AKIA1');
  assert.equal((await readCredentials(path, { AWS_PROFILE: 'other' })).accessKeyId, 'AKIA2');
});

test('without a file both environment variables are required', async () => {
  const both = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
  assert.deepEqual(await readCredentials(undefined, { ...both, AWS_SESSION_TOKEN: 't' }), {
    accessKeyId: 'a',
    secretAccessKey: 'b',
    sessionToken: 't',
  });
  for (const name of Object.keys(both))
    await assert.rejects(
      readCredentials(undefined, { ...both, [name]: '' }),
      /no credentials for the bucket: give --backup-s3-credentials-file, or set AWS_ACCESS_KEY_ID and/,
    );
});
