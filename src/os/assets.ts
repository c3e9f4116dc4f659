/**
 * Files that are embedded in the packaged executable: etcd, kustomize, the pause image, descriptions,
 * licenses. In development, they are read from dist/assets, where `node build.ts --assets` creates them on
 * first use.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createZstdDecompress } from 'node:zlib';
import { giveBackMapped } from './allocator.ts';
import { replaceFile } from './replace-file.ts';

/** Bundled entry points of threads (thread.ts); only the packaged executable has them. */
export type ThreadName = 'yaml-worker' | 'jsonata-worker';

/**
 * Names of the assets.
 * - `etcd.zst` and `kustomize.zst` are compressed: only `extractAsset` reads them, once in each place.
 * - `pause.tar` is an image for `docker load`; `pause.reference` is the name that it then has.
 * - `field-docs.json` has Kubernetes' descriptions of its types and fields.
 * - `dashboard.pack` has the files of the dashboard's app (src/dashboard/server/asset-pack.ts).
 * - `licenses.txt` has the licenses of everything in the packaged executable.
 * - `samples.zst` has the files of `minik8s samples` (src/roles/samples/sample-files.ts).
 * - `run.py` and `run.mjs` serve the calls of functions, in their images.
 */
export type AssetName =
  | 'etcd.zst'
  | 'kustomize.zst'
  | 'pause.tar'
  | 'pause.reference'
  | 'field-docs.json'
  | 'dashboard.pack'
  | 'licenses.txt'
  | 'samples.zst'
  | 'run.py'
  | 'run.mjs'
  | `${ThreadName}.cjs`;

/** Code from which the commands of the packaged executable are loaded (config/build/load-application.ts). */
export type ApplicationName = 'client' | 'server';
/** Source of the servers, and its compiled form. */
type ApplicationPart = `server.${'cjs' | 'cache'}`;

/**
 * Returns the asset's bytes. The packaged executable maps them without a copy: writing to them crashes the
 * process.
 */
export function readAsset(name: AssetName): Buffer {
  return read(name);
}

/**
 * Writes the asset to `path` with `mode` (such as 0o755), atomically: readers see the old file or the
 * complete new one. A name that ends with `.zst` is decompressed. Does nothing when the file already is this
 * asset. Creates missing directories.
 */
export async function extractAsset(name: AssetName, path: string, mode: number): Promise<void> {
  const time = stampOf(name);
  const content = readAsset(name);
  const isCompressed = name.endsWith('.zst');
  const size = isCompressed ? decompressedSize(content) : content.length;
  if (await isStamped(path, size, time)) return chmod(path, mode);
  try {
    await mkdir(dirname(path), { recursive: true });
    await replaceFile(path, isCompressed ? decompressed(content) : content, { mode, modified: time });
  } catch (error) {
    throw new Error(`cannot write ${path}; check the disk's space and rights`, { cause: error });
  }
  forgetAsset(name);
}

/** Size in bytes of the pieces of a decompressed asset: more would only take memory. */
const pieceSize = 2 ** 20;

/** Returns the decompressed content in pieces, so that a small machine never holds all of it in memory. */
const decompressed = (content: Uint8Array): AsyncIterable<Uint8Array> =>
  Readable.from([content]).compose(createZstdDecompress({ chunkSize: pieceSize }));

/** Releases the memory of an asset that was read, in the packaged executable; a later read loads it again. */
export function forgetAsset(name: AssetName | ApplicationPart): void {
  if (isSea()) giveBackMapped(new Uint8Array(getRawAsset(name)));
}

/**
 * Returns the modification time, in seconds, of a file with this asset. It is derived from the asset's
 * digest, so that the time alone shows if a file is current: reading 25 MB at every start would take longer
 * than everything else.
 */
function stampOf(name: AssetName): number {
  const digests: unknown = JSON.parse(read('digests.json').toString());
  const digest = (digests as Readonly<Record<string, string>>)[name] ?? '';
  return Number.parseInt(digest.slice(0, 7), 16);
}

/**
 * Returns the size that the header of a zstd frame states (RFC 8878). The build writes it in four bytes,
 * behind a window descriptor unless the frame is a single segment.
 */
function decompressedSize(frame: Buffer): number {
  const descriptor = frame.readUInt8(4);
  if (descriptor >> 6 !== 2) throw new Error('the header of a compressed asset has no size of four bytes');
  return frame.readUInt32LE(descriptor & 0x20 ? 5 : 6);
}

async function isStamped(path: string, size: number, time: number): Promise<boolean> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size === size && found.mtimeMs === time * 1000;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function read(name: AssetName | 'digests.json'): Buffer {
  if (isSea()) return Buffer.from(getRawAsset(name));
  const root = new URL('../../', import.meta.url);
  const path = new URL(`dist/assets/${name}`, root);
  if (!existsSync(path)) {
    execFileSync(process.execPath, [fileURLToPath(new URL('build.ts', root)), '--assets'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return readFileSync(path);
}
