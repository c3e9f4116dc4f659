/** Backups in a bucket of a server that lies: nothing is believed, nothing goes on without an end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { BackupError } from '../../../src/backup/manifest.ts';
import { bucketStore, objectSource } from '../../../src/backup/s3/bucket-store.ts';
import { S3Client } from '../../../src/backup/s3/client.ts';
import { parseBucketLocation } from '../../../src/backup/s3/location.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

/** Real time, but fifty times as fast. */
const hasty: Clock = { ...systemClock, after: (ms, fn) => systemClock.after(ms / 50, fn) };
const secret = 'the-secret-access-key';
const name = 'minik8s-2026-11-29T09-17-29Z.tar.zst';

type Lie = (request: http.IncomingMessage, response: http.ServerResponse) => void;

let server: http.Server;
let lie: Lie;
let asked: { readonly url: string; readonly headers: http.IncomingHttpHeaders }[];
let directory: string;

beforeEach(async () => {
  asked = [];
  directory = await mkdtemp(join(tmpdir(), 'minik8s-lying-'));
  server = http.createServer((request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers });
    response.on('error', () => undefined);
    request.resume().once('end', () => lie(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  await rm(directory, { recursive: true, force: true });
});

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const client = () =>
  new S3Client({
    ...{ endpoint: new URL(url()), region: 'us-east-1', pathStyle: true, ca: undefined },
    credentials: async () => ({
      ...{ accessKeyId: 'key', secretAccessKey: secret, sessionToken: undefined },
    }),
    ...{ clock: hasty, random: new SeededRandom(1) },
  });
const store = () => bucketStore(client(), parseBucketLocation('s3://bucket/prefix'));
const add = () =>
  store().add(name, {
    write: async (path) => {
      await writeFile(path, 'content');
      return 7;
    },
    scratch: directory,
  });

async function read(): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const source = objectSource(client(), parseBucketLocation(`s3://bucket/prefix/${name}`));
  for await (const part of source.read()) parts.push(part);
  return Buffer.concat(parts);
}

/** Resolves to the one line of a rejection, which has no secret. */
async function rejection(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => assert.fail('it was accepted'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof BackupError, String(error));
  assert.ok(!error.message.includes('\n') && !error.message.includes(secret));
  return error.message;
}

const contents = (key: string, size = '7') => `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`;
const page = (more: string) => `<ListBucketResult>${more}</ListBucketResult>`;
const next = (token: string) =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;

/** Sends bytes until the client ends the connection. */
function endless(response: http.ServerResponse, part: string | Buffer): void {
  const more = () => {
    if (!response.destroyed && response.write(part)) setImmediate(more);
  };
  response.on('drain', more);
  more();
}

/** Answers HEAD as S3 does, and everything else as the test says. */
const withHead =
  (size: number, others: Lie): Lie =>
  (request, response) => {
    if (request.method !== 'HEAD') return others(request, response);
    response.writeHead(200, { etag: '"tag"', 'content-length': String(size) }).end();
  };

test('an object whose body never ends is an error after the bytes that it has', async () => {
  lie = withHead(1_000, (_, response) => {
    response.writeHead(206, { etag: '"tag"' });
    endless(response, Buffer.alloc(700));
  });
  assert.match(await rejection(read()), /the server's answer to GET, longer than the object, cannot be read/);
});

test('an object that is cut at each connection is an error', async () => {
  lie = withHead(1_000_000, (_, response) => {
    response.writeHead(206, { etag: '"tag"', 'content-length': '1000000' });
    response.write(Buffer.alloc(10), () => response.destroy());
  });
  assert.match(await rejection(read()), /the connection ended after \d+ of 1000000 bytes/);
});

test('an object with another tag than the one that HEAD has named is an error', async () => {
  lie = withHead(4, (_, response) => response.writeHead(206, { etag: '"other"' }).end('abcd'));
  assert.match(await rejection(read()), /the object was replaced while it was read/);
});

for (const length of ['1e3', '-1', '99999999999999999999'])
  test(`an object with the length ${length} is an error`, async () => {
    lie = (_, response) => {
      // Node's own server would not send such a header.
      response.socket?.end(`HTTP/1.1 200 OK\r\netag: "tag"\r\ncontent-length: ${length}\r\n\r\n`);
    };
    await rejection(read());
  });

test('a list that repeats its page ends with an error, and not with the same request again', async () => {
  lie = (_, response) => response.end(page(`${next('same')}${contents(`prefix/${name}`)}`));
  assert.match(await rejection(store().list()), /the server's answer to a list cannot be read/);
  assert.equal(asked.length, 2);
});

test('a list without an end is an error before it fills the memory', async () => {
  let count = 0;
  lie = (_, response) => {
    const objects = Array.from({ length: 2_000 }, () => contents(`prefix/minik8s-${count++}`));
    response.end(page(`${next(`t${count}`)}${objects.join('')}`));
  };
  assert.match(await rejection(store().list()), /more than 20000 objects .*: give another prefix$/);
});

test('a list that is cut in the middle is an error, and not a shorter list', async () => {
  const whole = page(`<IsTruncated>false</IsTruncated>${contents(`prefix/${name}`)}`);
  lie = (_, response) => {
    response.setHeader('connection', 'close');
    response.end(whole.slice(0, -20));
  };
  assert.match(await rejection(store().list()), /the server's answer to a list cannot be read/);
  lie = (_, response) => response.end(whole);
  assert.deepEqual(await store().list(), [{ name, size: 7 }]);
});

test('only names of backups directly in the folder are listed', async () => {
  const keys = [
    `prefix/../${name}`,
    `prefix/%2e%2e%2f${name}`,
    `prefix/minik8s-/../${name}`,
    `other/${name}`,
    `prefix/${name}/`,
    `prefix/${name}&#x0;`,
    `/etc/${name}`,
  ];
  lie = (_, response) => response.end(page(keys.map((key) => contents(key)).join('')));
  assert.deepEqual(await store().list(), []);
});

for (const size of ['', '-5', 'NaN', '1e9'])
  test(`a listed object with the size "${size}" is an error`, async () => {
    lie = (_, response) => response.end(page(contents(`prefix/${name}`, size)));
    assert.match(await rejection(store().list()), /the server's answer to a list cannot be read/);
  });

test('a refusal whose text never ends is reported by its status', async () => {
  lie = (_, response) => {
    response.writeHead(403);
    endless(response, 'x'.repeat(1_000));
  };
  assert.match(await rejection(store().list()), /access is denied: allow s3:ListBucket/);
  lie = withHead(4, (_, response) => {
    response.writeHead(403);
    response.write('<Error>');
  });
  assert.match(await rejection(read()), /access is denied: allow s3:GetObject/);
});

test('a text of success that never ends is an error', async () => {
  lie = (_, response) => endless(response, '<a>'.repeat(10_000));
  assert.match(await rejection(store().list()), /the answer is longer than \d+ bytes/);
});

test('the credentials do not follow a redirect', async () => {
  const other: http.IncomingHttpHeaders[] = [];
  const elsewhere = http.createServer((request, response) => {
    other.push(request.headers);
    response.end();
  });
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/x`;
  for (const status of [301, 302, 303, 307, 308]) {
    lie = (_, response) => response.writeHead(status, { location }).end();
    for (const act of [() => store().list(), add, read])
      assert.match(await rejection(act()), /redirects to 127\.0\.0\.1:\d+, which is not followed/);
  }
  elsewhere.close();
  assert.deepEqual(other, []);
});

test('an upload that the server only claims to have stored is an error', async () => {
  lie = (request, response) => {
    if (request.method === 'HEAD') response.writeHead(404).end();
    else response.writeHead(200).end('<Error><Code>InternalError</Code></Error>');
  };
  assert.match(await rejection(add()), /there is no such bucket or object/);
});

test('a server whose clock differs is named with the difference', async () => {
  lie = (_, response) => {
    response.setHeader('date', new Date(Date.now() + 7_200_000).toUTCString());
    response.writeHead(403).end('<Error><Code>RequestTimeTooSkewed</Code></Error>');
  };
  assert.match(
    await rejection(store().list()),
    /differ too much \((119|120) minutes\): set this machine's clock/,
  );
});
