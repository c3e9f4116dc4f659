/** The identity of a member on disk, and the certificates of the peers. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  etcdPeersOf,
  openPeerCredentials,
  otherMembersOf,
  peerLeaf,
  readOwnMember,
  writeOwnMember,
} from '../../../src/masters/member-folder.ts';

const member = {
  ...{ name: 'm2', peerUrl: 'https://192.0.2.2:2380', clusterId: 'c', memberId: '2' },
  initialCluster: 'm1.1=https://192.0.2.1:2380,m2=https://192.0.2.2:2380,.3=https://192.0.2.3:2380',
};

async function inFolder(work: (etcdDir: string) => Promise<void>): Promise<void> {
  const etcdDir = await mkdtemp(join(tmpdir(), 'minik8s-peers-'));
  try {
    await work(etcdDir);
  } finally {
    await rm(etcdDir, { recursive: true });
  }
}

test('an etcd without other members has no stored member', () =>
  inFolder(async (etcdDir) => assert.equal(await readOwnMember(etcdDir), undefined)));

test('a stored member is read, and a damaged one is an error with advice', () =>
  inFolder(async (etcdDir) => {
    await mkdir(join(etcdDir, 'peers'));
    await writeOwnMember(etcdDir, member);
    assert.deepEqual(await readOwnMember(etcdDir), member);
    const file = join(etcdDir, 'peers/member.json');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    for (const text of ['', 'null', '{"name":"m2"}', JSON.stringify({ ...member, peerUrl: 'x' })]) {
      await writeFile(file, text);
      await assert.rejects(readOwnMember(etcdDir), /member\.json is damaged: move \S+ away and join again/);
    }
  }));

test('the other members are those with another address, under the names in etcd', () => {
  assert.deepEqual(otherMembersOf(member), [
    { name: 'm1', peerUrl: 'https://192.0.2.1:2380' },
    { name: '', peerUrl: 'https://192.0.2.3:2380' },
  ]);
  assert.deepEqual(otherMembersOf({ ...member, initialCluster: 'm2.cafe=https://192.0.2.2:2380' }), []);
});

test('peers have an authority of their own, which a joining master adopts', () =>
  inFolder(async (first) => {
    const now = () => Date.now();
    const { authority, leaf } = await openPeerCredentials(first, now);
    const certificate = new X509Certificate((await leaf(peerLeaf(member))).certificate);
    assert.equal(certificate.checkIP('192.0.2.2'), '192.0.2.2');
    assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
    const { cert, key, ca } = etcdPeersOf(first, member);
    assert.equal((await stat(key)).mode & 0o777, 0o600);
    assert.match(await readFile(cert, 'utf8'), /BEGIN CERTIFICATE/);
    assert.equal(await readFile(ca, 'utf8'), authority.certificate);
    assert.deepEqual((await openPeerCredentials(first, now)).authority, authority, 'it is kept');
    await inFolder(async (second) => {
      assert.deepEqual((await openPeerCredentials(second, now, authority)).authority, authority);
      assert.deepEqual((await openPeerCredentials(second, now)).authority, authority);
    });
  }));
