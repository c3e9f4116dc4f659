/** Limits for the reading of an archive that may be hostile, and for the disk to which files are written. */
import { damaged, type Manifest } from './manifest.ts';

/** Bytes of an archive beside the contents: headers, padding, and the manifest. */
const maxOverheadBytes = 16 * 1024 * 1024;

/** Returns the maximum length in bytes of the archive. `manifest` is undefined until it is read. */
const maxLengthOf = (manifest: Manifest | undefined): number =>
  contentBytes(manifest?.members ?? {}) + maxOverheadBytes;

/** Returns the number of bytes of all members. */
export const contentBytes = (members: Manifest['members']): number =>
  Object.values(members).reduce((sum, { size }) => sum + size, 0);

/**
 * Yields the bytes of an archive. Throws BackupError once there are more than its manifest allows, since a
 * few bytes can be decompressed to terabytes, and the reason of the signal once that aborts.
 */
export async function* limited(
  bytes: AsyncIterable<Uint8Array>,
  manifest: () => Manifest | undefined,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const part of bytes) {
    signal?.throwIfAborted();
    length += part.length;
    if (length > maxLengthOf(manifest())) throw damaged('it is longer than its members');
    yield part;
  }
}

/** Bytes that stay free on the disk of etcd, which ends if it cannot write its log. */
const reservedBytes = 64 * 1024 * 1024;
/** Number of bytes after which the disk is checked again. */
const lookBytes = 8 * 1024 * 1024;

export interface Disk {
  /** Directory to which the bytes are written, for messages. */
  readonly path: string;
  /** Resolves to the number of free bytes. */
  readonly freeBytes: () => Promise<number>;
}

/** Yields the bytes. Throws an Error before the disk is full. */
export async function* withRoom(
  bytes: AsyncIterable<Uint8Array>,
  { path, freeBytes }: Disk,
): AsyncGenerator<Uint8Array> {
  // A small database fits anyway, and may be what an administrator saves from a disk that is nearly full.
  let unchecked = 0;
  for await (const part of bytes) {
    unchecked += part.length;
    if (unchecked >= lookBytes) {
      unchecked = 0;
      const free = await freeBytes();
      if (free < reservedBytes)
        throw new Error(
          `the disk of ${path} has less than ${reservedBytes / 1024 ** 2} MiB left, which etcd needs: make room on it`,
        );
    }
    yield part;
  }
}

/** Rejects if the disk cannot hold that many bytes. */
export async function requireRoom({ path, freeBytes }: Disk, needed: number): Promise<void> {
  const free = await freeBytes();
  if (free < needed)
    throw new Error(
      `the disk of ${path} has ${mebibytes(free)} MiB left, and the backup needs ${mebibytes(needed)} MiB: make room on it`,
    );
}

const mebibytes = (bytes: number) => Math.ceil(bytes / 1024 ** 2);
