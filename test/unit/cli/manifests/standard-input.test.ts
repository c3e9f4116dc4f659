import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readText } from '../../../../src/cli/manifests/standard-input.ts';

test('a character that is split over two chunks is decoded correctly', async () => {
  const bytes = Buffer.from('name: größe\n');
  const middle = bytes.indexOf(0xc3) + 1;
  assert.equal(await readText(inChunks(bytes.subarray(0, middle), bytes.subarray(middle))), 'name: größe\n');
});

test('input that is not UTF-8 is rejected', async () => {
  await assert.rejects(readText(inChunks(Buffer.from([0x80, 0xff]))), /binary or not UTF-8/);
});

test('endless input is rejected after the maximum size', async () => {
  const mebibyte = Buffer.alloc(1024 * 1024, 'y\n');
  let given = 0;
  let isClosed = false;
  async function* endless() {
    try {
      for (;;) {
        given++;
        yield mebibyte;
      }
    } finally {
      isClosed = true;
    }
  }
  await assert.rejects(readText(endless()), /more than 64 MiB: write it in parts/);
  assert.deepEqual({ given, isClosed }, { given: 65, isClosed: true });
});

async function* inChunks(...chunks: readonly Uint8Array[]) {
  yield* chunks;
}
