/** The etcd store on a cluster of three members that asks for client certificates. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { createAuthority, issueCertificate } from '../../src/pki/x509.ts';
import { connectEtcd, type EtcdOptions } from '../../src/storage/etcd.ts';
import { RevisionMismatchError, StoreUnavailableError } from '../../src/storage/store.ts';
import { etcdBinary, requireEtcd } from './etcd-server.ts';
import { Collector, freshTree } from './store.ts';

const limit = { timeout: 60_000 };
const members = ['one', 'two', 'three'];
let directory: string;
let endpoints: string[];
let tls: { ca: string; cert: string; key: string };
let start: (member: string, state: 'new' | 'existing') => ChildProcess;
const running = new Map<string, ChildProcess>();

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  assert.ok(address && typeof address === 'object');
  return address.port;
}

async function makeCertificates(): Promise<typeof tls> {
  const now = Date.now();
  const [from, to] = [now - 60_000, now + 3_600_000];
  const authority = await createAuthority('etcd-test', from, to);
  const leaf = await issueCertificate(authority, {
    commonName: 'etcd',
    hosts: ['127.0.0.1', 'localhost'],
    usages: ['client', 'server'],
    notBefore: from,
    notAfter: to,
  });
  const paths = {
    ca: path.join(directory, 'ca'),
    cert: path.join(directory, 'cert'),
    key: path.join(directory, 'key'),
  };
  await writeFile(paths.ca, authority.certificate);
  await writeFile(paths.cert, leaf.certificate);
  await writeFile(paths.key, leaf.key, { mode: 0o600 });
  return paths;
}

before(async () => {
  requireEtcd();
  directory = await mkdtemp(path.join(tmpdir(), 'minik8s-store-'));
  tls = await makeCertificates();
  const ports = new Map<string, { client: string; peer: string }>();
  for (const member of members) {
    const [client, peer] = [await freePort(), await freePort()];
    ports.set(member, { client: `https://127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` });
  }
  endpoints = [...ports.values()].map(({ client }) => client);
  const cluster = [...ports].map(([member, { peer }]) => `${member}=${peer}`).join(',');
  start = (member) => {
    const urls = ports.get(member);
    assert.ok(urls);
    const child = spawn(
      etcdBinary,
      [
        `--name=${member}`,
        `--data-dir=${path.join(directory, member)}`,
        `--listen-client-urls=${urls.client}`,
        `--advertise-client-urls=${urls.client}`,
        `--listen-peer-urls=${urls.peer}`,
        `--initial-advertise-peer-urls=${urls.peer}`,
        `--initial-cluster=${cluster}`,
        `--trusted-ca-file=${tls.ca}`,
        `--cert-file=${tls.cert}`,
        `--key-file=${tls.key}`,
        '--client-cert-auth',
        '--heartbeat-interval=50',
        '--election-timeout=500',
      ],
      { stdio: 'ignore' },
    );
    running.set(member, child);
    return child;
  };
  for (const member of members) start(member, 'new');
});

after(async () => {
  for (const child of running.values()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  if (directory) await rm(directory, { recursive: true, force: true });
});

const connect = (options: Partial<EtcdOptions> = {}) =>
  connectEtcd({ endpoints, tls, log: silentLogger, clock: systemClock, ...options });

test('members are killed one after the other: nothing is lost, repeated or misreported', limit, async () => {
  const store = await connect();
  try {
    const tree = freshTree();
    const collector = new Collector(store, tree, await store.currentRevision());
    const acknowledged: number[] = [];
    let going = true;
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      let revision = await store.create(`${tree}${lane}`, Buffer.from('0'));
      acknowledged.push(revision);
      for (let i = 1; going; i++) {
        revision = await store.update(`${tree}${lane}`, Buffer.from(`${lane}/${i}`), revision);
        acknowledged.push(revision);
      }
    });
    const more = async (count: number) => {
      const enough = acknowledged.length + count;
      while (acknowledged.length < enough) {
        await Promise.race([new Promise((resolve) => setTimeout(resolve, 10)), ...lanes]);
      }
    };
    for (const member of members) {
      await more(200);
      const child = running.get(member);
      assert.ok(child);
      child.kill('SIGKILL');
      await once(child, 'exit');
      await more(200);
      start(member, 'existing');
      // Two members must be left when the next one goes.
      await (await connect({ endpoints: [endpoints[members.indexOf(member)] ?? ''] })).close();
    }
    going = false;
    await Promise.all(lanes);
    acknowledged.sort((a, b) => a - b);
    await collector.take(acknowledged.length);
    assert.deepEqual(collector.revisions, acknowledged);
    await collector.stop();
  } finally {
    await store.close();
  }
});

test('writers at different members exclude one another', limit, async () => {
  const stores = await Promise.all(endpoints.map((endpoint) => connect({ endpoints: [endpoint] })));
  try {
    const [first] = stores;
    assert.ok(first);
    const key = `${freshTree()}counter`;
    await first.create(key, Buffer.from('0'));
    const add = async (store: typeof first) => {
      for (let done = 0; done < 20; ) {
        const now = await store.get(key);
        assert.ok(now);
        try {
          await store.update(key, Buffer.from(String(Number(now.value) + 1)), now.revision);
          done++;
        } catch (error) {
          if (!(error instanceof RevisionMismatchError)) throw error;
        }
      }
    };
    await Promise.all(stores.map(add));
    assert.equal((await first.get(key))?.value.toString(), '60');
  } finally {
    for (const store of stores) await store.close();
  }
});

test('without a client certificate there is no connection', limit, async () => {
  const refused = connect({ tls: { ca: tls.ca }, settleMs: 1000, attemptMs: 500 });
  await assert.rejects(refused, StoreUnavailableError);
});

test('a server whose certificate is for another address is not trusted', limit, async () => {
  const target = Number(new URL(endpoints[0] ?? '').port);
  const forwarder = net.createServer((client) => {
    const server = net.connect(target, '127.0.0.1');
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) socket.on('error', () => undefined);
  });
  forwarder.listen(0, '127.0.0.2');
  await once(forwarder, 'listening');
  const address = forwarder.address();
  assert.ok(address && typeof address === 'object');
  try {
    const elsewhere = [`https://127.0.0.2:${address.port}`];
    const mistrusted = connect({ endpoints: elsewhere, settleMs: 1000, attemptMs: 500 });
    await assert.rejects(mistrusted, /127\.0\.0\.2 is not in the cert's list/);
  } finally {
    forwarder.close();
  }
});
