/** Gets the content of an image from one source, verifies it, and gives it to the engine. */
import { createReadStream } from 'node:fs';
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import { type ArchiveContent, imageArchive } from '../../../docker/image-archive.ts';
import { type ArchivePart, readImageArchive } from '../../../docker/image-archive-reader.ts';
import { blobsOf, imageSizeOf } from '../api/image-content.ts';

/** Time without any data after which a source is given up. */
const silenceMs = 30_000;
/** Bytes of an archive besides its blobs: headers, padding and the engine's own descriptions. */
const besideBlobs = 16 * 1024 ** 2;
const keptFree = 0.05;

export interface Source {
  /** In words, such as `node n2`. */
  readonly name: string;
  open(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

export type Load = (archive: Readable) => Promise<void>;

/**
 * Throws an Error if the disk of the directory has no room for the archive and the layers, which is twice the
 * size of the image.
 */
export async function requireRoom(directory: string, content: ArchiveContent): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { blocks, bavail, bsize } = await statfs(directory);
  const needed = 2 * imageSizeOf(content) + blocks * bsize * keptFree;
  if (bavail * bsize < needed)
    throw new Error(
      `this node has no room for it: ${bavail * bsize} bytes are free on the disk of ${directory}, and ${Math.ceil(needed)} are needed`,
    );
}

/**
 * Writes the source's archive into a file, and loads exactly the blobs of the content from it, under the name
 * that the cluster gives the image. Names in the archive have no effect. Throws an Error if a blob is missing
 * or has another digest.
 */
export async function fetchImage(
  {
    source,
    content,
    tag,
    path,
    clock,
    load,
  }: {
    readonly source: Source;
    readonly content: ArchiveContent;
    readonly tag: string;
    /** File for the archive, which is removed in any case. */
    readonly path: string;
    readonly clock: Clock;
    readonly load: Load;
  },
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await download(source, path, { clock, most: imageSizeOf(content) + besideBlobs }, signal);
    const parts = await partsOf(path);
    for (const { digest, size } of blobsOf(content))
      if (parts.get(digest)?.size !== size)
        throw new Error(`${source.name} sent an archive without ${digest}`);
    const { bytes } = imageArchive(content, tag, ({ digest }) => partStream(path, parts.get(digest)));
    await load(Readable.from(bytes, { objectMode: false }));
  } finally {
    await rm(path, { force: true });
  }
}

async function download(
  source: Source,
  path: string,
  { clock, most }: { readonly clock: Clock; readonly most: number },
  signal: AbortSignal,
): Promise<void> {
  const silent = new AbortController();
  const both = AbortSignal.any([signal, silent.signal]);
  const listen = () =>
    clock.after(silenceMs, () =>
      silent.abort(new Error(`${source.name} sent nothing for ${silenceMs / 1000} s`)),
    );
  let timer = listen();
  let size = 0;
  try {
    await using file = await open(path, 'w', 0o600);
    for await (const chunk of await source.open(both)) {
      timer.cancel();
      timer = listen();
      size += chunk.length;
      if (size > most) throw new Error(`${source.name} sent more than ${most} bytes`);
      await file.appendFile(chunk);
      both.throwIfAborted();
    }
  } finally {
    timer.cancel();
  }
}

/** Returns the parts of all images in the archive by the digests of their bytes. */
async function partsOf(path: string): Promise<ReadonlyMap<string, ArchivePart>> {
  const images = await readImageArchive(createReadStream(path, { highWaterMark: 256 * 1024 }));
  const parts = images.flatMap(({ config, layers }) => [config, ...layers]);
  return new Map(parts.map((part) => [part.digest, part]));
}

function partStream(path: string, part: ArchivePart | undefined): AsyncIterable<Uint8Array> {
  if (!part || part.size === 0) return Readable.from([]);
  return createReadStream(path, { start: part.offset, end: part.offset + part.size - 1 });
}
