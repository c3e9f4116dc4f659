/** Three real etcds: the first is opened to peers, two others join, and one continues alone with its data. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { finishRecovery, recover } from '../../../src/backup/recovery.ts';
import { systemClock as clock } from '../../../src/base/clock.ts';
import { silentLogger as log } from '../../../src/base/log.ts';
import { systemRandom as random } from '../../../src/base/random.ts';
import { grantJoin, JoinBusyError, keepPromoting } from '../../../src/masters/grant.ts';
import {
  etcdPeersOf,
  type OwnMember,
  openPeerCredentials,
  peerLeaf,
  writeOwnMember,
} from '../../../src/masters/member-folder.ts';
import { answers, knownMembers, peerTlsOf } from '../../../src/masters/members.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { openCredentials } from '../../../src/pki/credentials.ts';
import { type EmbeddedEtcd, startEmbeddedEtcd } from '../../../src/storage/embedded-etcd.ts';
import { connectEtcd } from '../../../src/storage/etcd.ts';
import { type MembersRpc, openMembers } from '../../../src/storage/etcd-members.ts';
import type { EtcdPeers } from '../../../src/storage/etcd-process.ts';
import { untilServing } from '../../../src/storage/etcd-process.ts';
import { insideEtcd as binary } from '../../fixtures/etcd-binary.ts';
import { freePort } from '../../fixtures/free-port.ts';

const folder = await mkdtemp(join(tmpdir(), 'minik8s-members-'));
const closers: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closers.reverse()) await close();
  await rm(folder, { recursive: true, force: true });
});
const now = () => clock.now();

const ports = await Promise.all([1, 2, 3].map(() => freePort()));
const urlOf = (number: number) => `https://127.0.0.1:${ports[number - 1]}`;

interface Running {
  readonly etcdDir: string;
  readonly etcd: EmbeddedEtcd;
  readonly rpc: MembersRpc;
  readonly socket: string;
}

async function start(name: string, peers?: EtcdPeers): Promise<Running> {
  const etcdDir = join(folder, name);
  const signal = new AbortController().signal;
  const etcd = await startEmbeddedEtcd({
    ...{ binary, earlierBinary: '/nowhere', dataDir: etcdDir, log, clock, signal },
    ...(peers && { peers }),
  });
  const socket = (etcd.endpoints[0] ?? '').replace(/^unix:/, '');
  const rpc = openMembers(socket, clock);
  closers.push(async () => {
    rpc.close();
    await etcd.stop();
  });
  return { etcdDir, etcd, rpc, socket };
}

const storeOf = ({ etcd }: Running) => connectEtcd({ endpoints: etcd.endpoints, log, clock, random });
const serving = ({ socket }: Running) =>
  untilServing({ socketPath: socket, clock, limitMs: 60_000, signal: AbortSignal.timeout(70_000) });

test('members of etcd join, keep strangers out, and one continues alone', {
  timeout: 300_000,
}, async (context) => {
  const first = await start('m1');
  await serving(first);
  const store = await storeOf(first);
  closers.push(() => store.close());
  await store.create('/registry/before', Buffer.from('1'));
  const { ownId, clusterId } = await first.rpc.list();
  const own = { name: 'm1', peerUrl: urlOf(1), clusterId, memberId: ownId, initialCluster: `m1=${urlOf(1)}` };
  const credentials = await openPeerCredentials(first.etcdDir, now);
  const leaf = await credentials.leaf(peerLeaf(own));
  const tls = { authority: credentials.authority.certificate, own: leaf, clock };
  const ask = (number: number) =>
    grantJoin(
      { rpc: first.rpc, authority: credentials.authority, own: leaf, clock, log },
      { name: `m${number}`, peerUrl: urlOf(number), settings: {} },
    );
  const joinAs = async (number: number): Promise<Running & { own: OwnMember }> => {
    const answer = await ask(number);
    assert.equal(answer.outcome, 'added');
    const etcdDir = join(folder, `m${number}`);
    await mkdir(etcdDir, { mode: 0o700 });
    const { authority, initialCluster, memberId } = answer;
    const joined = { name: `m${number}`, peerUrl: urlOf(number), clusterId, memberId, initialCluster };
    const theirs = await openPeerCredentials(etcdDir, now, authority);
    await theirs.leaf(peerLeaf(joined));
    await writeOwnMember(etcdDir, joined);
    return { ...(await start(`m${number}`, etcdPeersOf(etcdDir, joined))), own: joined };
  };

  await context.test('the first member is opened to peers in place, with its data', async () => {
    assert.equal(await answers(urlOf(1), tls), false);
    await first.rpc.update(ownId, urlOf(1));
    await writeOwnMember(first.etcdDir, own);
    await first.etcd.openToPeers(etcdPeersOf(first.etcdDir, own));
    assert.equal((await store.get('/registry/before'))?.value.toString(), '1');
    assert.equal(await answers(urlOf(1), tls), true);
  });

  await context.test(
    'a peer with a certificate of another authority, such as a user of the cluster has, is rejected',
    async () => {
      const cluster = await openCredentials(join(folder, 'pki'), now);
      const user = await cluster.leaf({
        file: 'u',
        commonName: 'admin',
        organizations: ['system:masters'],
        usages: ['client'],
      });
      assert.equal(await answers(urlOf(1), { ...tls, own: user }), false);
    },
  );

  const stop = new AbortController();
  const promoting = keepPromoting(
    { rpc: first.rpc, clock, log, onMembers: async () => undefined },
    stop.signal,
  );
  let second: Running | undefined;
  let third: (Running & { own: OwnMember }) | undefined;
  await context.test('two members join as learners, and vote once they have caught up', async () => {
    second = await joinAs(2);
    await assert.rejects(
      ask(3),
      (error) => error instanceof JoinBusyError && /is joining/.test(error.message),
    );
    await serving(second);
    third = await joinAs(3);
    await serving(third);
    const members = await knownMembers(await first.rpc.list(), tls);
    assert.deepEqual(
      members.map(({ name, isLearner, answers }) => [name, isLearner, answers]).sort(),
      [1, 2, 3].map((number) => [`m${number}`, false, true]),
    );
  });

  await context.test('the other members continue without the first one', async () => {
    stop.abort();
    await promoting;
    await store.create('/registry/shared', Buffer.from('2'));
    await first.etcd.stop();
    assert.ok(third);
    const other = await storeOf(third);
    assert.equal((await other.get('/registry/shared'))?.value.toString(), '2');
    await other.create('/registry/without', Buffer.from('3'));
    await other.close();
  });

  await context.test(
    'the last member continues alone, with all its data and far higher revisions',
    async () => {
      assert.ok(second && third);
      const before = (await third.rpc.list()).clusterId;
      await Promise.all([second.etcd.stop(), third.etcd.stop()]);
      const tls = await peerTlsOf(third.etcdDir, third.own, clock);
      assert.equal(await answers(urlOf(2), tls), false);
      const { etcdDir } = third;
      const options = {
        etcdDir,
        etcdBinary: binary,
        exec: systemExec,
        clock,
        signal: AbortSignal.timeout(60_000),
      };
      await recover(options);
      const alone = await start('m3');
      await serving(alone);
      const { members, clusterId: after } = await alone.rpc.list();
      assert.deepEqual(
        members.map(({ peerUrl }) => peerUrl),
        ['unix://peer:0'],
      );
      assert.notEqual(after, before);
      const last = await storeOf(alone);
      assert.equal((await last.get('/registry/without'))?.value.toString(), '3');
      assert.ok((await last.currentRevision()) > 1_000_000_000);
      await last.close();
    },
  );
});

test('a recovery that has begun is finished after an interruption at each step', async () => {
  const states: readonly (readonly string[])[] = [
    ['recovering', 'data', 'data.recovered', 'peers'],
    ['recovering', 'data.recovered', 'peers'],
    ['recovering', 'data', 'peers'],
    ['recovering', 'data'],
  ];
  for (const [index, state] of states.entries()) {
    const etcdDir = join(folder, `interrupted-${index}`);
    await mkdir(etcdDir);
    for (const name of state.slice(1)) await mkdir(join(etcdDir, name));
    await writeFile(join(etcdDir, 'recovering'), '');
    // The data that are kept in the end are the recovered ones, which alone have this file.
    const whole = state.includes('data.recovered') ? 'data.recovered' : 'data';
    await writeFile(join(etcdDir, whole, 'whole'), '');
    assert.equal(await finishRecovery(etcdDir, 7), true);
    assert.ok(existsSync(join(etcdDir, 'data/whole')), state.join());
    for (const gone of ['recovering', 'data.recovered', 'peers'])
      assert.ok(!existsSync(join(etcdDir, gone)), gone);
    assert.equal(await finishRecovery(etcdDir, 8), false);
  }
});
