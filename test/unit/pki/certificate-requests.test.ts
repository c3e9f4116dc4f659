import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { before, test } from 'node:test';
import { readCertificateRequest, signCertificateRequest } from '../../../src/pki/certificate-requests.ts';
import { makeKey, makeRequest } from '../../../src/pki/new-request.ts';
import { createAuthority, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const day = 24 * 3600 * 1000;
const subject = {
  commonName: 'system:node:a',
  organizations: ['system:nodes', 'more'],
  hosts: ['a', 'a.example', '192.0.2.1', '2001:db8::1'],
};
let authority: KeyAndCertificate;
let key: string;
let pem: string;
before(async () => {
  authority = await createAuthority('test', start, start + 100 * day);
  key = await makeKey();
  pem = await makeRequest(key, subject);
});

test('the fields of a request are parsed', async () => {
  assert.deepEqual(await readCertificateRequest(`text before\n${pem}`), {
    commonName: 'system:node:a',
    organizations: ['system:nodes', 'more'],
    dnsNames: ['a', 'a.example'],
    ipAddresses: ['192.0.2.1', '2001:db8::1'],
    emailAddresses: [],
    uris: [],
  });
});

test('the certificate has its subject, names and key, and the usages and time of the terms', async () => {
  const usages = ['server auth', 'digital signature', 'key encipherment'];
  const terms = { usages, notBefore: start + day, notAfter: start + 2 * day };
  const certificate = new X509Certificate(await signCertificateRequest(authority, pem, terms));
  assert.equal(certificate.subject, 'O=system:nodes\nO=more\nCN=system:node:a');
  assert.equal(
    certificate.subjectAltName,
    'DNS:a, DNS:a.example, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1',
  );
  assert.ok(certificate.publicKey.equals(createPublicKey(key)));
  assert.ok(certificate.checkIssued(new X509Certificate(authority.certificate)));
  assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
  assert.equal(certificate.ca, false);
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(Date.parse(certificate.validFrom), start + day);
  assert.equal(Date.parse(certificate.validTo), start + 2 * day);
});

test('no certificate outlives the authority, or begins before it', async () => {
  const terms = { usages: ['client auth'], notBefore: start - day, notAfter: start + 365 * day };
  const certificate = new X509Certificate(await signCertificateRequest(authority, pem, terms));
  assert.equal(Date.parse(certificate.validFrom), start);
  assert.equal(Date.parse(certificate.validTo), start + 100 * day);
});

test("a request outside the signers' rules is not signed", async () => {
  const terms = { usages: ['client auth', 'cert sign'], notBefore: start, notAfter: start + day };
  await assert.rejects(signCertificateRequest(authority, pem, terms), /certificates for "cert sign" are not/);
});

test('any bytes are parsed as a request, or rejected with one line', async () => {
  const random = new SeededRandom(3);
  const body = Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ''), 'base64');
  for (let round = 0; round < 300; round++) {
    const bytes = Buffer.from(body);
    for (let change = random.below(4); change >= 0; change--)
      bytes[random.below(bytes.length)] = random.below(256);
    const cut = bytes.subarray(0, random.below(3) === 0 ? random.below(bytes.length) : bytes.length);
    const text = `-----BEGIN CERTIFICATE REQUEST-----\n${cut.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
    await readCertificateRequest(text).catch((error: Error) => {
      assert.match(
        error.message,
        /^(the PEM|the signature was not|an RSA key|the subject|a subjectAltName|the e|the request)/,
      );
      assert.ok(!error.message.includes('\n'));
    });
  }
  await assert.rejects(readCertificateRequest('x'.repeat(70_000)), /must not be longer than 65536 bytes/);
});
