import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { replaceable } from '../../../src/base/current.ts';
import { certificatesOf, signerOf } from '../../../src/os/certificate-bundle.ts';
import { authorityHash } from '../../../src/pki/authority-hash.ts';
import {
  authoritiesOf,
  parseRotation,
  type RotatingNode,
  type RotationPhase,
  type RotationRecord,
  recordAfter,
  refusalOf,
  standingOf,
} from '../../../src/pki/authority-rotation.ts';
import { newAuthority, openCredentials } from '../../../src/pki/credentials.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const [own, next, other] = await Promise.all([newAuthority(now), newAuthority(now), newAuthority(now)]);
const [former, hash] = [authorityHash(own.certificate), authorityHash(next.certificate)];
const record = (phase: RotationPhase): RotationRecord => ({ phase, next, former });

const trustedIn = (trusted: string) => certificatesOf(trusted).map((one) => authorityHash(one.toString()));

describe('the authorities of a phase', () => {
  const rows: [RotationPhase | undefined, signer: unknown, server: unknown, trusted: string[]][] = [
    [undefined, own, own, [former]],
    ['trust', own, own, [former, hash]],
    ['issue', next, own, [former, hash]],
    ['finish', next, next, [hash]],
  ];
  for (const [phase, signer, server, trusted] of rows)
    test(`sign, serve and are trusted as listed ${phase ? `in the phase ${phase}` : 'without a rotation'}`, () => {
      const found = authoritiesOf(own, phase && record(phase));
      assert.equal(found.signer, signer);
      assert.equal(found.server, server);
      assert.deepEqual(trustedIn(found.trusted), trusted);
    });

  test('include an authority that the rotation does not replace', () => {
    assert.equal(authoritiesOf(other, record('finish')).signer, other);
    assert.equal(authoritiesOf(next, record('finish')).server, next);
  });
});

describe('a step', () => {
  const node = (name: string, trusts: string[], issuers: string[]): RotatingNode => ({
    name,
    trusts,
    issuers,
  });
  const old = node('old', [former], [former]);
  const trusting = node('trusting', [former, hash], [former]);
  const mixed = node('mixed', [former, hash], [hash, former]);
  const ready = node('ready', [former, hash], [hash]);
  const silent = node('silent', [], []);

  test('reports the progress of each node', () => {
    assert.equal(standingOf(old, hash), 'does not trust the next authority');
    assert.equal(standingOf(silent, hash), 'does not trust the next authority');
    assert.equal(standingOf(trusting, hash), 'has certificates of the former authority');
    assert.equal(standingOf(mixed, hash), 'has certificates of the former authority');
    assert.equal(standingOf(node('x', [hash], []), hash), 'has certificates of the former authority');
    assert.equal(standingOf(ready, hash), 'done');
  });

  const rows: [RotationPhase, RotationRecord | undefined, RotatingNode[], RegExp | undefined][] = [
    ['trust', undefined, [old], undefined],
    ['trust', record('trust'), [old], undefined],
    ['trust', record('finish'), [ready], undefined],
    ['issue', undefined, [], /no rotation of the authority is under way: begin with minik8s certs rotate-ca/],
    [
      'issue',
      record('trust'),
      [trusting, old, silent],
      /old does not trust .*, silent does not trust .*--force/,
    ],
    ['issue', record('trust'), [trusting, ready], undefined],
    ['issue', record('issue'), [old], undefined],
    ['issue', record('finish'), [], /has ended/],
    ['finish', undefined, [], /no rotation/],
    ['finish', record('trust'), [ready], /does not sign yet: run minik8s certs rotate-ca first/],
    [
      'finish',
      record('issue'),
      [ready, trusting, mixed],
      /trusting has certificates .*, mixed has .*--force/,
    ],
    ['finish', record('issue'), [ready], undefined],
    ['finish', record('finish'), [old], undefined],
  ];
  for (const [step, before_, nodes, expected] of rows)
    test(`${step} after ${before_?.phase ?? 'nothing'} with the nodes [${nodes.map(({ name }) => name)}] is ${expected ? 'refused' : 'allowed'}`, () => {
      const refusal = refusalOf(step, before_, nodes);
      if (expected) assert.match(refusal ?? '', expected);
      else assert.equal(refusal, undefined);
    });

  test('creates one authority for all repetitions of a step, and another one for the next rotation', async () => {
    let made = 0;
    const make = async () => (made++ === 0 ? next : other);
    const first = await recordAfter('trust', undefined, own, make);
    assert.deepEqual(first, record('trust'));
    assert.equal(await recordAfter('trust', first, own, make), first);
    const issuing = await recordAfter('issue', first, own, make);
    assert.deepEqual(issuing, record('issue'));
    assert.equal(await recordAfter('trust', issuing, own, make), issuing);
    const ended = await recordAfter('finish', issuing, own, make);
    assert.equal(made, 1);
    const again = await recordAfter('trust', ended, next, make);
    assert.deepEqual(again, { phase: 'trust', next: other, former: hash });
  });

  test('is read from its record; a damaged record is an error that does not show the key', () => {
    assert.deepEqual(parseRotation(JSON.stringify(record('issue'))), record('issue'));
    for (const bad of ['', '{}', 'null', JSON.stringify({ ...record('trust'), phase: 'x' })])
      assert.throws(
        () => parseRotation(bad),
        /^Error: the record of the rotation of the authority is damaged$/,
      );
    const mixedUp = { ...record('trust'), next: { key: own.key, certificate: next.certificate } };
    assert.throws(() => parseRotation(JSON.stringify(mixedUp)), /damaged/);
  });
});

describe('the credentials of a master', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-rotation-'));
  });
  after(() => rm(directory, { recursive: true }));

  const client = { file: 'client', commonName: 'client', usages: ['client'] } as const;
  const server = { file: 'server', commonName: 'server', usages: ['server'], changesLast: true } as const;

  test('follow each phase, and the next start has the authority of the rotation', async () => {
    const rotation = replaceable<RotationRecord | undefined>(undefined);
    const credentials = await openCredentials(directory, () => now, undefined, rotation);
    const first = credentials.authority;
    const of = { next, former: authorityHash(first.certificate) };
    const issuers = async () => {
      const leaves = [await credentials.leaf(client), await credentials.leaf(server)];
      return leaves.map(({ certificate }) => {
        const parsed = new X509Certificate(certificate);
        return signerOf(parsed, first.certificate) ? 'former' : signerOf(parsed, next.certificate) && 'next';
      });
    };
    assert.deepEqual(await issuers(), ['former', 'former']);
    rotation.replace({ ...of, phase: 'trust' });
    assert.deepEqual(await issuers(), ['former', 'former']);
    rotation.replace({ ...of, phase: 'issue' });
    assert.deepEqual(await issuers(), ['next', 'former']);
    const restarted = await openCredentials(directory, () => now, undefined, rotation);
    assert.equal(restarted.authority.certificate, first.certificate);
    rotation.replace({ ...of, phase: 'finish' });
    assert.deepEqual(await issuers(), ['next', 'next']);
    // A master that was killed before it stored the authority stores it at its next start.
    assert.equal(await readFile(join(directory, 'ca.crt'), 'utf8'), first.certificate);
    const later = await openCredentials(directory, () => now, undefined, rotation);
    assert.equal(later.authority.certificate, next.certificate);
    assert.equal(await readFile(join(directory, 'ca.crt'), 'utf8'), next.certificate);
    assert.equal(await readFile(join(directory, 'ca.key'), 'utf8'), next.key);
    await credentials.adopt();
    assert.equal(await readFile(join(directory, 'ca.key'), 'utf8'), next.key);
    // A master that was killed after it had stored the key alone stores the certificate.
    await writeFile(join(directory, 'ca.crt'), first.certificate);
    const last = await openCredentials(directory, () => now, undefined, rotation);
    assert.equal(last.authority.certificate, next.certificate);
    assert.equal(await readFile(join(directory, 'ca.crt'), 'utf8'), next.certificate);
  });
});
