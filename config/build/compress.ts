/**
 * Compression of what the one file contains. It takes twenty seconds of processor time, so its results are
 * used again: a kept one is decompressed first, which takes a fraction of a second, and used only if it gives
 * exactly the content.
 */
import { createHash } from 'node:crypto';
import { glob, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { replaceFile } from './replace-file.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
const level = 19;

/** Compresses content that is read only to be extracted; src/os/assets.ts decompresses it. */
export const compressed = (content: Uint8Array) =>
  compress(content, {
    pledgedSrcSize: content.length,
    params: { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: 1 },
  });

/** Folder of this user's kept results, which all clones of the repository use. */
const userCache = () => join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'minik8s');

/** Kept results that no build has used for this long are removed. */
const unusedMs = 30 * 24 * 3_600_000;

/**
 * Returns the same bytes as `compressed`, from the cache if a build has compressed this content before. The
 * name of a kept result contains the version of zstd, because another version may give other bytes.
 */
export async function compressedOnce(
  content: Uint8Array,
  cache = userCache(),
  now = new Date(),
): Promise<Uint8Array> {
  const digest = createHash('sha256').update(content).digest('hex');
  const path = join(cache, `compressed-${digest}-zstd-${process.versions.zstd}-${level}`);
  const kept = await keptResult(path, decompress, content);
  if (kept !== undefined) {
    await utimes(path, now, now);
    return kept;
  }
  const result = await compressed(content);
  await mkdir(cache, { recursive: true });
  await replaceFile(path, (draft) => writeFile(draft, result));
  await removeUnused(cache, now.getTime() - unusedMs);
  return result;
}

async function removeUnused(cache: string, before: number): Promise<void> {
  for await (const name of glob('compressed-*', { cwd: cache })) {
    const path = join(cache, name);
    if (((await unlessMissing(stat(path)))?.mtimeMs ?? before) < before) await rm(path, { force: true });
  }
}

const compressBrotli = promisify(brotliCompress);
const decompressBrotli = promisify(brotliDecompress);

/**
 * Writes a copy of the content, compressed by brotli, beside the file, and returns its size. The copy of an
 * earlier build remains if it has the same content.
 */
export async function writeBrotli(path: string, content: Uint8Array): Promise<number> {
  const target = `${path}.br`;
  const kept = await keptResult(target, decompressBrotli, content);
  if (kept !== undefined) return kept.length;
  const result = await compressBrotli(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
  await replaceFile(target, (draft) => writeFile(draft, result));
  return result.length;
}

/** Returns the content of a compressed file; undefined if it is missing or damaged, or has other content. */
async function keptResult(
  path: string,
  decompressWhole: (compressed: Uint8Array) => Promise<Buffer>,
  content: Uint8Array,
): Promise<Uint8Array | undefined> {
  const kept = await unlessMissing(readFile(path));
  if (kept === undefined) return undefined;
  try {
    return (await decompressWhole(kept)).equals(content) ? kept : undefined;
  } catch {
    // A damaged result is made again.
    return undefined;
  }
}

async function unlessMissing<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
