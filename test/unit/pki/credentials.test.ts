import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { authorityHash } from '../../../src/pki/authority-hash.ts';
import { authorityProblem, openCredentials } from '../../../src/pki/credentials.ts';
import { troubleText } from '../../fixtures/troubleshooting.ts';

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

test('a leaf is signed by the authority and serves exactly the requested hosts', async () => {
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

test('a stored leaf is reused until it expires soon, or until another host or subject is requested', async () => {
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

test('a leaf that was issued while the clock was ahead is replaced once the clock is right', async () => {
  const ahead = await openCredentials(directory, () => start + 400 * day);
  const early = await ahead.leaf(server);
  const credentials = await openCredentials(directory, () => start + 2 * day);
  const leaf = await credentials.leaf(server);
  assert.notEqual(leaf.certificate, early.certificate);
  assert.ok(Date.parse(new X509Certificate(leaf.certificate).validFrom) <= start + 2 * day);
  assert.equal((await credentials.leaf(server)).certificate, leaf.certificate);
});

test('a clock before or after the validity of the authority is reported with the remedy', async () => {
  const { authority } = await openCredentials(directory, () => start);
  const problemAt = (now: number) => authorityProblem(authority.certificate, now);
  assert.equal(problemAt(start), undefined);
  assert.match(
    problemAt(start - 400 * day) ?? '',
    /clock of this machine says 2024-11-27T00:00:00.000Z, before the cluster's authority was made \(2025-12-31T23:00:00.000Z\).*; set it/,
  );
  assert.match(
    problemAt(start + 40_000 * day) ?? '',
    /authority was valid until .*; set the clock, or make a new authority: stop minik8s, remove ca\.crt and ca\.key/,
  );
  assert.match(problemAt(start - 400 * day) ?? '', troubleText('the clock of this machine says'));
});

describe('an authority', () => {
  let own: string;
  beforeEach(async () => {
    own = await mkdtemp(join(directory, 'damaged-'));
    await openCredentials(own, () => start);
  });

  const another = async (file: string) => {
    const elsewhere = await mkdtemp(join(directory, 'other-'));
    await openCredentials(elsewhere, () => start);
    return readFile(join(elsewhere, file), 'utf8');
  };
  const damages: [what: string, damage: () => Promise<unknown>, line: RegExp][] = [
    [
      'an empty key',
      () => writeFile(join(own, 'ca.key'), ''),
      /ca\.key is not the key of the authority in \S+ca\.crt/,
    ],
    [
      'a key that was cut off',
      async () => writeFile(join(own, 'ca.key'), (await readFile(join(own, 'ca.key'), 'utf8')).slice(0, 100)),
      /ca\.key is not the key/,
    ],
    [
      'the key of another authority',
      async () => writeFile(join(own, 'ca.key'), await another('ca.key')),
      /ca\.key is not the key/,
    ],
    ['a missing key', () => rm(join(own, 'ca.key')), /ca\.key is missing/],
    ['an empty certificate', () => writeFile(join(own, 'ca.crt'), ''), /one of the two is damaged/],
    [
      'a leaf in place of the certificate',
      async () => {
        const leaf = await (await openCredentials(own, () => start)).leaf(server);
        await writeFile(join(own, 'ca.key'), leaf.key);
        await writeFile(join(own, 'ca.crt'), leaf.certificate);
      },
      /ca\.key is not the key/,
    ],
  ];
  for (const [what, damage, line] of damages) {
    test(`with ${what} fails the start with one line that names the file and the remedy, and is not replaced`, async () => {
      await damage();
      const before_ = await readFile(join(own, 'ca.crt'), 'utf8');
      await assert.rejects(
        openCredentials(own, () => start),
        ({ message }: Error) =>
          line.test(message) &&
          /restore both files from a backup, or remove both/.test(message) &&
          !message.includes('\n'),
      );
      assert.equal(await readFile(join(own, 'ca.crt'), 'utf8'), before_);
    });
  }

  test('without its certificate fails the start if it has signed a leaf, and the key is kept', async () => {
    await (await openCredentials(own, () => start)).leaf(server);
    const key = await readFile(join(own, 'ca.key'), 'utf8');
    await rm(join(own, 'ca.crt'));
    await assert.rejects(
      openCredentials(own, () => start),
      ({ message }: Error) =>
        /ca\.crt is missing/.test(message) && troubleText('restore both files from a backup').test(message),
    );
    assert.equal(await readFile(join(own, 'ca.key'), 'utf8'), key);
    await rm(join(own, 'ca.key'));
    assert.ok((await openCredentials(own, () => start)).authority.key !== key);
  });

  test('is replaced if only the key exists and no leaf, as after an interrupted first start', async () => {
    await rm(join(own, 'ca.crt'));
    const { authority } = await openCredentials(own, () => start);
    assert.equal(await readFile(join(own, 'ca.crt'), 'utf8'), authority.certificate);
  });

  test('replaces a damaged leaf certificate', async () => {
    const credentials = await openCredentials(own, () => start);
    for (const file of ['apiserver.key', 'apiserver.crt']) {
      const first = await credentials.leaf(server);
      await writeFile(join(own, file), '');
      const second = await credentials.leaf(server);
      assert.notEqual(second.certificate, first.certificate);
      assert.ok(new X509Certificate(second.certificate).checkHost('localhost'));
    }
  });
});
