/**
 * The blobs of images on this master's disk. `blobs/` has complete, verified blobs, and `parts/` has blobs
 * that are being uploaded. The length of such a file is the only state of an upload. Both are named by their
 * digests, so a name of an image is never a name of a file.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ArchiveBlob, ArchiveContent } from '../../docker/image-archive.ts';
import { imageArchive } from '../../docker/image-archive.ts';
import { digestPattern } from '../../features/images/api/image-content.ts';
import {
  type BlobKind,
  type ImageArchiveStream,
  type ImageStore,
  UploadError,
} from '../../features/images/server/image-store.ts';
import { readTar } from '../../formats/tar-reader.ts';

/** Part of the disk that uploads leave free, and its maximum in bytes. */
const keptFree = 0.05;
const maxKeptFree = 2 * 1024 ** 3;

export interface FileSystemRoom {
  readonly size: number;
  readonly available: number;
}

export interface DiskImageStoreOptions {
  readonly directory: string;
  readonly master: string;
  /** Default: the room of the directory's file system. */
  readonly readRoom?: () => Promise<FileSystemRoom>;
}

export class DiskImageStore implements ImageStore {
  readonly master: string;
  readonly #directory: string;
  readonly #readRoom: () => Promise<FileSystemRoom>;
  /** Promise of the last write to each blob, so that pieces of one blob are appended one by one. */
  readonly #working = new Map<string, Promise<unknown>>();

  constructor({ directory, master, readRoom }: DiskImageStoreOptions) {
    this.master = master;
    this.#directory = directory;
    this.#readRoom = readRoom ?? (() => roomOf(directory));
  }

  async received({ digest, size }: ArchiveBlob): Promise<number> {
    if ((await sizeOf(this.#blob(digest))) === size) return size;
    return (await sizeOf(this.#part(digest))) ?? 0;
  }

  async roomProblem(bytes: number): Promise<string | undefined> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const { size, available } = await this.#readRoom();
    const kept = Math.min(Math.ceil(size * keptFree), maxKeptFree);
    if (available - bytes >= kept) return undefined;
    return (
      `master ${this.master} has no room for ${bytes} more bytes: ${available} bytes are free on the disk of ` +
      `${this.#directory}, of which ${kept} stay free; remove images (minik8s ctl image rm) or make room there`
    );
  }

  append(blob: ArchiveBlob, offset: number, piece: Uint8Array, kind: BlobKind): Promise<number> {
    const { digest } = blob;
    const before = this.#working.get(digest) ?? Promise.resolve();
    const work = before.then(() => this.#append(blob, offset, piece, kind));
    const settled = work
      .catch(() => undefined)
      .finally(() => {
        if (this.#working.get(digest) === settled) this.#working.delete(digest);
      });
    this.#working.set(digest, settled);
    return work;
  }

  async read({ digest }: ArchiveBlob): Promise<Buffer> {
    return readFile(this.#blob(digest));
  }

  async archive(content: ArchiveContent, tag: string): Promise<ImageArchiveStream | undefined> {
    for (const { digest, size } of [content.config, ...content.layers])
      if ((await sizeOf(this.#blob(digest))) !== size) return undefined;
    const { size, bytes } = imageArchive(content, tag, ({ digest }) => createReadStream(this.#blob(digest)));
    return { size, body: Readable.from(bytes, { objectMode: false, highWaterMark: 256 * 1024 }) };
  }

  async lastPieceAt(blobs: readonly ArchiveBlob[]): Promise<number> {
    const times = await Promise.all(
      blobs.map(async ({ digest }) => {
        const found = (await statOf(this.#part(digest))) ?? (await statOf(this.#blob(digest)));
        return found?.mtimeMs ?? 0;
      }),
    );
    return Math.max(0, ...times);
  }

  async keepOnly(digests: ReadonlySet<string>): Promise<void> {
    for (const folder of ['parts', 'blobs'] as const) {
      for (const name of await namesIn(join(this.#directory, folder))) {
        if (digests.has(`sha256:${name}`)) continue;
        await rm(join(this.#directory, folder, name), { force: true });
      }
    }
  }

  async #append(blob: ArchiveBlob, offset: number, piece: Uint8Array, kind: BlobKind): Promise<number> {
    const { digest, size } = blob;
    const received = await this.received(blob);
    if (received === size && (await sizeOf(this.#blob(digest))) === size) return size;
    if (offset !== received)
      throw new UploadError('Offset', `${received} bytes of ${digest} have arrived: continue there`);
    if (offset + piece.length > size)
      throw new UploadError('Offset', `${digest} has ${size} bytes: the piece goes beyond its end`);
    await this.#write(digest, piece);
    if (offset + piece.length < size) return offset + piece.length;
    await this.#complete(blob, kind);
    return size;
  }

  async #write(digest: string, piece: Uint8Array): Promise<void> {
    await mkdir(join(this.#directory, 'parts'), { recursive: true, mode: 0o700 });
    try {
      await using file = await open(this.#part(digest), 'a', 0o600);
      await file.appendFile(piece);
      await file.datasync();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      // The bytes that were written are counted by the next request, which continues there.
      throw new UploadError('NoRoom', `the disk of ${this.#directory} is full`);
    }
  }

  /** Verifies the bytes and moves them to the complete blobs. */
  async #complete({ digest }: ArchiveBlob, kind: BlobKind): Promise<void> {
    const part = this.#part(digest);
    const problem = await problemOf(part, digest, kind);
    if (problem !== undefined) {
      await rm(part, { force: true });
      throw new UploadError('Damaged', problem);
    }
    await mkdir(join(this.#directory, 'blobs'), { recursive: true, mode: 0o700 });
    await rename(part, this.#blob(digest));
    await using folder = await open(join(this.#directory, 'blobs'));
    await folder.sync();
  }

  readonly #blob = (digest: string) => join(this.#directory, 'blobs', hexOf(digest));
  readonly #part = (digest: string) => join(this.#directory, 'parts', hexOf(digest));
}

/** Returns the file name of a digest. Throws for any other text, such as one with a slash. */
function hexOf(digest: string): string {
  if (!digestPattern.test(digest)) throw new Error(`${JSON.stringify(digest)} is no digest`);
  return digest.slice('sha256:'.length);
}

/** Reads the file once; returns what is wrong with it, undefined if nothing is. */
async function problemOf(path: string, digest: string, kind: BlobKind): Promise<string | undefined> {
  const hash = createHash('sha256');
  let invalid: string | undefined;
  const read = async function* () {
    for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      hash.update(piece as Buffer);
      yield piece as Buffer;
    }
  };
  const bytes = read();
  try {
    if (kind === 'layer') for await (const _ of readTar(bytes));
  } catch (error) {
    invalid = (error as Error).message;
  }
  if (invalid !== undefined) {
    await bytes.return(undefined);
    return `the layer ${digest} is refused: ${invalid}`;
  }
  for await (const _ of bytes);
  const actual = `sha256:${hash.digest('hex')}`;
  return actual === digest ? undefined : `the bytes that arrived have the digest ${actual}, not ${digest}`;
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const sizeOf = async (path: string) => (await statOf(path))?.size;

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function roomOf(directory: string): Promise<FileSystemRoom> {
  const { blocks, bavail, bsize } = await statfs(directory);
  return { size: blocks * bsize, available: bavail * bsize };
}
