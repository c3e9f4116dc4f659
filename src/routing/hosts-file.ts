/** The names that this node serves, in its own /etc/hosts. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { replaceFile } from '../base/replace-file.ts';
import { renderHostsFile } from './render-hosts.ts';

export interface HostsBlock {
  /** Such as `/etc/hosts`. */
  readonly path: string;
  /** Tells the blocks of several nodes in one file apart. */
  readonly owner: string;
  readonly address: string;
}

/** Brings the block to these names, in one step where the file system can; without names it is taken out. */
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
    // A file that is mounted, as in a container, cannot be replaced, only written.
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['EBUSY', 'EXDEV', 'EACCES', 'EROFS', 'EPERM'].includes(code)) throw error;
    await writeFile(path, next);
  }
}
