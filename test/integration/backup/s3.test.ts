/** Backups in a bucket of a real S3 server, also over connections that break. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { BackupError, backupFileName, type Manifest } from '../../../src/backup/manifest.ts';
import { bucketStore, objectSource } from '../../../src/backup/s3/bucket-store.ts';
import { S3Client, type S3Options } from '../../../src/backup/s3/client.ts';
import { parseBucketLocation } from '../../../src/backup/s3/location.ts';
import { scheduleBackups } from '../../../src/backup/scheduled.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { rfc3339 } from '../../../src/base/time.ts';
import { issueCertificate } from '../../../src/pki/x509.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import {
  type Fault,
  type FaultyProxy,
  type ProxiedRequest,
  startFaultyProxy,
} from '../../fixtures/faulty-proxy.ts';
import {
  type S3Server,
  s3Account,
  s3Region,
  startS3Server,
  unlessS3Server,
} from '../../fixtures/s3-server.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { backupWorld } from '../../unit/backup/backup-world.ts';

/** Real time, but without the delays between attempts. */
const hasty: Clock = {
  ...systemClock,
  after: (ms, fn) => systemClock.after(ms >= 10_000 ? ms : ms / 50, fn),
};

describe('a bucket', { skip: unlessS3Server }, () => {
  let server: S3Server;
  let proxies: FaultyProxy[];
  let directory: string;
  let bucket: string;
  let count = 0;

  before(async () => {
    server = await startS3Server();
  });
  after(() => server.stop());
  beforeEach(async () => {
    proxies = [];
    directory = await mkdtemp(join(tmpdir(), 'minik8s-bucket-'));
    bucket = `bucket-${count++}`;
    await server.bucket(bucket);
  });
  afterEach(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  const clientOf = (url: string, more: Partial<S3Options> = {}) =>
    new S3Client({
      ...{ endpoint: new URL(url), region: s3Region, pathStyle: true, ca: undefined },
      credentials: async () => ({ ...s3Account, sessionToken: undefined }),
      ...{ clock: hasty, random: new SeededRandom(1), ...more },
    });
  const folder = (prefix = 'a folder/of backups') => parseBucketLocation(`s3://${bucket}/${prefix}`);
  const storeOf = (url = server.url, more: Partial<S3Options> = {}) =>
    bucketStore(clientOf(url, more), folder());

  async function proxied(faultOf: (request: ProxiedRequest, index: number) => Fault | Promise<Fault>) {
    const proxy = await startFaultyProxy(server.url, faultOf);
    proxies.push(proxy);
    return proxy;
  }

  const name = 'minik8s-2026-11-29T09-17-29Z.tar.zst.age';
  const add = (store: ReturnType<typeof bucketStore>, content: Buffer, signal?: AbortSignal) =>
    store.add(name, {
      write: async (path) => {
        await writeFile(path, content);
        return content.length;
      },
      scratch: directory,
      ...(signal && { signal }),
    });
  async function read(url = server.url, more: Partial<S3Options> = {}) {
    const location = parseBucketLocation(`s3://${bucket}/a folder/of backups/${name}`);
    const parts: Uint8Array[] = [];
    for await (const part of objectSource(clientOf(url, more), location).read()) parts.push(part);
    return Buffer.concat(parts);
  }
  /** Returns the files of all uploads that are not complete. */
  const leftParts = async () => {
    const all = await readdir(await server.bucket(bucket), { recursive: true, withFileTypes: true });
    return all.filter((entry) => entry.isFile()).map((entry) => entry.name);
  };
  async function rejection(promise: Promise<unknown>): Promise<string> {
    try {
      await promise;
    } catch (error) {
      assert.ok(error instanceof BackupError, String(error));
      assert.ok(!error.message.includes('\n') && !error.message.includes(s3Account.secretAccessKey));
      return error.message;
    }
    return assert.fail('it was accepted');
  }

  for (const [what, size] of Object.entries({ 'one request': 70_001, 'several parts': 20_000_003 }))
    test(`a backup is stored in ${what}, listed with its size, read back identically, and removed`, async () => {
      const store = storeOf();
      const content = randomBytes(size);
      await store.prepare();
      assert.deepEqual(await store.list(), []);
      assert.equal(await add(store, content), size);
      assert.deepEqual(await store.list(), [{ name, size }]);
      assert.equal(store.pathOf(name), `s3://${bucket}/a folder/of backups/${name}`);
      assert.ok(content.equals(await read()));
      await store.remove(name);
      assert.deepEqual(await store.list(), []);
    });

  test('none of 1,500 other objects with similar names is listed', async () => {
    const path = join(await server.bucket(bucket), 'a folder/of backups');
    await mkdir(join(path, 'minik8s-deeper'), { recursive: true });
    const others = [
      'minik8s-x y',
      'minik8s-..',
      `minik8s-deeper/${name}`,
      'MINIK8S-2026-11-29T09-17-29Z.tar.zst',
    ];
    for (const other of others) await writeFile(join(path, other), 'x');
    for (let n = 0; n < 1_500; n++) await writeFile(join(path, `minik8s-2026-${n}.tar.zst`), 'x');
    await writeFile(join(path, 'minik8s-2026-99-late'), 'x');
    const proxy = await proxied(() => undefined);
    const store = storeOf(proxy.url);
    await add(store, Buffer.from('the backup'));
    assert.deepEqual(await store.list(), [{ name, size: 10 }]);
    const pages = proxy.requests.filter(({ path: each }) => each.includes('list-type=2'));
    assert.ok(pages.length >= 2, `${pages.length} pages`);
  });

  test('an upload whose connection is cut leaves no object and no parts', async () => {
    for (const size of [100_000, 20_000_003]) {
      const proxy = await proxied(({ method, path }) =>
        method === 'PUT' && !path.includes('partNumber=1&')
          ? { kind: 'cut request', after: 50_000 }
          : undefined,
      );
      const message = await rejection(add(storeOf(proxy.url), randomBytes(size)));
      assert.match(
        message,
        /^s3:\/\/bucket-\d+\/.* cannot be reached \(.+\): start it, or correct --backup-s3-endpoint$/,
      );
      assert.deepEqual(await storeOf().list(), []);
      assert.deepEqual(await leftParts(), []);
    }
  });

  test('an upload that is stopped leaves no object and no parts', async () => {
    const stop = new AbortController();
    const proxy = await proxied(({ path }) => {
      if (path.includes('partNumber=2')) stop.abort();
      return undefined;
    });
    await assert.rejects(add(storeOf(proxy.url), randomBytes(20_000_003), stop.signal), {
      name: 'AbortError',
    });
    assert.deepEqual(await leftParts(), []);
  });

  test('an object that the server stored with another size is removed', async () => {
    const proxy = await proxied(({ method }) =>
      method === 'HEAD'
        ? { kind: 'answer', status: 200, headers: { etag: '"x"', 'content-length': '5' } }
        : undefined,
    );
    const message = await rejection(add(storeOf(proxy.url), Buffer.from('content')));
    assert.match(message, /the server stored 5 bytes of 7/);
    assert.deepEqual(await storeOf().list(), []);
  });

  test('a completion that fails with status 200 is a failure', async () => {
    const proxy = await proxied(({ method, path }) =>
      method === 'POST' && path.includes('uploadId')
        ? {
            kind: 'answer',
            status: 200,
            body: '<?xml version="1.0"?><Error><Code>InternalError</Code></Error>',
          }
        : undefined,
    );
    await rejection(add(storeOf(proxy.url), randomBytes(9_000_000)));
    assert.deepEqual(await leftParts(), []);
  });

  test('reading continues after a connection that was cut, and one that is silent', async () => {
    const content = randomBytes(3_000_000);
    await add(storeOf(), content);
    const kinds = ['cut answer', 'stall answer'] as const;
    let gets = 0;
    const proxy = await proxied(({ method }) => {
      const kind = method === 'GET' ? kinds[gets++] : undefined;
      return kind && { kind, after: 500_000 };
    });
    assert.ok(content.equals(await read(proxy.url, { idleMs: 300 })));
    // A busy machine may be silent once more.
    assert.ok(gets >= 3, `${gets} requests`);
  });

  test('an object whose end never arrives is an error, and not a shorter backup', async () => {
    await add(storeOf(), randomBytes(1_000_000));
    const proxy = await proxied(({ method }) =>
      method === 'GET' ? { kind: 'cut answer', after: 100_000 } : undefined,
    );
    assert.match(await rejection(read(proxy.url)), /the connection ended after 600000 of 1000000 bytes/);
  });

  test('a server that accepts connections but does not answer is an error after some attempts', async () => {
    const proxy = await proxied(() => new Promise<undefined>(() => undefined));
    const message = await rejection(storeOf(proxy.url, { idleMs: 100 }).list());
    assert.match(message, /cannot be reached \(no byte was sent or received for 0\.1 seconds\)/);
    assert.equal(proxy.requests.length, 4);
  });

  test('an object that is replaced while it is read is an error', async () => {
    await add(storeOf(), randomBytes(1_000_000));
    let gets = 0;
    const proxy = await proxied(async ({ method }) => {
      if (method !== 'GET') return undefined;
      if (++gets === 2) await add(storeOf(), randomBytes(1_000_000));
      return { kind: 'cut answer', after: 100_000 };
    });
    assert.match(
      await rejection(read(proxy.url)),
      /was replaced or removed while it was read: run this again/,
    );
  });

  test('a redirect is not followed', async () => {
    const other = await proxied(() => undefined);
    for (const status of [301, 307, 308]) {
      const headers = { location: `${other.url}/elsewhere` };
      const proxy = await proxied(() => ({ kind: 'answer', status, headers }));
      const message = await rejection(storeOf(proxy.url).list());
      assert.match(message, /the server redirects to 127\.0\.0\.1:\d+, which is not followed/);
    }
    assert.deepEqual(other.requests, []);
  });

  test('a busy server is retried', async () => {
    const proxy = await proxied((_, index) => (index < 2 ? { kind: 'answer', status: 503 } : undefined));
    assert.deepEqual(await storeOf(proxy.url).list(), []);
    const busy = await proxied(() => ({ kind: 'answer', status: 503 }));
    assert.match(await rejection(storeOf(busy.url).list()), /the server answered 503: try again later/);
    assert.equal(busy.requests.length, 4);
  });

  test('each wrong setting is reported in one line with the remedy', async () => {
    const account = (more: Partial<typeof s3Account>) => ({
      credentials: async () => ({ ...s3Account, ...(more as typeof s3Account), sessionToken: undefined }),
    });
    const listed = (more: Partial<S3Options>, url = server.url) => rejection(storeOf(url, more).list());
    const wrongKey = account({ accessKeyId: 'nobody' as 'test-access' });
    assert.match(await listed(wrongKey), /does not know the access key: correct the credentials/);
    const wrongSecret = account({ secretAccessKey: 'another' as 'a-secret-of-tests' });
    assert.match(await listed(wrongSecret), /signature is not accepted: correct the secret access key/);
    assert.match(
      await listed({ region: 'us-west-2' }),
      /the bucket is in the region eu-central-1, not us-west-2: give --backup-s3-region eu-central-1/,
    );
    const late: Clock = { ...hasty, now: () => Date.now() + 3_600_000 };
    assert.match(
      await listed({ clock: late }),
      /clocks .* differ too much \(60 minutes\): set this machine's clock/,
    );
    assert.match(await listed({}, 'http://127.0.0.1:1'), /127\.0\.0\.1:1 cannot be reached \(.*ECONNREFUSED/);
    assert.match(await listed({}, server.url.replace('http:', 'https:')), /does not speak TLS/);
    const none = bucketStore(clientOf(server.url), parseBucketLocation('s3://no-such-bucket/x'));
    assert.match(
      await rejection(none.prepare()),
      /^s3:\/\/no-such-bucket: there is no such bucket: create it/,
    );
    assert.match(await rejection(read()), /there is no such bucket or object; minik8s backup list shows/);
    const web = await proxied(() => ({ kind: 'answer', status: 200, body: '<html>Welcome</html>' }));
    assert.match(await listed({}, web.url), /cannot be read: is it an S3 endpoint/);
  });

  test('two masters that write to one place in the same second store two backups', async () => {
    const world = backupWorld();
    try {
      const store = storeOf();
      const masters = [1, 2].map((seed) =>
        world.create(world.makeData(`master-${seed}`, 'a'.repeat(seed)), {
          store,
          random: new SeededRandom(seed),
        }),
      );
      const [first, second] = await Promise.all(masters);
      assert.ok(first && second);
      const listed = (await store.list()).map(({ name }) => store.pathOf(name));
      assert.deepEqual(listed.sort(), [first.path, second.path].sort());
      // A failed upload removes its object: it must not be that of the other master.
      assert.equal(new Set(listed).size, 2);
    } finally {
      world.remove();
    }
  });

  test('a master creates backups at the interval, keeps the newest, and removes nothing else', async () => {
    const store = storeOf();
    const others = ['minik8s-2020-01-01T00-00-00Z.tar.zst.bak', 'minik8s-2020-01-01T00-00-00Z.tar'];
    const path = join(await server.bucket(bucket), 'a folder/of backups');
    await mkdir(path, { recursive: true });
    for (const other of others) await writeFile(join(path, other), 'x');
    const stop = new AbortController();
    const reports: string[] = [];
    const create = async () => {
      const file = backupFileName(rfc3339(Date.now()), 'x4k2p', false);
      const write = (to: string) => writeFile(to, 'backup').then(() => 6);
      const size = await store.add(file, { write, scratch: directory });
      return { path: store.pathOf(file), size, manifest: { keys: 1, revision: 2 } as Manifest };
    };
    const report = (outcome: string, message: string) => {
      reports.push(`${outcome} ${message}`);
      if (reports.length === 4) stop.abort();
    };
    const clock: Clock = { ...systemClock, after: (ms, fn) => systemClock.after(Math.min(ms, 1_100), fn) };
    const rest = { store, keep: 2, create, report, clock, random: new SeededRandom(1), log: silentLogger };
    await scheduleBackups({ intervalMs: 1_000, ...rest }, stop.signal);
    for (const each of reports)
      assert.match(each, /^BackupCreated s3:\/\/bucket-\d+\/a folder\/of backups\/minik8s-\S+: 1 keys/);
    assert.deepEqual(
      (await store.list()).length,
      2 + 1,
      'two are kept, and the last one was added before the end',
    );
    assert.deepEqual((await readdir(path)).filter((each) => others.includes(each)).length, 2);
  });

  test('bytes that were changed in transit are not stored', async () => {
    const proxy = await proxied(({ method }) => (method === 'PUT' ? { kind: 'change request' } : undefined));
    for (const size of [100, 9_000_000]) {
      const message = await rejection(add(storeOf(proxy.url), randomBytes(size)));
      assert.match(message, /the bytes were changed on their way/);
      assert.deepEqual(await leftParts(), []);
    }
  });

  test('a private authority is required, and sufficient, for a certificate that it signed', async () => {
    const now = Date.now();
    const validity = { notBefore: now - 3_600_000, notAfter: now + 3_600_000 };
    const [authority, other] = await Promise.all([testAuthority(), testAuthority()]);
    const about = { commonName: 'server', usages: ['server'] as const, ...validity };
    const pair = await issueCertificate(authority, { ...about, hosts: ['127.0.0.1'] });
    const [cert, key] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
    await Promise.all([writeFile(cert, pair.certificate), writeFile(key, pair.key)]);
    const secure = await startS3Server({ tls: { cert, key } });
    try {
      await secure.bucket(bucket);
      assert.deepEqual(await storeOf(secure.url, { ca: authority.certificate }).list(), []);
      for (const ca of [undefined, other.certificate])
        assert.match(
          await rejection(storeOf(secure.url, { ca }).list()),
          /has a certificate, which no known authority signed: give its authority with --backup-s3-ca-file$/,
        );
    } finally {
      await secure.stop();
    }
  });
});
