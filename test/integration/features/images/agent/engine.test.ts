/**
 * Images on the real engine: the output of its `docker save` can be read, and an archive of this project
 * loads as the same image.
 */
import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import { imageArchive, imageIds } from '../../../../../src/docker/image-archive.ts';
import { ImageEngine } from '../../../../../src/features/images/agent/image-engine.ts';
import { fetchImage, type Source } from '../../../../../src/features/images/agent/image-fetch.ts';
import { heldTag } from '../../../../../src/features/images/api/image-name.ts';
import { readImageFile } from '../../../../../src/features/images/ctl/image-file.ts';
import { systemExec } from '../../../../../src/os/exec.ts';
import { makeTestImages, type TestImages } from '../../../../fixtures/docker-images.ts';
import { dockerSocket } from '../../../../fixtures/docker-socket.ts';
import { layerWith, smallImage } from '../../../../fixtures/small-image.ts';

const docker = async (...args: string[]) =>
  (await systemExec('docker', ['-H', `unix://${dockerSocket}`, ...args])).stdout.trim();
const engine = new ImageEngine(dockerSocket);
const tags: string[] = [];
let directory = '';
let images: TestImages;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minik8s-images-'));
  images = await makeTestImages(`images-${process.pid}`, dockerSocket);
});
after(async () => {
  for (const tag of tags) await docker('rmi', '-f', tag).catch(() => undefined);
  await images.remove();
  await rm(directory, { recursive: true, force: true });
});

const idOf = (name: string) => docker('image', 'inspect', '--format', '{{.Id}}', name);

test('an image that one engine saved and another loads is the same image, and runs', async () => {
  const path = join(directory, 'saved.tar');
  await docker('save', '-o', path, images.busybox);
  const [image] = await readImageFile({ path, directory, signal: new AbortController().signal });
  assert.ok(image);
  assert.deepEqual(image.names, [images.busybox]);
  const tag = heldTag(image.content.config.digest);
  tags.push(tag);
  const { bytes } = imageArchive(image.content, tag, ({ digest }) => {
    const blob = image.blobs.get(digest);
    assert.ok(blob);
    return createReadStream(blob.path, { start: blob.offset, end: blob.offset + blob.size - 1 });
  });
  await engine.load(Readable.from(bytes, { objectMode: false }), 'an image');
  assert.ok(imageIds(image.content).includes(await idOf(tag)));
  assert.match(await docker('run', '--rm', '--network=none', tag, 'echo', 'runs'), /^runs$/);
});

/** Fetches an image from a source of these archives. */
const fetchFrom = (open: Source['open'], { content }: ReturnType<typeof smallImage>) => {
  const tag = heldTag(content.config.digest);
  tags.push(tag);
  const load = (archive: Readable) => engine.load(archive, 'an image');
  const path = join(directory, 'fetched.tar');
  return fetchImage(
    { source: { name: 'node n2', open }, content, tag, path, clock: systemClock, load },
    new AbortController().signal,
  );
};

test('an image that one node saves is accepted by another node', async () => {
  const image = smallImage([layerWith('kept')]);
  const tag = heldTag(image.content.config.digest);
  const archive = imageArchive(image.content, tag, async function* ({ digest }) {
    yield image.blobs.get(digest) as Buffer;
  });
  await fetchFrom(async () => archive.bytes, image);
  await fetchFrom(async () => (await engine.save(tag)) as Readable, image);
  assert.ok(imageIds(image.content).includes(await idOf(tag)));
});

test('an incomplete image or another image from a node is rejected, and nothing of it is loaded', async () => {
  const [wanted, lie] = [smallImage([layerWith('wanted')]), smallImage([layerWith('a lie!')])];
  const stolen = `minik8s-test/stolen:${process.pid}`;
  const archive = imageArchive(lie.content, stolen, async function* ({ digest }) {
    yield lie.blobs.get(digest) as Buffer;
  });
  await assert.rejects(
    fetchFrom(async () => archive.bytes, wanted),
    /^Error: node n2 sent an archive without sha256:/,
  );
  await assert.rejects(idOf(stolen));
  await assert.rejects(idOf(heldTag(wanted.content.config.digest)));
  const endless = async function* () {
    for (;;) yield Buffer.alloc(1024 ** 2);
  };
  await assert.rejects(
    fetchFrom(async () => endless(), wanted),
    /^Error: node n2 sent more than \d+ bytes$/,
  );
});
