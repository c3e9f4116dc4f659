import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAuthorities } from '../../../src/node-bootstrap/served-authorities.ts';
import { createAuthority, issueCertificate } from '../../../src/pki/x509.ts';

const validity = { notBefore: 0, notAfter: 1e12 };
const [first, second] = [await createAuthority('a', 0, 1e12), await createAuthority('b', 0, 1e12)];
const leaf = await issueCertificate(first, { commonName: 'x', usages: ['client'], ...validity });
const both = `${first.certificate}\n${second.certificate}`;

test('the authorities are read, with the one that signs', () => {
  const served = { trusted: both, signer: second.certificate };
  assert.deepEqual(parseAuthorities(JSON.stringify({ ...served, phase: 'issue' })), served);
});

const bad: [what: string, body: unknown][] = [
  ['no authority', { trusted: '', signer: '' }],
  ['a signer that is not trusted', { trusted: first.certificate, signer: second.certificate }],
  [
    'a certificate that is not an authority',
    { trusted: `${both}\n${leaf.certificate}`, signer: first.certificate },
  ],
  ['no texts', { trusted: [both], signer: 1 }],
];
for (const [what, body] of bad)
  test(`refused, so that a node keeps the authority that it trusts: ${what}`, () => {
    assert.throws(() => parseAuthorities(JSON.stringify(body)), /no authorities that can be read/);
  });
