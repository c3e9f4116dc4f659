/**
 * Files that travel inside the one file: etcd, the pause image, descriptions, licences. In development they are those that
 * `node build.ts --assets` leaves in dist/assets, made on first use.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { giveBackMapped } from './allocator.ts';
import { replaceFile } from './replace-file.ts';

/** Entries of threads (thread.ts), bundled; only the packaged file has them. */
export type ThreadName = 'yaml-worker' | 'jsonata-worker';

/**
 * `pause.tar` is an image for `docker load`; `pause.reference` is the name it then has. `field-docs.json` is what Kubernetes says
 * of its types and fields; `licenses.txt` are the licences of all that is in the one file. `run.py` and `run.mjs` answer the calls of
 * functions, in their images.
 */
export type AssetName =
  | 'etcd'
  | 'pause.tar'
  | 'pause.reference'
  | 'field-docs.json'
  | 'licenses.txt'
  | 'run.py'
  | 'run.mjs'
  | `${ThreadName}.cjs`;

/**
 * What the packaged file's commands are loaded from (config/build/load-application.ts): source, and its
 * compiled form.
 */
export type ApplicationName = 'client' | 'server';
type ApplicationPart = `${ApplicationName}.${'cjs' | 'cache'}`;

/** The asset's bytes. In the packaged file they are mapped, not copied: writing to them ends the process. */
export function readAsset(name: AssetName): Buffer {
  return read(name);
}

/**
 * Puts the asset at `path` with `mode` (such as 0o755), in one step: whoever looks sees the old file, or the whole
 * new one. Does nothing when the file is already that asset. Directories are made as needed.
 */
export async function extractAsset(name: AssetName, path: string, mode: number): Promise<void> {
  const time = stampOf(name);
  const content = readAsset(name);
  if (await isStamped(path, content.length, time)) return chmod(path, mode);
  try {
    await mkdir(dirname(path), { recursive: true });
    await replaceFile(path, content, { mode, modified: time });
  } catch (error) {
    throw new Error(`cannot write ${path}; check the disk's space and rights`, { cause: error });
  }
  forgetAsset(name);
}

/** An asset that was read stays in memory, in the packaged file; after this no longer, until it is read again. */
export function forgetAsset(name: AssetName | ApplicationPart): void {
  if (isSea()) giveBackMapped(new Uint8Array(getRawAsset(name)));
}

/**
 * The modification time, in seconds, of a file that holds this asset. It is made from the asset's digest, so that a
 * look at the file tells whether it is the current one: reading 20 MB at every start would take longer than the rest.
 */
function stampOf(name: AssetName): number {
  const digests: unknown = JSON.parse(read('digests.json').toString());
  const digest = (digests as Readonly<Record<string, string>>)[name] ?? '';
  return Number.parseInt(digest.slice(0, 7), 16);
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
