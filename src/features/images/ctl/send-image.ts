/**
 * Sends the content of an image to the API server, in pieces. An upload continues where an earlier one
 * ended.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { StatusError } from '../../../apimachinery/status-error.ts';
import { type Clock, sleep } from '../../../base/clock.ts';
import type { Cluster } from '../../../cli/connection/cluster.ts';
import { numberAt } from '../../../cli/objects/objects.ts';
import { blobsOf, maxPieceBytes } from '../api/image-content.ts';
import type { BlobBytes, LocalImage } from './image-file.ts';

/** Number of attempts without progress, and the time between them. */
const maxAttempts = 40;
const restMs = 3_000;

export interface Sending {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the number of bytes that have arrived. */
  readonly onProgress: (bytes: number) => void;
  /** Called before an attempt is repeated. */
  readonly onRetry: (error: unknown) => void;
}

/** Sends what is missing, and ends the upload. `path` is that of the subresource `upload`. */
export async function sendImage(sending: Sending, path: string, image: LocalImage): Promise<JsonObject> {
  let before = -1;
  for (let attempts = 0; ; attempts++) {
    const tried = await attempt(sending, path, image);
    if (tried.answer) return tried.answer;
    if (tried.arrived > before) attempts = 0;
    before = Math.max(before, tried.arrived);
    if (attempts >= maxAttempts || !isPassing(tried.error)) throw tried.error;
    sending.onRetry(tried.error);
    await sleep(sending.clock, restMs, sending.signal);
  }
}

/** Returns the answer to the end of the upload, or the error with the number of bytes that had arrived. */
async function attempt(sending: Sending, path: string, image: LocalImage) {
  let arrived = -1;
  try {
    const state = await sending.cluster.get(path);
    arrived = blobsOf(image.content).reduce(
      (sum, { digest }) => sum + numberAt(state, 'received', digest),
      0,
    );
    await sendMissing(sending, path, image, state);
    return { arrived, answer: await sending.cluster.send('POST', path, undefined) };
  } catch (error) {
    return { arrived, error };
  }
}

/**
 * Returns true for a failure after which another attempt may succeed: no connection, too many requests, a
 * restart.
 */
function isPassing(error: unknown): boolean {
  if (!(error instanceof StatusError)) return (error as Error).name === 'TransportError';
  const { code, message = '' } = error.status;
  return [429, 502, 503, 504].includes(code) || (code === 409 && message.includes('continue there'));
}

async function sendMissing(
  sending: Sending,
  path: string,
  image: LocalImage,
  state: JsonObject,
): Promise<void> {
  let total = 0;
  for (const { digest, size } of blobsOf(image.content)) {
    const bytes = image.blobs.get(digest);
    if (!bytes) throw new Error(`the file has no ${digest}`);
    for (let at = numberAt(state, 'received', digest); at < size; ) {
      sending.onProgress(total + at);
      at = await sendPiece(sending, `${path}/${digest.replace('sha256:', '')}?offset=${at}`, bytes, at);
    }
    total += size;
    sending.onProgress(total);
  }
}

/** Sends the next piece; resolves with the number of bytes that have arrived. */
async function sendPiece(sending: Sending, path: string, bytes: BlobBytes, at: number): Promise<number> {
  const piece = Buffer.alloc(Math.min(maxPieceBytes, bytes.size - at));
  {
    await using file = await open(bytes.path);
    const { bytesRead } = await file.read(piece, 0, piece.length, bytes.offset + at);
    if (bytesRead < piece.length) throw new Error(`${bytes.path} changed while it was being read`);
  }
  const digest = createHash('sha256').update(piece).digest('base64');
  const answer = await sending.cluster.open({
    method: 'PUT',
    path,
    headers: {
      accept: 'application/json',
      'content-type': 'application/octet-stream',
      'content-digest': `sha-256=:${digest}:`,
    },
    body: piece,
    signal: sending.signal,
  });
  let text = '';
  for await (const part of answer.body) text += Buffer.from(part).toString('utf8');
  const received = numberAt(JSON.parse(text) as JsonObject, 'received');
  // Otherwise the same piece would be sent for ever.
  if (received <= at)
    throw new Error(
      `the API server has accepted a piece of the image, and still has ${received} of its bytes`,
    );
  return received;
}
