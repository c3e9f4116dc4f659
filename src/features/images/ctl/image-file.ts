/**
 * Images of an archive file as the cluster stores them: blobs with their digests, and where their bytes
 * are.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import {
  type ArchivedImage,
  type ArchivedLayer,
  readImageArchive,
} from '../../../docker/image-archive-reader.ts';
import type { ImageContent } from '../api/image.ts';
import { maxImageBytes } from '../api/image-content.ts';

/** Bytes of a blob in a file. */
export interface BlobBytes {
  readonly path: string;
  readonly offset: number;
  readonly size: number;
}

export interface LocalImage {
  readonly names: readonly string[];
  readonly content: ImageContent;
  /** Bytes by digest. */
  readonly blobs: ReadonlyMap<string, BlobBytes>;
}

interface Reading {
  readonly path: string;
  readonly directory: string;
  readonly signal: AbortSignal;
}

/**
 * Reads the file; `directory` receives layers that have to be uncompressed. Throws an Error that names the
 * file, and the signal's reason if it aborts: an image may have many gigabytes.
 */
export async function readImageFile(reading: Reading): Promise<readonly LocalImage[]> {
  const { path, signal } = reading;
  let images: readonly ArchivedImage[];
  try {
    images = await readImageArchive(createReadStream(path, { highWaterMark: 256 * 1024, signal }));
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(
      `${path} is not an archive of images as docker save writes it: ${(error as Error).message}`,
    );
  }
  const found: LocalImage[] = [];
  for (const image of images) found.push(await localImage(reading, image));
  return found;
}

async function localImage(reading: Reading, image: ArchivedImage): Promise<LocalImage> {
  const { path } = reading;
  const { names, config } = image;
  const blobs = new Map<string, BlobBytes>([
    [config.digest, { path, offset: config.offset, size: config.size }],
  ]);
  const layers: { digest: string; size: number }[] = [];
  for (const layer of image.layers) {
    const digest = layer.diffId;
    const bytes = blobs.get(digest) ?? (await layerBytes(reading, layer));
    blobs.set(digest, bytes);
    layers.push({ digest, size: bytes.size });
  }
  return { names, content: { config: { digest: config.digest, size: config.size }, layers }, blobs };
}

/** Returns the bytes of a layer; a compressed layer is first uncompressed into the directory. */
async function layerBytes({ path, directory, signal }: Reading, layer: ArchivedLayer): Promise<BlobBytes> {
  const { offset, size, digest, diffId } = layer;
  if (digest === diffId) return { path, offset, size };
  const expand = await decompressor(path, offset);
  if (!expand) throw new Error(`${path}: layer ${diffId} is damaged: its bytes have the digest ${digest}`);
  const hash = createHash('sha256');
  let expanded = 0;
  const target = join(directory, diffId.replaceAll(/[^0-9a-f]/g, ''));
  await pipeline(
    createReadStream(path, { start: offset, end: offset + size - 1 }),
    expand,
    async function* (bytes: AsyncIterable<Uint8Array>) {
      for await (const piece of bytes) {
        expanded += piece.length;
        if (expanded > maxImageBytes)
          throw new Error(`${path}: a layer has more than ${maxImageBytes} bytes`);
        hash.update(piece);
        yield piece;
      }
    },
    createWriteStream(target, { mode: 0o600 }),
    { signal },
  );
  const actual = `sha256:${hash.digest('hex')}`;
  if (actual !== diffId) throw new Error(`${path}: layer ${diffId} is damaged: uncompressed it is ${actual}`);
  return { path: target, offset: 0, size: expanded };
}

/** Returns a stream that uncompresses the layer, by its first bytes; undefined for an unknown format. */
async function decompressor(path: string, offset: number) {
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, offset);
  const magic = buffer.toString('hex');
  if (magic.startsWith('1f8b')) return createGunzip();
  return magic === '28b52ffd' ? createZstdDecompress() : undefined;
}
