import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { authorityHash, openCredentials } from '../../../src/pki/credentials.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const day = 24 * 3600 * 1000;
const server = {
  file: 'apiserver',
  commonName: 'kube-apiserver',
  hosts: ['kubernetes.default.svc', 'localhost', '127.0.0.1', '10.96.0.1'],
  usages: ['server'],
} as const;

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-pki-'));
});
after(() => rm(directory, { recursive: true }));

test('a leaf is signed by the authority and serves exactly the hosts asked for', async () => {
  const credentials = await openCredentials(directory, () => start);
  const leaf = await credentials.leaf(server);
  const certificate = new X509Certificate(leaf.certificate);
  const authority = new X509Certificate(credentials.authority.certificate);
  assert.ok(certificate.verify(authority.publicKey));
  assert.ok(certificate.checkIssued(authority));
  assert.equal(certificate.checkIP('10.96.0.1'), '10.96.0.1');
  assert.equal(certificate.checkHost('localhost'), 'localhost');
  assert.equal(certificate.checkIP('192.0.2.1'), undefined);
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(authority.ca, true);
  assert.match(authorityHash(credentials.authority.certificate), /^sha256:[0-9a-f]{64}$/);
});

test('keys are readable by their owner alone', async () => {
  for (const file of ['ca.key', 'apiserver.key']) {
    assert.equal((await stat(join(directory, file))).mode & 0o777, 0o600, file);
  }
});

test('what is on disk is used again until it ends soon, names other hosts or another subject', async () => {
  let now = start;
  const credentials = await openCredentials(directory, () => now);
  const first = await credentials.leaf(server);
  assert.equal((await credentials.leaf(server)).certificate, first.certificate);
  const widened = await credentials.leaf({ ...server, hosts: [...server.hosts, '192.0.2.7'] });
  assert.notEqual(widened.certificate, first.certificate);
  assert.equal((await credentials.leaf(server)).certificate, widened.certificate);
  now = start + 310 * day;
  const renewed = await credentials.leaf(server);
  assert.notEqual(renewed.certificate, widened.certificate);
  assert.equal(await readFile(join(directory, 'apiserver.crt'), 'utf8'), renewed.certificate);
  const renamed = await credentials.leaf({ ...server, organizations: ['system:masters'] });
  assert.match(new X509Certificate(renamed.certificate).subject, /O=system:masters/);
});
