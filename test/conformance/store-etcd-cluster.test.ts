/** The etcd store on a cluster of three members that requires client certificates. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { createAuthority, issueCertificate } from '../../src/pki/x509.ts';
import { connectEtcd, type EtcdOptions } from '../../src/storage/etcd.ts';
import { RevisionMismatchError, type StoredValue, StoreUnavailableError } from '../../src/storage/store.ts';
import { makeDirectory } from '../e2e/harness/belongings.ts';
import { etcdBinary } from '../fixtures/etcd-binary.ts';
import { freePort } from '../fixtures/free-port.ts';
import { Collector, freshTree } from './store.ts';

const limit = { timeout: 180_000 };
const members = ['one', 'two', 'three'];
let directory: string;
let endpoints: string[];
let tls: { ca: string; cert: string; key: string };
let start: (member: string, state: 'new' | 'existing') => ChildProcess;
const running = new Map<string, ChildProcess>();

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
  directory = makeDirectory('minik8s-store-');
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
  connectEtcd({ endpoints, tls, log: silentLogger, clock: systemClock, random: systemRandom, ...options });

test(
  'no write is lost, repeated or misreported while members are killed one after the other',
  limit,
  async () => {
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
        // Two members must be left when the next one is stopped.
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
  },
);

test('two clients at different members cannot both update the same revision', limit, async () => {
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

/** Connects a store whose calls begin at the first endpoint. */
const atTheFirst = (options: Partial<EtcdOptions> = {}) =>
  connect({ random: { ...systemRandom, next: () => 0 }, ...options });

test('an endpoint that accepts connections without answering delays a client only once', limit, async () => {
  const sockets: net.Socket[] = [];
  const silent = net.createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
  });
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  assert.ok(address && typeof address === 'object');
  const store = await atTheFirst({
    endpoints: [`https://127.0.0.1:${address.port}`, ...endpoints],
    attemptMs: 1000,
  });
  try {
    const key = `${freshTree()}a`;
    let revision = await store.create(key, Buffer.from('0'));
    const tried = sockets.length;
    assert.ok(tried > 0);
    for (let i = 1; i <= 30; i++) revision = await store.update(key, Buffer.from(String(i)), revision);
    assert.equal(sockets.length, tried, 'it was not asked again');
  } finally {
    await store.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

test('if the member in use freezes, writes and the watch continue at another member', limit, async () => {
  const store = await atTheFirst();
  const [first] = members;
  const frozen = running.get(first ?? '');
  assert.ok(frozen);
  try {
    const tree = freshTree();
    const collector = new Collector(store, tree, await store.currentRevision());
    const written = [await store.create(`${tree}a`, Buffer.from('1'))];
    await collector.take(1);
    frozen.kill('SIGSTOP');
    for (let i = 0; i < 20; i++) written.push(await store.create(`${tree}b${i}`, Buffer.from('2')));
    await collector.take(written.length);
    assert.deepEqual(collector.revisions, written);
    await collector.stop();
  } finally {
    frozen.kill('SIGCONT');
    await store.close();
  }
});

/** Returns whether all threads have stopped: each thread stops a moment after kill has returned. */
async function isFrozen(pid: number | undefined): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
  );
  return stats.every((stat) => /\) T/.test(stat));
}

test(
  'no write succeeds without a majority, and writes succeed again when there is a majority',
  limit,
  async () => {
    const store = await atTheFirst({ settleMs: 3000, attemptMs: 1000 });
    const others = members.slice(1).map((member) => running.get(member));
    try {
      const tree = freshTree();
      const collector = new Collector(store, tree, await store.currentRevision());
      const revision = await store.create(`${tree}a`, Buffer.from('1'));
      for (const member of others) {
        member?.kill('SIGSTOP');
        while (!(await isFrozen(member?.pid))) await nextTurn();
      }
      await assert.rejects(store.update(`${tree}a`, Buffer.from('2'), revision), StoreUnavailableError);
      await assert.rejects(store.get(`${tree}a`), StoreUnavailableError);
      for (const member of others) member?.kill('SIGCONT');
      // An election on a busy machine takes longer than this store waits.
      const patience = AbortSignal.timeout(120_000);
      let now: StoredValue | undefined;
      let last: number | undefined;
      while (last === undefined) {
        try {
          now = await store.get(`${tree}a`);
          last = await store.update(`${tree}a`, Buffer.from('3'), now?.revision ?? 0);
        } catch (error) {
          // The unanswered update may also be carried out just now.
          const passes = error instanceof StoreUnavailableError || error instanceof RevisionMismatchError;
          if (patience.aborted || !passes) throw error;
        }
      }
      await collector.until(() => collector.revisions.at(-1) === last);
      // The unanswered update may have been carried out after all, but only once, and nothing else.
      const values = collector.events.map((event) =>
        event.type === 'put' ? event.value.toString() : 'gone',
      );
      assert.deepEqual(values, now?.value.toString() === '2' ? ['1', '2', '3'] : ['1', '3']);
      await collector.stop();
    } finally {
      for (const member of others) member?.kill('SIGCONT');
      await store.close();
    }
  },
);

test('a connection without a client certificate is rejected', limit, async () => {
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
