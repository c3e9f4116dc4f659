import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkError, type Refusal, refusalError } from '../../../../src/backup/s3/failures.ts';

const asked = {
  action: 's3:PutObject',
  location: { bucket: 'b', key: 'k' },
  url: new URL('https://s3.example.com/b/k'),
  region: 'us-east-1',
};
const now = Date.UTC(2026, 10, 29, 12);

function line(status: number, code?: string, more: Partial<Refusal> = {}): string {
  const none = { regionHeader: undefined, redirect: undefined, date: undefined };
  const error = code === undefined ? undefined : { code, region: undefined, endpoint: undefined };
  return refusalError(asked, { status, error, ...none, ...more }, now).message;
}

for (const [status, code, expected] of [
  [403, 'AccessDenied', 's3://b/k: access is denied: allow s3:PutObject for these credentials'],
  [403, undefined, 's3://b/k: access is denied: allow s3:PutObject for these credentials'],
  [404, 'NoSuchBucket', 's3://b/k: there is no such bucket: create it, or correct the location'],
  [400, 'ExpiredToken', 's3://b/k: the session token has expired: get new credentials'],
  [412, undefined, 's3://b/k: the object was replaced or removed while it was read: run this again'],
  [503, 'SlowDown', 's3://b/k: the server answered 503 (SlowDown): try again later'],
  [418, 'Teapot', 's3://b/k: the server answered 418 (Teapot): is it an S3 endpoint (--backup-s3-endpoint)?'],
] as const)
  test(`the error for ${status} ${code ?? 'without a body'} contains the remedy`, () =>
    assert.equal(line(status, code), expected));

test('the error for a bucket of another region names the region, from the body or the header', () => {
  const wrong = /the bucket is in the region eu-west-1, not us-east-1: give --backup-s3-region eu-west-1$/;
  assert.match(line(301, 'PermanentRedirect', { regionHeader: 'eu-west-1' }), wrong);
  assert.match(line(301, undefined, { regionHeader: 'eu-west-1' }), wrong);
  const code = 'AuthorizationHeaderMalformed';
  assert.match(line(400, code, { error: { code, region: 'eu-west-1', endpoint: undefined } }), wrong);
  assert.match(
    line(400, code),
    /the region us-east-1 is not that of the bucket: correct --backup-s3-region$/,
  );
  assert.ok(!line(301, undefined, { regionHeader: 'a b\n' }).includes('a b'));
});

test('the error for a redirect names only the host', () => {
  const redirect = 'https://evil.example.com/path?secret=1';
  assert.equal(
    line(307, undefined, { redirect }),
    "s3://b/k: the server redirects to evil.example.com, which is not followed: give the bucket's own --backup-s3-endpoint",
  );
  assert.match(line(307, undefined, { redirect: '/here' }), /redirects to another place/);
});

test('the error for a wrong clock contains the difference', () => {
  const date = new Date(now - 7 * 60_000).toUTCString();
  assert.match(line(403, 'RequestTimeTooSkewed', { date }), /differ too much \(7 minutes\): set/);
  assert.match(line(403, 'RequestTimeTooSkewed'), /differ too much: set/);
});

test('messages of TLS failures name the side that is at fault', () => {
  const failure = (code: string) => networkError(asked, Object.assign(new Error('x'), { code })).message;
  assert.match(
    failure('SELF_SIGNED_CERT_IN_CHAIN'),
    /no known authority signed: give .* --backup-s3-ca-file$/,
  );
  assert.match(failure('CERT_HAS_EXPIRED'), /s3\.example\.com has a certificate, which has expired/);
  assert.match(failure('ERR_TLS_CERT_ALTNAME_INVALID'), /not for this host: correct --backup-s3-endpoint$/);
  assert.match(failure('EPROTO'), /does not speak TLS/);
  assert.match(failure('ECONNREFUSED'), /s3\.example\.com cannot be reached \(x\)/);
});
