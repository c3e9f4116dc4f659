import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { makeKey, makeRequest } from '../../../src/pki/new-request.ts';

const openssl = (input: string, ...args: string[]) =>
  execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });

test('a request has the subject and the hosts, signed by the key, as OpenSSL reads it', async () => {
  const key = await makeKey();
  const request = await makeRequest(key, {
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    hosts: ['a', 'a.example', '192.0.2.1'],
  });
  const text = openssl(request, 'req', '-noout', '-verify', '-subject', '-text', '-nameopt', 'RFC2253');
  assert.match(text, /CN=system:node:a,O=system:nodes/);
  assert.match(text, /DNS:a, DNS:a\.example, IP Address:192\.0\.2\.1/);
  const [publicKey] =
    /-----BEGIN PUBLIC KEY-----[\s\S]*/.exec(openssl(request, 'req', '-noout', '-pubkey')) ?? [];
  assert.equal(publicKey, createPublicKey(key).export({ type: 'spki', format: 'pem' }));
});

test('a request without hosts has no alternative names', async () => {
  const request = await makeRequest(await makeKey(), { commonName: 'a' });
  assert.doesNotMatch(openssl(request, 'req', '-noout', '-text'), /Alternative/);
});
