/** Uploads of files, whole or not at all. */
import { type FileHandle, open } from 'node:fs/promises';
import { BackupError } from '../manifest.ts';
import { completionOf, isCompletion, uploadIdIn } from './answers.ts';
import type { S3Client, S3Request } from './client.ts';
import { type BucketLocation, formatBucketLocation } from './location.ts';
import { headOf, unreadable } from './objects.ts';

/** Size of a part of an upload in bytes: one part is in memory at a time. */
const partBytes = 8 * 1024 * 1024;

/**
 * Uploads a file. An object exists only after the server has received all bytes, each with its digest; its
 * size is compared afterwards. On failure nothing is left, unless the server is no longer reachable: then a
 * part of an upload may be left, which no list shows, or the whole object.
 */
export async function uploadFile(
  client: S3Client,
  location: BucketLocation,
  path: string,
  signal?: AbortSignal,
): Promise<number> {
  await using file = await open(path);
  const { size } = await file.stat();
  try {
    if (size <= partBytes) {
      const body = await partOf(file, 0, size);
      await client.send({ method: 'PUT', action: 's3:PutObject', location, body, signal });
    } else await uploadParts(client, location, { file, size, signal });
    const stored = await headOf(client, location, signal);
    if (stored.size !== size)
      throw new BackupError(
        `${formatBucketLocation(location)}: the server stored ${stored.size} bytes of ${size}: check its disk, and run this again`,
      );
    return size;
  } catch (error) {
    await cleanUp(client, { method: 'DELETE', action: 's3:DeleteObject', location });
    throw error;
  }
}

interface PartUpload {
  readonly file: FileHandle;
  readonly size: number;
  readonly signal: AbortSignal | undefined;
}

async function uploadParts(client: S3Client, location: BucketLocation, { file, size, signal }: PartUpload) {
  const action = 's3:PutObject';
  const begun = await client.send({ method: 'POST', action, location, query: { uploads: '' }, signal });
  const uploadId = uploadIdIn(begun.text);
  if (uploadId === undefined) throw unreadable(location, 'the beginning of an upload');
  try {
    const tags: string[] = [];
    for (let at = 0; at < size; at += partBytes) {
      const body = await partOf(file, at, Math.min(partBytes, size - at));
      const query = { partNumber: String(tags.length + 1), uploadId };
      const { headers } = await client.send({ method: 'PUT', action, location, query, body, signal });
      if (!headers.etag) throw unreadable(location, 'a part');
      tags.push(headers.etag);
    }
    const body = Buffer.from(completionOf(tags));
    const { text } = await client.send({
      method: 'POST',
      action,
      location,
      query: { uploadId },
      body,
      signal,
    });
    if (!isCompletion(text)) throw unreadable(location, 'the end of an upload');
  } catch (error) {
    await cleanUp(client, {
      method: 'DELETE',
      action: 's3:AbortMultipartUpload',
      location,
      query: { uploadId },
    });
    throw error;
  }
}

/** Maximum time in milliseconds of a request after a failure. */
const limitMs = 10_000;

/** Sends one request, and ignores its failure: the reason for it is reported already. */
async function cleanUp(client: S3Client, request: S3Request): Promise<void> {
  await client.send({ ...request, attempts: 1, limitMs }).catch(() => undefined);
}

async function partOf(file: FileHandle, at: number, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  for (let filled = 0; filled < size; ) {
    const { bytesRead } = await file.read(buffer, filled, size - filled, at + filled);
    if (bytesRead === 0) throw new Error('the file of the backup has become shorter while it was uploaded');
    filled += bytesRead;
  }
  return buffer;
}
