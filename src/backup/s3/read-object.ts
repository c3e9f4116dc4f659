/** Reading of one version of an object, also over connections that break. */
import { BackupError } from '../manifest.ts';
import type { S3Client } from './client.ts';
import { type BucketLocation, formatBucketLocation } from './location.ts';
import { headOf, unreadable } from './objects.ts';

/** Number of connections that may break while an object is read. */
const maxBreaks = 5;

interface Version {
  readonly size: number;
  readonly tag: string;
}

/**
 * Reads an object. After a broken connection it continues where that ended. Rejects with BackupError if the
 * object is replaced meanwhile, or if connections break again and again.
 */
export async function* readObject(
  client: S3Client,
  location: BucketLocation,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const version = await headOf(client, location, signal);
  const place: Place = { location, version, at: 0, signal };
  for (let breaks = 0; place.at < version.size; breaks++) {
    const cause = yield* readFrom(client, place);
    const { at } = place;
    if (at < version.size && breaks >= maxBreaks) throw cutShort(location, { at, size: version.size, cause });
  }
}

/** Yields what a connection brings, and moves the place. Returns the error that has broken the connection. */
async function* readFrom(client: S3Client, place: Place): AsyncGenerator<Buffer, unknown> {
  const { location, version, signal } = place;
  const answer = await openFrom(client, place);
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      place.at += part.length;
      // An answer without an end must not go on after the end of the object.
      if (place.at > version.size) throw unreadable(location, 'GET, longer than the object,');
      yield part;
    }
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof BackupError) throw error;
    return error;
  } finally {
    answer.destroy();
  }
}

interface Place {
  readonly location: BucketLocation;
  readonly version: Version;
  /** First byte to read. */
  at: number;
  readonly signal: AbortSignal | undefined;
}

async function openFrom(client: S3Client, { location, version, at, signal }: Place) {
  const headers = { 'if-match': version.tag, range: `bytes=${at}-${version.size - 1}` };
  const answer = await client.open({ method: 'GET', action: 's3:GetObject', location, headers, signal });
  // A server that ignores these headers answers with the whole newest version.
  const isRight = (answer.statusCode === 206 || at === 0) && answer.headers.etag === version.tag;
  if (isRight) return answer;
  answer.destroy();
  throw new BackupError(
    `${formatBucketLocation(location)}: the object was replaced while it was read: run this again`,
  );
}

interface Cut {
  readonly at: number;
  readonly size: number;
  readonly cause: unknown;
}

const cutShort = (location: BucketLocation, { at, size, cause }: Cut) =>
  new BackupError(
    `${formatBucketLocation(location)}: the connection ended after ${at} of ${size} bytes, also when it was tried again: run this later`,
    { cause },
  );
