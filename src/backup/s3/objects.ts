/** Objects of a bucket: listed, looked at and deleted. */
import { BackupError } from '../manifest.ts';
import { listPageIn } from './answers.ts';
import type { S3Client, S3Request } from './client.ts';
import { type BucketLocation, formatBucketLocation, locationIn } from './location.ts';

/** Maximum number of pages of a list: ten million objects. */
const maxPages = 10_000;

/** Returns the error for an answer of success that says something else than S3 does. */
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

/** Returns the objects directly in a folder whose names begin with `start`. */
export async function listObjects(
  client: S3Client,
  folder: BucketLocation,
  start: string,
  signal?: AbortSignal,
): Promise<readonly NamedObject[]> {
  const prefix = locationIn(folder, '').key;
  const location = { ...folder, key: '' };
  const query = { 'list-type': '2', delimiter: '/', prefix: `${prefix}${start}` };
  // A server that repeats an object must not make it two.
  const found = new Map<string, NamedObject>();
  let more: Readonly<Record<string, string>> | undefined = {};
  for (let pages = 0; more; pages++) {
    const asked: S3Request = {
      method: 'GET',
      action: 's3:ListBucket',
      location,
      query: { ...query, ...more },
    };
    const page = listPageIn((await client.send({ ...asked, signal })).text);
    if (!page || pages >= maxPages) throw unreadable(folder, 'a list');
    for (const { key, size } of page.objects.filter((each) => each.key.startsWith(prefix)))
      found.set(key, { name: key.slice(prefix.length), size });
    more = page.next === undefined ? undefined : { 'continuation-token': page.next };
  }
  return [...found.values()];
}

/** Returns the size and the entity tag of an object. */
export async function headOf(
  client: S3Client,
  location: BucketLocation,
  signal?: AbortSignal,
): Promise<{ readonly size: number; readonly tag: string }> {
  const { headers } = await client.send({ method: 'HEAD', action: 's3:GetObject', location, signal });
  const { etag: tag, 'content-length': length } = headers;
  if (!tag || !/^\d+$/.test(length ?? '')) throw unreadable(location, 'HEAD');
  return { size: Number(length), tag };
}

export const deleteObject = (client: S3Client, location: BucketLocation, signal?: AbortSignal) =>
  client.send({ method: 'DELETE', action: 's3:DeleteObject', location, signal });
