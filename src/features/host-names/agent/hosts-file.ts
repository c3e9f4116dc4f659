/** The host names that this node serves, in its own /etc/hosts. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { replaceFile } from '../../../os/replace-file.ts';
import { renderHostsFile } from './render-hosts.ts';

export interface HostsBlock {
  /** Path of the file, such as `/etc/hosts`. */
  readonly path: string;
  /** Identifies the block if one file has the blocks of several nodes. */
  readonly owner: string;
  readonly address: string;
}

/**
 * Writes the block with these names, atomically if the file system allows it; without names the block is
 * removed.
 */
export async function writeHostsBlock(block: HostsBlock, names: readonly string[]): Promise<void> {
  const { path, owner, address } = block;
  const old = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const next = renderHostsFile(old, owner, address, names);
  if (next === old) return;
  const { mode } = await stat(path).catch(() => ({ mode: 0o644 }));
  try {
    await replaceFile(path, next, { mode: mode & 0o777 });
  } catch (error) {
    // A file that is mounted, as in a container, cannot be replaced, only overwritten.
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['EBUSY', 'EXDEV', 'EACCES', 'EROFS', 'EPERM'].includes(code)) throw error;
    await writeFile(path, next);
  }
}
