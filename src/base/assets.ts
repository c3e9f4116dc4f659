/**
 * Files that travel inside the one file: etcd, the pause image. In development they are those that
 * `node build.ts --assets` leaves in dist/assets, made on first use.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getRawAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

/** `pause.tar` is an image for `docker load`; `pause.reference` is the name it then has. */
export type AssetName = 'etcd' | 'pause.tar' | 'pause.reference';

/** The asset's bytes. In the packaged file they are mapped, not copied: writing to them ends the process. */
export function readAsset(name: AssetName): Buffer {
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

/**
 * Puts the asset at `path` with `mode` (such as 0o755), in one step: whoever looks sees the old file, or the whole
 * new one. Does nothing when the file is already that asset. Directories are made as needed.
 */
export async function extractAsset(name: AssetName, path: string, mode: number): Promise<void> {
  const content = readAsset(name);
  if (await holds(path, content)) return chmod(path, mode);
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, content, { mode, flush: true });
    await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new Error(`cannot write ${path}; check the disk's space and rights`, { cause: error });
  }
}

async function holds(path: string, content: Buffer): Promise<boolean> {
  try {
    const { size } = await stat(path);
    return size === content.length && content.equals(await readFile(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
