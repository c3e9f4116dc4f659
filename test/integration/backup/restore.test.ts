/** Backups of a real etcd: created while it is written to, verified, and restored. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { createBackup } from '../../../src/backup/create.ts';
import { restoreBackup } from '../../../src/backup/restore.ts';
import { saveSnapshot } from '../../../src/backup/snapshot.ts';
import { fileSource } from '../../../src/backup/source.ts';
import { folderStore } from '../../../src/backup/store.ts';
import { verifyBackup } from '../../../src/backup/verify.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { startEmbeddedEtcd } from '../../../src/storage/embedded-etcd.ts';
import { connectEtcd, openRpc } from '../../../src/storage/etcd.ts';
import { CompactedError } from '../../../src/storage/store.ts';
import { startTestEtcd, type TestEtcd } from '../../conformance/etcd-server.ts';
import { insideEtcd } from '../../fixtures/etcd-binary.ts';

const network = { clock: systemClock, random: systemRandom, log: silentLogger };
const now = Date.UTC(2026, 10, 29, 9, 17, 29);

let running: TestEtcd;
let dataDir: string;
let configFile: string;

beforeEach(async () => {
  running = await startTestEtcd('etcd', { binary: insideEtcd });
  dataDir = running.directory;
  await mkdir(join(dataDir, 'pki'), { mode: 0o700 });
  await writeFile(join(dataDir, 'pki/ca.key'), 'the key\n');
  await writeFile(join(dataDir, 'pki/ca.crt'), 'the certificate\n');
  await writeFile(join(dataDir, 'pki/ca.crt.minik8s-1-0'), 'a draft\n');
  configFile = join(dataDir, 'master.yaml');
  await writeFile(configFile, 'port: 7443\n');
});
afterEach(() => running.stop());

const bytesOf = (n: number) => Buffer.from(JSON.stringify({ kind: 'ConfigMap', data: { n: String(n) } }));

async function write(from: number, to: number): Promise<void> {
  const store = await running.connect();
  for (let n = from; n < to; n++) await store.create(`/registry/configmaps/default/c${n}`, bytesOf(n));
  await store.close();
}

async function backUp(passphrase?: string, now_ = now) {
  const { endpoints, keepaliveMs } = running.etcd;
  const rpc = await openRpc({ endpoints, keepaliveMs, ...network });
  try {
    const [member] = rpc.members;
    assert.ok(member);
    return await createBackup({
      dataDir,
      configFile,
      store: folderStore(join(dataDir, 'backups')),
      passphrase,
      member,
      etcdBinary: insideEtcd,
      exec: systemExec,
      now: now_,
      random: { next: () => 0, uuid: () => '' },
    });
  } finally {
    rpc.close();
  }
}

const restore = (
  path: string,
  target: string,
  more: { passphrase?: string; replaces?: boolean; signal?: AbortSignal } = {},
  at = now,
) =>
  restoreBackup({
    source: fileSource(path),
    passphrase: more.passphrase,
    dataDir: target,
    configDirectory: join(target, 'etc'),
    replaces: more.replaces ?? false,
    etcdBinary: insideEtcd,
    exec: systemExec,
    now: at,
    ...(more.signal && { signal: more.signal }),
  });

/** Starts an etcd on the data of a directory. */
const etcdOf = (dir: string) =>
  startEmbeddedEtcd({
    ...{ binary: insideEtcd, earlierBinary: '/none', dataDir: dir },
    ...{ log: silentLogger, clock: systemClock, signal: new AbortController().signal },
  });

/** Starts an etcd on restored data and calls `use` with its store. */
async function served<T>(
  target: string,
  use: (store: Awaited<ReturnType<typeof connectEtcd>>) => Promise<T>,
) {
  const etcd = await etcdOf(join(target, 'etcd'));
  try {
    const store = await connectEtcd({ endpoints: etcd.endpoints, keepaliveMs: etcd.keepaliveMs, ...network });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } finally {
    await etcd.stop();
  }
}

test('a backup has all objects, the authority and the settings, and is restored with them', async () => {
  await write(0, 250);
  const { path, manifest } = await backUp('correct horse');
  assert.equal(path, join(dataDir, 'backups/minik8s-2026-11-29T09-17-29Z-bbbbb.tar.zst.age'));
  assert.deepEqual(Object.keys(manifest.members).sort(), [
    'config/master.yaml',
    'etcd.db',
    'pki/ca.crt',
    'pki/ca.key',
  ]);
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => name.includes('scratch')),
    [],
  );
  await write(250, 251);

  const target = join(dataDir, 'other');
  await mkdir(target);
  const restored = await restore(path, target, { passphrase: 'correct horse' });
  assert.equal(await readFile(join(target, 'pki/ca.key'), 'utf8'), 'the key\n');
  assert.equal((await stat(join(target, 'pki/ca.key'))).mode & 0o777, 0o600);
  assert.deepEqual(restored.configWritten, [join(target, 'etc/master.yaml')]);
  assert.equal(await readFile(join(target, 'etc/master.yaml'), 'utf8'), 'port: 7443\n');
  await served(target, async (store) => {
    const { items } = await store.list('/registry/configmaps/', {});
    assert.equal(items.length, 250);
    assert.deepEqual(JSON.parse(items.at(-1)?.value.toString() ?? ''), JSON.parse(bytesOf(99).toString()));
    // A client that has read writes after the backup must not mistake a later write for one of these.
    const revision = await store.create('/registry/configmaps/default/new', bytesOf(0));
    assert.ok(revision > manifest.revision + 1_000_000, `revision ${revision} after ${manifest.revision}`);
    const signal = AbortSignal.timeout(30_000);
    await assert.rejects(async () => {
      for await (const _ of store.watch('/registry/configmaps/', manifest.revision, signal)) break;
    }, CompactedError);
  });
});

test('a backup that is made during writes has the objects of one revision', async () => {
  await write(0, 20);
  const writing = write(20, 400);
  const { path, manifest } = await backUp();
  await writing;
  const target = join(dataDir, 'other');
  await mkdir(target);
  await restore(path, target);
  await served(target, async (store) => {
    const { items } = await store.list('/registry/configmaps/', {});
    const numbers = items.map(({ key }) => Number(/\d+$/.exec(key)?.[0])).sort((a, b) => a - b);
    assert.ok(numbers.length >= 20 && numbers.length <= 400);
    assert.deepEqual(numbers, [...numbers.keys()], 'no write is missing before one that exists');
    assert.ok(manifest.keys >= numbers.length);
  });
});

test('existing data are kept unless they are to be replaced, and then they are moved aside', async () => {
  await write(0, 3);
  const { path } = await backUp();
  await running.etcd.stop();
  await assert.rejects(restore(path, dataDir), /there is a cluster in .* already: give --replace/);
  const { movedTo, configWritten } = await restore(path, dataDir, { replaces: true });
  assert.deepEqual(
    movedTo,
    ['pki', 'etcd'].map((name) => join(dataDir, `${name}.before-restore-${now}`)),
  );
  assert.ok((await readdir(movedTo[1] ?? '')).includes('data'));
  await served(dataDir, async (store) => {
    assert.equal((await store.list('/registry/configmaps/', {})).items.length, 3);
  });
  assert.equal(configWritten.length, 1);
  const target = join(dataDir, 'more');
  await mkdir(join(target, 'etc'), { recursive: true });
  await writeFile(join(target, 'etc/master.yaml'), 'port: 1\n');
  assert.deepEqual((await restore(path, target)).configKept, [join(target, 'etc/master.yaml')]);
  assert.equal(await readFile(join(target, 'etc/master.yaml'), 'utf8'), 'port: 1\n');
});

test('each restoration continues above the revisions of the previous one, also with the same backup', async () => {
  await write(0, 3);
  const { path } = await backUp();
  const written: number[] = [];
  for (const [index, name] of ['one', 'two'].entries()) {
    const target = join(dataDir, name);
    await mkdir(target);
    await restore(path, target, {}, now + index * 1000);
    await served(target, async (store) => {
      for (let n = 0; n < 20; n++)
        written.push(await store.create(`/registry/configmaps/default/new${n}`, bytesOf(n)));
    });
  }
  assert.deepEqual(
    written,
    written.toSorted((a, b) => a - b),
  );
});

test('a cluster that was restored, with deleted objects, is backed up and verified again', async () => {
  await write(0, 10);
  const store = await running.connect();
  const stored = await store.get('/registry/configmaps/default/c3');
  await store.delete('/registry/configmaps/default/c3', stored?.revision ?? 0);
  await store.close();
  const { path, manifest } = await backUp();
  assert.equal((await verify(path)).keys, manifest.keys);
  await running.etcd.stop();
  await restore(path, dataDir, { replaces: true });
  const etcd = await etcdOf(join(dataDir, 'etcd'));
  try {
    // Resolves when etcd answers.
    await (await running.connect(etcd.endpoints[0])).close();
    const again = await backUp(undefined, now + 1000);
    assert.equal(again.manifest.keys, manifest.keys);
    assert.equal((await verify(again.path)).keys, manifest.keys);
  } finally {
    await etcd.stop();
  }
});

test('an interrupted restoration begins again, and never mixes the data of two clusters', async () => {
  await write(0, 3);
  const { path } = await backUp();
  const target = join(dataDir, 'other');
  await mkdir(join(target, 'etcd'), { recursive: true });
  await writeFile(join(target, 'restoring'), '');
  await restore(path, target);
  assert.deepEqual((await readdir(target)).sort(), ['etc', 'etcd', `etcd.before-restore-${now}`, 'pki']);
  await served(target, async (store) => {
    assert.equal((await store.list('/registry/configmaps/')).items.length, 3);
  });
});

test('a folder that cannot be replaced is refused before anything is moved', async () => {
  await write(0, 3);
  const { path } = await backUp();
  const target = join(dataDir, 'other');
  await mkdir(join(target, 'pki'), { recursive: true });
  await symlink('/nonexistent', join(target, 'etcd'));
  await assert.rejects(restore(path, target, { replaces: true }), /other\/etcd is a mount point or a link/);
  assert.deepEqual((await readdir(target)).sort(), ['etcd', 'pki']);
});

test('a data directory that is a link to another disk is restored there', async (context) => {
  await write(0, 3);
  const { path } = await backUp();
  const disk = await mkdtemp('/dev/shm/minik8s-restore-');
  context.after(() => rm(disk, { recursive: true, force: true }));
  const target = join(dataDir, 'linked');
  await symlink(disk, target);
  await mkdir(join(disk, 'pki'));
  await restore(path, target, { replaces: true });
  assert.equal(await readFile(join(disk, 'pki/ca.key'), 'utf8'), 'the key\n');
});

test('a restoration that the user stops changes nothing', async () => {
  await write(0, 3);
  const { path } = await backUp();
  const target = join(dataDir, 'other');
  await mkdir(target);
  const signal = AbortSignal.abort(new Error('stopped'));
  await assert.rejects(restore(path, target, { signal }), /^Error: stopped$/);
  assert.deepEqual(await readdir(target), []);
});

const verify = (path: string, check: (key: string, value: Buffer) => void = () => undefined) =>
  verifyBackup({
    ...{ source: fileSource(path), workIn: dirname(path), passphrase: undefined, check },
    ...{ etcdBinary: insideEtcd, exec: systemExec },
    ...network,
    signal: new AbortController().signal,
  });

test('verification reads every object, and names a damaged one', async () => {
  await write(0, 250);
  const { path, manifest } = await backUp();
  const seen = new Set<string>();
  const { keys } = await verify(path, (key, value) => {
    seen.add(key);
    if (key.startsWith('/registry/configmaps/')) JSON.parse(value.toString());
  });
  assert.equal(keys, manifest.keys);
  assert.equal([...seen].filter((key) => key.startsWith('/registry/configmaps/')).length, 250);
  await assert.rejects(
    verify(path, (key) => {
      if (key.endsWith('c17')) throw new Error('no kind');
    }),
    /the backup is damaged: \/registry\/configmaps\/default\/c17 is no object \(no kind\)/,
  );
  assert.deepEqual((await readdir(join(dataDir, 'backups'))).length, 1, 'no copies are left');
});

test('a snapshot that ends early or is changed in transit is rejected', async () => {
  const { endpoints, keepaliveMs } = running.etcd;
  const rpc = await openRpc({ endpoints, keepaliveMs, ...network });
  const parts: Buffer[] = [];
  for await (const part of rpc.members[0]?.snapshot() ?? []) parts.push(part);
  rpc.close();
  const whole = Buffer.concat(parts);
  const changed = Buffer.from(whole);
  changed.writeUInt8(changed.readUInt8(9_000) ^ 1, 9_000);
  const from = (content: Buffer) => ({
    async *snapshot() {
      for (let at = 0; at < content.length; at += 10_000) yield content.subarray(at, at + 10_000);
    },
  });
  const saved = await saveSnapshot(from(whole), join(dataDir, 'whole'));
  assert.equal(saved.size, whole.length);
  for (const [name, content] of Object.entries({
    short: whole.subarray(0, -10),
    changed,
    empty: Buffer.alloc(0),
  }))
    await assert.rejects(saveSnapshot(from(content), join(dataDir, name)), /incomplete snapshot/, name);
});
