/**
 * Text that is left out of a support bundle. The filter must not take long for any text, since all users who
 * may write annotations choose texts of the bundle.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leftOut, SecretFilter, valuesOf } from '../../../../src/roles/support/without-secrets.ts';

const filter = new SecretFilter([]);

/**
 * Texts for which the filter would take time that grows with the square of the length: hours for the first
 * one, minutes for the others.
 */
const repeated = [
  'passw',
  'secret=\\"',
  'eyJaaaaaaaa-',
  'eyJaaaaaaaa.',
  "token='\\",
  'token="\\\n',
  'api_key ',
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY-----\n',
  '-----END PRIVATE KEY-----\n',
  'a://b:',
  'basic ',
];

describe('the filter of a support bundle', { timeout: 120_000 }, () => {
  for (const unit of repeated)
    it(`finishes a megabyte of ${JSON.stringify(unit)}`, () => {
      assert.equal(typeof filter.text(unit.repeat(2 ** 20 / unit.length)), 'string');
    });

  const secret = 'hunter22';
  for (const text of [
    `export DB_PASS=${secret}`,
    `passphrase: ${secret}`,
    `AWS_ACCESS_KEY=${secret}`,
    `AccountKey=${secret};EndpointSuffix=x`,
    `"password": "${secret} and \\" ${secret}", "x": 1`,
    `password='a ${secret}'`,
    `token="${'x'.repeat(2000)} ${secret}"`,
    `secret="${secret} without an end ${secret}`,
  ])
    it(`leaves the value out of ${text.slice(0, 60)}`, () => {
      const clean = filter.text(text);
      assert.ok(!clean.includes(secret), clean);
      assert.ok(clean.includes(leftOut), clean);
    });

  it('leaves a JSON Web Token out wherever it begins', () => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.plantedSignature';
    for (const text of [token, `-t${token}`, `a.${token}`, `x-${token} y`])
      assert.ok(!filter.text(text).includes('plantedSignature'), text);
  });

  it('keeps texts that only resemble secrets', () => {
    const text = 'PGPASSFILE=/run/x compass; the passed tests: 3, eyJ.a, /a/b.c, passing=2';
    assert.equal(filter.text(text), text);
  });

  it('leaves out the lines of a private key whose first line was cut off, and keeps the text after it', () => {
    const log = [
      'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
      'AgEAAoIBAQC7',
      '-----END RSA PRIVATE KEY-----',
      'later',
    ];
    assert.equal(filter.text(log.join('\n')), `${leftOut}\nlater`);
    const long = [...Array.from({ length: 300 }, (_, index) => `line ${index}`), ...log];
    assert.match(filter.text(long.join('\n')), /^line 0\n[\s\S]*\n\(left out\)\nlater$/);
  });

  it('leaves out the values of variables and headers, in lists and in maps', () => {
    const clean = filter.object({
      kind: 'SlurmJob',
      spec: {
        environment: { GREETING: secret },
        env: [{ name: 'A', value: secret }],
        httpHeaders: [{ name: 'X-Key', value: secret }],
      },
    });
    assert.deepEqual(clean, {
      kind: 'SlurmJob',
      spec: {
        environment: { GREETING: leftOut },
        env: [{ name: 'A', value: leftOut }],
        httpHeaders: [{ name: 'X-Key', value: leftOut }],
      },
    });
  });

  it('leaves out the value after an option, and of a field, whose name is that of a secret', () => {
    assert.deepEqual(filter.object({ args: ['--db-pass', secret, '--port', '80'], signingKey: secret }), {
      args: ['--db-pass', leftOut, '--port', '80'],
      signingKey: leftOut,
    });
    assert.deepEqual(filter.object({ secretName: 'db', tokenExpirationSeconds: 5 }), {
      secretName: 'db',
      tokenExpirationSeconds: 5,
    });
  });

  it('leaves out a known value in JSON, in a URL, in base64 and line by line', () => {
    const known = new SecretFilter(['quo"ted\\ Value', 'first line\nsecond line']);
    const base64 = Buffer.from('quo"ted\\ Value').toString('base64');
    for (const text of [
      'quo"ted\\ Value',
      'quo\\"ted\\\\ Value',
      'quo%22ted%5C%20Value',
      base64,
      'second line',
    ])
      assert.equal(known.text(`<${text}>`), `<${leftOut}>`);
  });

  it('gets the values to leave out from Secrets and from JSON in them, except certificates and user names', () => {
    const data = (entries: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(entries).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      );
    const values = valuesOf({ data: data({ password: 'a-password', 'tls.crt': 'cert', username: 'me' }) });
    assert.deepEqual(values, ['a-password']);
    const json = JSON.stringify({ auths: { r: { auth: 'dTpw' } } });
    assert.deepEqual(valuesOf({ data: data({ c: json }) }), [json, 'dTpw']);
    const token = { 'token-id': 'abcdef', 'token-secret': 'k7x9q2m4p8r1t5w3' };
    assert.deepEqual(valuesOf({ type: 'bootstrap.kubernetes.io/token', data: data(token) }), [
      'k7x9q2m4p8r1t5w3',
    ]);
  });
});
