/** The names that this node serves, in its own /etc/hosts. */
import { chmod, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
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
  const draft = `${path}.minik8s-${process.pid}`;
  try {
    await writeFile(draft, next);
    const { mode } = await stat(path).catch(() => ({ mode: 0o644 }));
    await chmod(draft, mode & 0o777);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    // A file that is mounted, as in a container, can not be replaced, only written.
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['EBUSY', 'EXDEV', 'EACCES', 'EROFS', 'EPERM'].includes(code)) throw error;
    await writeFile(path, next);
  }
}
