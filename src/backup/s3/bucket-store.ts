/** Backups in the folder of a bucket. */
import { join } from 'node:path';
import { readFileName } from '../manifest.ts';
import type { BackupSource } from '../source.ts';
import type { BackupStore } from '../store.ts';
import type { S3Client } from './client.ts';
import { type BucketLocation, formatBucketLocation, locationIn } from './location.ts';
import { deleteObject, listObjects } from './objects.ts';
import { readObject } from './read-object.ts';
import { uploadFile } from './upload.ts';

/** Beginning of the names of all backups. */
const nameStart = 'minik8s-';

export const bucketStore = (client: S3Client, folder: BucketLocation): BackupStore => ({
  path: formatBucketLocation(folder),
  pathOf: (name) => formatBucketLocation(locationIn(folder, name)),
  // Lists the backups before the cluster is read: the bucket may be missing, or the credentials may be wrong.
  async prepare(signal) {
    await listObjects(client, folder, nameStart, signal);
  },
  async list(signal) {
    const objects = await listObjects(client, folder, nameStart, signal);
    return objects.filter(({ name }) => readFileName(name));
  },
  async add(name, { write, scratch, signal }) {
    const copy = join(scratch, name);
    await write(copy);
    return uploadFile(client, locationIn(folder, name), copy, signal);
  },
  async remove(name, signal) {
    await deleteObject(client, locationIn(folder, name), signal);
  },
});

/** Returns the source of one backup in a bucket, which is streamed from there. */
export const objectSource = (
  client: S3Client,
  location: BucketLocation,
  signal?: AbortSignal,
): BackupSource => ({
  path: formatBucketLocation(location),
  read: () => readObject(client, location, signal),
});
