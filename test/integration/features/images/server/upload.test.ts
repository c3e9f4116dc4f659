/** Uploads of images to the real API server, with their blobs on a real disk. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readImageArchive } from '../../../../../src/docker/image-archive-reader.ts';
import type { Image } from '../../../../../src/features/images/api/image.ts';
import { objectNameOf } from '../../../../../src/features/images/api/image-name.ts';
import { DiskImageStore } from '../../../../../src/roles/master/image-store.ts';
import { startTestServer, type TestServer } from '../../../../fixtures/api-server.ts';
import { digestOf, layerWith, type SmallImage, smallImage } from '../../../../fixtures/small-image.ts';

const images = '/apis/minik8s.io/v1/images';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
let directory = '';
let server: TestServer;
let room = 1e12;

const newStore = () =>
  new DiskImageStore({
    directory,
    master: '10.0.0.1:6443',
    readRoom: async () => ({ size: 1e12, available: room }),
  });

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-images-'));
  server = await startTestServer({ imageStore: newStore() });
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const full = (name: string) => `docker.io/library/${name}:1`;
const pathOf = (name: string) => `${images}/${objectNameOf(full(name))}`;
const declare = (name: string, { content }: SmallImage, image = full(name)) =>
  server.call('POST', images, { metadata: { name: objectNameOf(image) }, spec: { image, ...content } });
const received = async (name: string) => {
  const answer = await server.call('GET', `${pathOf(name)}/upload`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json<{ received: Record<string, number> }>().received;
};
const put = (name: string, digest: string, offset: number, piece: Buffer, sum = piece) => {
  const value = createHash('sha256').update(sum).digest('base64');
  const headers = { 'content-digest': `sha-256=:${value}:`, 'content-type': 'application/octet-stream' };
  const path = `${pathOf(name)}/upload/${digest.replace('sha256:', '')}?offset=${offset}`;
  return server.call('PUT', path, piece, { headers });
};
const finish = (name: string) => server.call('POST', `${pathOf(name)}/upload`);
const putAll = async (name: string, { blobs }: SmallImage) => {
  for (const [digest, bytes] of blobs) {
    const answer = await put(name, digest, 0, bytes);
    assert.equal(answer.status, 200, answer.text);
  }
};
const upload = async (name: string, image: SmallImage) => {
  const created = await declare(name, image);
  assert.equal(created.status, 201, created.text);
  await received(name);
  await putAll(name, image);
  const ended = await finish(name);
  assert.equal(ended.status, 200, ended.text);
  return ended.json<Image>();
};

test('an uploaded image is held by this master, and its archive has exactly its blobs', async () => {
  const image = smallImage([layerWith('one'), layerWith('two')]);
  const held = await upload('whole', image);
  const digest = image.content.config.digest;
  assert.deepEqual(held.status?.masters, { '10.0.0.1:6443': digest });
  assert.deepEqual(held.status?.content, image.content);
  const archive = await server.call('GET', `${pathOf('whole')}/archive`);
  assert.equal(archive.status, 200);
  const fetched = await server.handlerFor({ name: 'admin', groups: ['system:masters'] })(
    new Request(`https://master${pathOf('whole')}/archive`),
  );
  const [read] = await readImageArchive(fetched.body as unknown as AsyncIterable<Uint8Array>);
  assert.equal(read?.config.digest, digest);
  assert.deepEqual(
    read?.layers.map((layer) => layer.digest),
    image.content.layers.map((layer) => layer.digest),
  );
});

test('an upload continues from the interruption, after a restart of the master too', async () => {
  const layer = layerWith('x'.repeat(3000));
  const image = smallImage([layer]);
  assert.equal((await declare('cut', image)).status, 201);
  assert.equal((await put('cut', digestOf(layer), 0, layer.subarray(0, 1000))).status, 200);
  const blob = { digest: digestOf(layer), size: layer.length };
  assert.equal(await newStore().received(blob), 1000);
  assert.equal((await received('cut'))[digestOf(layer)], 1000);
  const wrong = await put('cut', digestOf(layer), 0, layer.subarray(0, 1000));
  assert.equal(wrong.status, 409);
  assert.match(wrong.text, /1000 bytes of sha256:\w+ have arrived: continue there/);
  const early = await finish('cut');
  assert.equal(early.status, 409, early.text);
  assert.equal((await put('cut', digestOf(layer), 1000, layer.subarray(1000))).status, 200);
  assert.equal(
    (await put('cut', image.content.config.digest, 0, [...image.blobs.values()][0] as Buffer)).status,
    200,
  );
  assert.equal((await finish('cut')).status, 200);
});

test('bytes with another digest are refused, and the upload of the blob begins again', async () => {
  const layer = layerWith('right');
  const image = smallImage([layer]);
  await declare('lie', image);
  const damaged = await put('lie', digestOf(layer), 0, layer, layerWith('other'));
  assert.equal(damaged.status, 400);
  assert.match(damaged.text, /damaged on its way/);
  const lie = layerWith('wrong');
  assert.equal(lie.length, layer.length);
  const answer = await put('lie', digestOf(layer), 0, lie);
  assert.equal(answer.status, 400);
  assert.match(answer.text, /the bytes that arrived have the digest/);
  assert.equal((await received('lie'))[digestOf(layer)], 0);
});

test('a layer with a sparse file, or one that is not an archive, is refused', async () => {
  const sparse = layerWith('1');
  sparse[156] = 'S'.charCodeAt(0);
  sparse.fill(' ', 148, 156);
  const sum = sparse.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  sparse.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  await declare('sparse', smallImage([sparse, Buffer.alloc(600, 'no archive')]));
  assert.match((await put('sparse', digestOf(sparse), 0, sparse)).text, /has a sparse file: text/);
  const text = Buffer.alloc(600, 'no archive');
  assert.match((await put('sparse', digestOf(text), 0, text)).text, /is refused: the archive is damaged/);
});

test('a configuration that names other layers is refused at the end', async () => {
  const image = smallImage([layerWith('a')]);
  const other = smallImage([layerWith('b')]);
  const mixed: SmallImage = {
    content: { config: image.content.config, layers: other.content.layers },
    blobs: new Map([...image.blobs].slice(0, 1).concat([...other.blobs].slice(1))),
  };
  await declare('mixed', mixed);
  await putAll('mixed', mixed);
  const answer = await finish('mixed');
  assert.equal(answer.status, 400);
  assert.match(answer.text, /names other layers \(rootfs\.diff_ids\)/);
});

test('when two clients load one name at once, the first fails with a message that the second has replaced it', async () => {
  const [first, second] = [smallImage([layerWith('1st')]), smallImage([layerWith('2nd')])];
  await declare('race', first);
  const [digest, bytes] = [...first.blobs][1] as [string, Buffer];
  assert.equal((await put('race', digest, 0, bytes)).status, 200);
  assert.equal((await declare('race', second)).status, 409);
  assert.equal((await server.call('PATCH', pathOf('race'), { spec: second.content }, merge)).status, 200);
  const [config, text] = [...first.blobs][0] as [string, Buffer];
  const late = await put('race', config, 0, text);
  assert.equal(late.status, 409);
  assert.match(late.text, /another load of this name began meanwhile/);
  await putAll('race', second);
  assert.equal(
    (await finish('race')).json<Image>().status?.content?.config.digest,
    second.content.config.digest,
  );
});

test('the old content is served until the new one is complete', async () => {
  const [old, next] = [smallImage([layerWith('old')]), smallImage([layerWith('new')])];
  await upload('moves', old);
  await server.call('PATCH', pathOf('moves'), { spec: next.content }, merge);
  const between = (await server.call('GET', pathOf('moves'))).json<Image>();
  assert.equal(between.status?.content?.config.digest, old.content.config.digest);
  assert.equal((await server.call('GET', `${pathOf('moves')}/archive`)).status, 200);
});

test('a full disk is answered with 507 and the free space, before anything is written', async () => {
  const layer = layerWith('too much');
  await declare('full', smallImage([layer]));
  room = 1000;
  try {
    const answer = await server.call('GET', `${pathOf('full')}/upload`);
    assert.equal(answer.status, 507);
    assert.match(
      answer.text,
      /has no room for \d+ more bytes: 1000 bytes are free .* remove images \(minik8s ctl image rm\)/,
    );
    assert.equal((await put('full', digestOf(layer), 0, layer)).status, 507);
  } finally {
    room = 1e12;
  }
  assert.equal((await received('full'))[digestOf(layer)], 0);
});

for (const [what, image, message] of [
  ['of a function', 'minik8s.function/default/f:abc', /is reserved: nodes make this image themselves/],
  ['of the program itself', 'minik8s.own/minik8s:node', /is reserved/],
  ['that is not given in full', 'busybox:1', /must be given in full: docker\.io\/library\/busybox:1/],
  ['with a path that leaves its folder', 'docker.io/../../etc:1', /is not the name of an image/],
  ['with a digest', `docker.io/a/b@sha256:${'0'.repeat(64)}`, /has a digest/],
] as const)
  test(`a name ${what} is refused`, async () => {
    const answer = await declare('x', smallImage([layerWith('x')]), image);
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.text, message);
  });

test('an object whose name does not follow from the image is rejected', async () => {
  const { content } = smallImage([layerWith('x')]);
  const body = { metadata: { name: 'mine' }, spec: { image: full('x'), ...content } };
  const answer = await server.call('POST', images, body);
  assert.equal(answer.status, 422);
  assert.match(answer.text, /metadata\.name/);
});

test('a path without a valid digest is refused, and every file is named by a digest', async () => {
  await declare('path', smallImage([layerWith('p')]));
  for (const rest of ['/../../../etc/passwd', '/%2e%2e%2fx', '/abc', ''])
    assert.ok(
      [400, 404].includes((await server.call('PUT', `${pathOf('path')}/upload${rest}`, 'x')).status),
      rest,
    );
  for (const folder of ['blobs', 'parts'])
    for (const name of await readdir(join(directory, folder))) assert.match(name, /^[0-9a-f]{64}$/);
});

test('a store keeps only the blobs that an image names', async () => {
  const store = newStore();
  await writeFile(join(directory, 'parts', 'f'.repeat(64)), 'left');
  const { content } = (await server.call('GET', pathOf('whole'))).json<Image>().status ?? {};
  assert.ok(content);
  const digests = [content.config, ...content.layers].map(({ digest }) => digest);
  await store.keepOnly(new Set(digests));
  assert.deepEqual(
    (await readdir(join(directory, 'blobs'))).sort(),
    digests.map((one) => one.slice(7)).sort(),
  );
  assert.deepEqual(await readdir(join(directory, 'parts')), []);
});
