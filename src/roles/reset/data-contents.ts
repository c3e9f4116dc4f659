/** Contents of a data directory, and their removal. */
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { restoringMark } from '../../backup/restoring-mark.ts';
import { isScratch } from '../../backup/scratch.ts';
import type { Exec } from '../../os/exec.ts';
import { removeTree } from '../../os/remove-tree.ts';
import { isDraft } from '../../os/replace-file.ts';

/** Entries of a data directory that minik8s creates; other entries are kept. */
const contents = [
  'pki',
  'bin',
  'kubelet',
  'images',
  'node',
  'admin.conf',
  'minik8s.pid',
  'run.json',
  restoringMark,
  'etcd',
];

/** Returns true for the logs of the quick start: the one that is written, and rotated ones. */
const isLog = (name: string) => name === 'up.out' || /^up\.log(\.\d+)?$/.test(name);

/** Returns true for other entries of minik8s: drafts, scratch, and data that were moved aside. */
const isTemporary = (name: string) =>
  isLog(name) || isDraft(name) || isScratch(name) || /^(pki|etcd)\.before-(restore|join)-\d+$/.test(name);

/** Resolves to the names of the entries; to none if there is no directory. */
export async function entriesOf(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Returns true for the entries of a control plane that has never run pods: a node creates `kubelet` before
 * anything else.
 */
export const isMasterAlone = (entries: readonly string[]): boolean =>
  (entries.includes('pki') || entries.includes('etcd')) && !entries.includes('kubelet');

/** Returns true if there are only the entries that every start creates first. */
export const hasOnlyStarted = (entries: readonly string[]): boolean =>
  entries.length > 0 && entries.every((name) => name === 'minik8s.pid' || name === 'run.json' || isLog(name));

/**
 * Removes the contents, and the directory if nothing else is in it. Resolves to the entries that are left.
 */
export async function removeContents(path: string, exec: Exec): Promise<readonly string[]> {
  const entries = await entriesOf(path);
  const place = (name: string) =>
    contents.includes(name) ? contents.indexOf(name) : isTemporary(name) ? 0 : -1;
  const ours = entries.filter((name) => place(name) >= 0).toSorted((a, b) => place(a) - place(b));
  for (const name of ours) await removeTree(join(path, name), exec);
  const left = entries.filter((name) => place(name) < 0);
  if (left.length === 0) await removeDirectory(path);
  return left;
}

/** A directory that is a mount point cannot be removed; it is left empty. */
async function removeDirectory(path: string): Promise<void> {
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EBUSY' && error.code !== 'ENOENT') throw error;
  });
}
