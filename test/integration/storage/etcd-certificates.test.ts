/** The connection to an etcd over TLS: verification of the server, and the client certificate. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { silentLogger } from '../../../src/base/log.ts';
import { createAuthority, issueCertificate, type KeyAndCertificate } from '../../../src/pki/x509.ts';
import { connectEtcd, type EtcdOptions } from '../../../src/storage/etcd.ts';
import { StoreUnavailableError } from '../../../src/storage/store.ts';
import { makeDirectory } from '../../e2e/harness/belongings.ts';
import { EtcdWire } from '../../fixtures/etcd-wire.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const [from, to] = [Date.now() - 60_000, Date.now() + 3_600_000];
let authority: KeyAndCertificate;
let ca: string;
before(async () => {
  authority = await createAuthority('etcd-test', from, to);
  ca = join(makeDirectory('minik8s-store-'), 'ca');
  writeFileSync(ca, authority.certificate);
});

const issue = (hosts: readonly string[], commonName = 'etcd') =>
  issueCertificate(authority, {
    commonName,
    hosts,
    usages: ['client', 'server'],
    notBefore: from,
    notAfter: to,
  });

/** Starts a server with a certificate for these hosts, at an address of this machine. */
async function etcdAt(host: string, hosts: readonly string[], more: { readonly asks?: boolean } = {}) {
  const { certificate: cert, key } = await issue(hosts);
  const clients = more.asks ? { ca: authority.certificate, requestCert: true } : {};
  return EtcdWire.listen({ host, port: 0 }, { cert, key, ...clients });
}

/** Connects to the first endpoint, or to another; after a failure `settleMs` elapses at once. */
async function connect(
  endpoints: readonly string[],
  { tls = { ca }, at = 0 }: { readonly tls?: EtcdOptions['tls']; readonly at?: number } = {},
): Promise<void> {
  const clock = new FakeClock();
  const connecting = connectEtcd({
    endpoints,
    tls,
    log: silentLogger,
    clock,
    // No timeout expires on this clock.
    networkClock: new FakeClock(),
    random: Object.assign(new SeededRandom(1), { next: () => at / endpoints.length }),
    settleMs: 10_000,
  });
  let over = false;
  const end = () => {
    over = true;
  };
  connecting.then(end, end);
  while (!over) {
    await nextTurn();
    if (clock.pending > 0) await clock.advance(10_000);
  }
  await (await connecting).close();
}

/** Server names that clients have requested. */
const names: (string | false | null)[] = [];
function recordNames(wire: EtcdWire): void {
  names.length = 0;
  wire.onSession = ({ socket }) => names.push((socket as TLSSocket).servername);
}

test('a server is verified by its host name', async () => {
  await using wire = await etcdAt('localhost', ['localhost']);
  recordNames(wire);
  await connect([`https://localhost:${wire.port}`]);
  assert.deepEqual([...new Set(names)], ['localhost']);
  await using other = await etcdAt('localhost', ['elsewhere']);
  await assert.rejects(connect([`https://localhost:${other.port}`]), StoreUnavailableError);
});

for (const [address, url] of [
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '[::1]'],
] as const) {
  test(`a server is verified by its address: ${address}`, async () => {
    await using wire = await etcdAt(address, [address]);
    await connect([`https://${url}:${wire.port}`]);
    await using other = await etcdAt(address, ['127.0.0.9']);
    await assert.rejects(connect([`https://${url}:${other.port}`]), /is not in the cert's list/);
  });
}

test('with endpoints that are addresses, a certificate for any of them is valid', async () => {
  await using wire = await etcdAt('127.0.0.1', ['127.0.0.1']);
  const endpoints = [`https://127.0.0.1:${wire.port}`, 'https://etcd.example:2379'];
  await connect(endpoints);
  await connect(endpoints.toReversed(), { at: 1 });
  await using other = await etcdAt('127.0.0.1', ['etcd.example']);
  await connect([`https://127.0.0.1:${other.port}`, 'https://etcd.example:2379']);
});

test('no address is sent as a server name, which TLS forbids', async () => {
  await using wire = await etcdAt('127.0.0.1', ['127.0.0.1']);
  recordNames(wire);
  await connect([`https://127.0.0.1:${wire.port}`]);
  assert.deepEqual([...new Set(names)], ['etcd']);
});

test('a server whose certificate is from another authority is rejected', async () => {
  const stranger = await createAuthority('etcd-test', from, to);
  const file = join(makeDirectory('minik8s-store-'), 'ca');
  writeFileSync(file, stranger.certificate);
  await using wire = await etcdAt('127.0.0.1', ['127.0.0.1']);
  const endpoints = [`https://127.0.0.1:${wire.port}`];
  await assert.rejects(connect(endpoints, { tls: { ca: file } }), StoreUnavailableError);
});

test('a client sends its certificate if it has one', async () => {
  await using wire = await etcdAt('127.0.0.1', ['127.0.0.1'], { asks: true });
  const endpoints = [`https://127.0.0.1:${wire.port}`];
  await assert.rejects(connect(endpoints), StoreUnavailableError);
  const { certificate, key } = await issue([], 'a-master');
  const directory = makeDirectory('minik8s-store-');
  const files = { cert: join(directory, 'cert'), key: join(directory, 'key') };
  writeFileSync(files.cert, certificate);
  writeFileSync(files.key, key);
  const shown: unknown[] = [];
  wire.onSession = ({ socket }) => shown.push((socket as TLSSocket).getPeerCertificate().subject.CN);
  await connect(endpoints, { tls: { ca, ...files } });
  assert.deepEqual([...new Set(shown)], ['a-master']);
});
