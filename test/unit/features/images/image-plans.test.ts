import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nodesToAsk } from '../../../../src/features/images/agent/plan/nodes-to-ask.ts';
import type { Image } from '../../../../src/features/images/api/image.ts';
import {
  blobsOf,
  imageSizeOf,
  isReady,
  nodesWith,
} from '../../../../src/features/images/api/image-content.ts';
import { inBytes } from '../../../../src/features/images/ctl/in-bytes.ts';
import {
  abandonedAnywhereMs,
  abandonedMs,
  imageChores,
} from '../../../../src/features/images/server/image-chores-plan.ts';
import { imagesIn, objectNamesOf } from '../../../../src/features/images/server/node-access.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const blob = (letter: string, size = 10) => ({ digest: `sha256:${letter.repeat(64)}`, size });
const one = { config: blob('a', 1), layers: [blob('b'), blob('b'), blob('c')] };
const two = { config: blob('d', 1), layers: [blob('b')] };
const created = '2026-01-01T00:00:00Z';
const at = Date.parse(created);

const imageOf = (spec: object, status?: Image['status']): Image =>
  ({
    metadata: { name: 'a', creationTimestamp: created },
    spec: { image: 'docker.io/library/a:1', allNodes: false, ...spec },
    ...(status && { status }),
  }) as Image;

test('a layer that occurs twice is one blob, and is counted once', () => {
  assert.equal(blobsOf(one).length, 3);
  assert.equal(imageSizeOf(one), 21);
});

test('an image is ready when its status has the content of its spec', () => {
  assert.ok(!isReady(imageOf(one)));
  assert.ok(isReady(imageOf(one, { content: one })));
  assert.ok(!isReady(imageOf(two, { content: one })));
});

test('nodes with an earlier content do not count as having the image', () => {
  const nodes = { n1: one.config.digest, n2: two.config.digest };
  assert.deepEqual(nodesWith(imageOf(one, { content: one, nodes })), ['n1']);
});

test('at most three other nodes are queried, each equally often', () => {
  const nodes = Object.fromEntries(['n1', 'n2', 'n3', 'n4', 'n5'].map((node) => [node, one.config.digest]));
  const image = imageOf(one, { content: one, nodes });
  const random = new SeededRandom(1);
  const first = new Map<string, number>();
  for (let i = 0; i < 400; i++) {
    const asked = nodesToAsk(image, 'n1', random);
    assert.equal(new Set(asked).size, 3);
    assert.ok(!asked.includes('n1'));
    first.set(asked[0] ?? '', (first.get(asked[0] ?? '') ?? 0) + 1);
  }
  for (const node of ['n2', 'n3', 'n4', 'n5']) assert.ok((first.get(node) ?? 0) > 60, node);
});

describe('chores of a master', () => {
  const chores = (image: Image, keeps: boolean, lastPieceAt: number, now: number) =>
    imageChores([{ image, keeps, lastPieceAt }], 'm1', now).map(({ chore }) => chore);

  test('an upload to this master is removed an hour after its last piece', () => {
    const image = imageOf(one, { uploadingTo: 'm1' });
    assert.deepEqual(chores(image, false, at + 1000, at + abandonedMs), []);
    assert.deepEqual(chores(image, false, at + 1000, at + 1000 + abandonedMs), ['remove']);
  });

  test('an upload to another master is kept for a day', () => {
    const image = imageOf(one, { uploadingTo: 'm2' });
    assert.deepEqual(chores(image, false, 0, at + abandonedAnywhereMs - 1), []);
    assert.deepEqual(chores(image, false, 0, at + abandonedAnywhereMs), ['remove']);
  });

  test('an abandoned replacement restores the old content in the spec', () => {
    const image = imageOf(two, { content: one, uploadingTo: 'm1', masters: { m1: one.config.digest } });
    assert.deepEqual(chores(image, true, at, at + abandonedMs), ['revert']);
    const elsewhere = { ...image, status: { ...image.status, uploadingTo: 'm2' } };
    assert.deepEqual(chores(elsewhere, true, at, at + abandonedAnywhereMs), [], 'its own master does');
  });

  test('a master that has the content, or has lost it, reports that in the status', () => {
    assert.deepEqual(chores(imageOf(one, { content: one }), true, at, at), ['keeps']);
    const listed = imageOf(one, { content: one, masters: { m1: one.config.digest } });
    assert.deepEqual(chores(listed, true, at, at), []);
    assert.deepEqual(chores(listed, false, at, at), ['lost']);
  });
});

test('a pod needs the images of all its containers and volumes, without duplicates', () => {
  const spec = {
    containers: [{ name: 'a', image: 'a:1' }],
    initContainers: [{ name: 'b', image: 'docker.io/library/a:1' }],
    ephemeralContainers: [{ name: 'c', image: 'c' }],
    volumes: [
      { name: 'v', image: { reference: 'v:1' } },
      { name: 'e', emptyDir: {} },
    ],
  };
  const images = imagesIn({ metadata: { name: 'p' }, spec } as never);
  assert.deepEqual(images, ['a:1', 'docker.io/library/a:1', 'c', 'v:1']);
  assert.equal(objectNamesOf(images).length, 3);
});

test('sizes are written with three digits', () => {
  assert.deepEqual([0, 999, 1000, 12_345, 999_600, 1.2e9].map(inBytes), [
    '0B',
    '999B',
    '1.00kB',
    '12.3kB',
    '1.00MB',
    '1.20GB',
  ]);
});
