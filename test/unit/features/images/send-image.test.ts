import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Cluster } from '../../../../src/cli/connection/cluster.ts';
import { readImageFile } from '../../../../src/features/images/ctl/image-file.ts';
import { sendImage } from '../../../../src/features/images/ctl/send-image.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const directory = mkdtempSync(join(tmpdir(), 'minik8s-send-image-'));
after(() => rmSync(directory, { recursive: true }));
const path = join(directory, 'image');
writeFileSync(path, 'config-layer');
const config = { digest: `sha256:${'a'.repeat(64)}`, size: 6 };
const layer = { digest: `sha256:${'b'.repeat(64)}`, size: 6 };
const image = {
  names: ['a:1'],
  content: { config, layers: [layer] },
  blobs: new Map([
    [config.digest, { path, offset: 0, size: 6 }],
    [layer.digest, { path, offset: 6, size: 6 }],
  ]),
};

/** Sends the image to a server that answers each piece with what `received` returns. */
async function sent(received: (offset: number, length: number) => unknown) {
  const pieces: string[] = [];
  const cluster = {
    get: async () => ({ received: {} }),
    send: async () => ({ kind: 'Image' }),
    open: async (request: { path: string; body: Uint8Array }) => {
      const offset = Number(new URL(request.path, 'http://x').searchParams.get('offset'));
      pieces.push(`${offset} ${Buffer.from(request.body)}`);
      const answer = JSON.stringify({ received: received(offset, request.body.length) });
      return { status: 200, header: () => undefined, body: [Buffer.from(answer)] };
    },
  } as object as Cluster;
  const { signal } = new AbortController();
  const sending = { cluster, clock: new FakeClock(), signal, onProgress() {}, onRetry() {} };
  return { pieces, answer: await sendImage(sending, '/upload', image) };
}

test('each blob is sent from the offset that the server has received', async () => {
  const { pieces, answer } = await sent((offset, length) => offset + length);
  assert.deepEqual([pieces, answer.kind], [['0 config', '0 -layer'], 'Image']);
});

test('an interrupt ends reading an image with the reason of the interrupt', async () => {
  const stop = new AbortController();
  const reading = readImageFile({ path, directory, signal: stop.signal });
  stop.abort(new DOMException('stopped', 'AbortError'));
  await assert.rejects(reading, { name: 'AbortError', message: 'stopped' });
  const { signal } = new AbortController();
  await assert.rejects(readImageFile({ path, directory, signal }), /is not an archive of images/);
});

for (const wrong of [0, -5, 'x', undefined])
  test(`a server that has received ${wrong} after a piece is an error, not an endless upload`, async () => {
    await assert.rejects(
      sent(() => wrong),
      /still has \S+ of its bytes/,
    );
  });
