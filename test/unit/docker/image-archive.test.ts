/** Archives of images: written archives can be read, and hostile archives have no effect. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageArchive, imageIds } from '../../../src/docker/image-archive.ts';
import { readImageArchive } from '../../../src/docker/image-archive-reader.ts';
import { archiveEnd, memberHeader, padding } from '../../../src/formats/tar-archive.ts';
import { digestOf, layerWith, smallImage } from '../../fixtures/small-image.ts';

type File = readonly [name: string, content: string | Buffer, target?: string];

async function* tar(files: readonly File[]) {
  for (const [name, content, target] of files) {
    const bytes = Buffer.from(content);
    const own = { name, mode: 0o644, uid: 0, gid: 0, modified: 0, size: bytes.length };
    yield memberHeader(target === undefined ? { ...own, type: 'file' } : { ...own, type: 'symlink', target });
    yield bytes;
    yield padding(bytes.length);
  }
  yield archiveEnd;
}

const layer = layerWith('one');
const image = smallImage([layer, layerWith('two'), layer]);
const config = (image.blobs.get(image.content.config.digest) ?? Buffer.alloc(0)).toString();
const entry = (more: object) =>
  JSON.stringify([
    {
      Config: 'c.json',
      RepoTags: ['a:1'],
      Layers: ['l1/layer.tar', 'l2/layer.tar', 'l3/layer.tar'],
      ...more,
    },
  ]);

test('an archive has the announced size, and contains each blob of the image once', async () => {
  const archive = imageArchive(image.content, 'a:1', async function* ({ digest }) {
    yield image.blobs.get(digest) as Buffer;
  });
  const parts: Uint8Array[] = [];
  for await (const part of archive.bytes) parts.push(part);
  const bytes = Buffer.concat(parts);
  assert.equal(bytes.length, archive.size);
  const [read] = await readImageArchive(
    (async function* () {
      yield bytes;
    })(),
  );
  assert.deepEqual(read?.names, ['a:1']);
  assert.equal(read?.config.digest, image.content.config.digest);
  for (const [index, part] of (read?.layers ?? []).entries()) {
    assert.equal(part.digest, image.content.layers[index]?.digest);
    assert.equal(part.diffId, part.digest);
    assert.equal(digestOf(bytes.subarray(part.offset, part.offset + part.size)), part.digest);
  }
  assert.equal(read?.layers[0]?.offset, read?.layers[2]?.offset);
});

test('the ids of an image are the digests of its configuration and of its manifest', () => {
  const ids = imageIds(image.content);
  assert.equal(ids[0], image.content.config.digest);
  assert.match(ids[1] ?? '', /^sha256:[0-9a-f]{64}$/);
  assert.deepEqual(imageIds(image.content), ids);
});

test('a link to an existing layer is followed, as in archives of old versions of docker save', async () => {
  const files: File[] = [
    ['c.json', config],
    ['l1/layer.tar', layer],
    ['l2/layer.tar', layerWith('two')],
    ['l3/layer.tar', '', '../l1/layer.tar'],
    ['manifest.json', entry({})],
  ];
  const [read] = await readImageArchive(tar(files));
  assert.deepEqual(
    read?.layers.map(({ digest }) => digest),
    image.content.layers.map(({ digest }) => digest),
  );
});

for (const [what, files, message] of [
  [
    'a manifest with a path out of the archive',
    [
      ['c.json', config],
      ['manifest.json', entry({ Config: '../../etc/passwd' })],
    ],
    /it has no \.\.\/\.\.\/etc\/passwd/,
  ],
  [
    'a link out of the archive',
    [
      ['c.json', '', '../../../etc/passwd'],
      ['manifest.json', entry({})],
    ],
    /it has no c\.json/,
  ],
  [
    'links in a cycle',
    [
      ['c.json', '', 'd.json'],
      ['d.json', '', 'c.json'],
      ['manifest.json', entry({})],
    ],
    /it has no c\.json/,
  ],
  ['no manifest', [['a', 'b']], /it has no manifest\.json/],
  ['a manifest that is not a list', [['manifest.json', '{}']], /is not a list of images/],
  ['a damaged manifest', [['manifest.json', '[{']], /manifest\.json is not JSON/],
  [
    'fewer layers than its configuration',
    [
      ['c.json', config],
      ['l', layer],
      ['manifest.json', entry({ Layers: ['l'] })],
    ],
    /has 1 layers, and its configuration 3/,
  ],
  [
    'an image for another system',
    [
      ['c.json', '{"os":"windows"}'],
      ['manifest.json', entry({})],
    ],
    /is for windows, not for linux/,
  ],
] as const satisfies readonly (readonly [string, readonly File[], RegExp])[])
  test(`an archive with ${what} is rejected with the reason`, async () => {
    await assert.rejects(readImageArchive(tar(files)), message);
  });

test('a sparse file in an archive is rejected before its content is read', async () => {
  const header = Buffer.from(
    memberHeader({ name: 'big', type: 'file', mode: 0o644, uid: 0, gid: 0, modified: 0, size: 0 }),
  );
  header.write('S', 156);
  header.fill(' ', 148, 156);
  header.write(
    `${header
      .reduce((total, byte) => total + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  await assert.rejects(
    readImageArchive(
      (async function* () {
        yield header;
      })(),
    ),
    /has a sparse file: big/,
  );
});
