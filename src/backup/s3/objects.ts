/** Lists, examines and deletes objects of a bucket. */
import { BackupError } from '../manifest.ts';
import { type ListPage, listPageIn } from './answers.ts';
import type { S3Client, S3Request } from './client.ts';
import { type BucketLocation, formatBucketLocation, locationIn } from './location.ts';

/** Maximum number of pages of a list, and of the objects in it, which are held in memory. */
const maxPages = 1_000;
const maxObjects = 20_000;

/** Returns the error for a successful answer that is not in the form of S3. */
export const unreadable = (location: BucketLocation, what: string) =>
  new BackupError(
    `${formatBucketLocation(location)}: the server's answer to ${what} cannot be read: is it an S3 endpoint (--backup-s3-endpoint)?`,
  );

export interface NamedObject {
  /** Name without the prefix of the folder. */
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
}

const tooMany = (folder: BucketLocation) =>
  new BackupError(
    `${formatBucketLocation(folder)}: there are more than ${maxObjects} objects whose names begin like those of backups: give another prefix`,
  );

/** Returns the objects directly in a folder whose names begin with `start`. */
export async function listObjects(
  client: S3Client,
  folder: BucketLocation,
  start: string,
  signal?: AbortSignal,
): Promise<readonly NamedObject[]> {
  const prefix = locationIn(folder, '').key;
  // An object that the server repeats must count once.
  const found = new Map<string, NamedObject>();
  for await (const objects of pagesOf(client, folder, `${prefix}${start}`, signal)) {
    if (found.size + objects.length > maxObjects) throw tooMany(folder);
    for (const { key, size } of objects)
      if (key.startsWith(prefix)) found.set(key, { name: key.slice(prefix.length), size });
  }
  return [...found.values()];
}

/** Yields the pages of a list. Throws BackupError for a list without an end. */
async function* pagesOf(
  client: S3Client,
  folder: BucketLocation,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ListPage['objects']> {
  const location = { ...folder, key: '' };
  const query = { 'list-type': '2', delimiter: '/', prefix };
  let token: string | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    const more = token === undefined ? query : { ...query, 'continuation-token': token };
    const asked: S3Request = { method: 'GET', action: 's3:ListBucket', location, query: more };
    const page = listPageIn((await client.send({ ...asked, signal })).text);
    if (!page) throw unreadable(folder, 'a list');
    yield page.objects;
    if (page.next === undefined) return;
    // A server that repeats a page would never end.
    if (page.next === token) throw unreadable(folder, 'a list');
    token = page.next;
  }
  throw tooMany(folder);
}

/** Returns the size and the entity tag of an object. */
export async function headOf(
  client: S3Client,
  location: BucketLocation,
  signal?: AbortSignal,
): Promise<{ readonly size: number; readonly tag: string }> {
  const { headers } = await client.send({ method: 'HEAD', action: 's3:GetObject', location, signal });
  const { etag: tag, 'content-length': length } = headers;
  if (!tag || !/^\d{1,15}$/.test(length ?? '')) throw unreadable(location, 'HEAD');
  return { size: Number(length), tag };
}

export const deleteObject = (client: S3Client, location: BucketLocation, signal?: AbortSignal) =>
  client.send({ method: 'DELETE', action: 's3:DeleteObject', location, signal });
