/**
 * A file in the data directory while a restoration exchanges folders. No master starts then, and the next
 * restoration begins anew.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { troubleAt } from '../os/file-trouble.ts';
import { ifThere } from '../os/if-there.ts';
import { removeLeftDrafts, replaceFile } from '../os/replace-file.ts';

/** Name of the file. */
export const restoringMark = 'restoring';

/** Folders of the data directory that a restoration exchanges. */
export const folders = ['pki', 'etcd'] as const;
export type Folder = (typeof folders)[number];

export interface Restoring {
  readonly folders: readonly Folder[];
  /** Time of the restoration, which is in the names of folders that it has moved aside. */
  readonly at: number | undefined;
}

const advice = 'minik8s backup restore moves folders: run it again';

/** Resolves when the file is on disk. */
export async function writeMark(dataDir: string, { folders: wanted, at }: Restoring): Promise<void> {
  const path = join(dataDir, restoringMark);
  await removeLeftDrafts(dataDir, restoringMark);
  await replaceFile(path, `${advice}\n${wanted.join(' ')} ${at}\n`, { mode: 0o600 }).catch((error) => {
    throw troubleAt(path, error);
  });
}

/** Resolves to what an interrupted restoration was about; to undefined if there was none. */
export async function readMark(dataDir: string): Promise<Restoring | undefined> {
  const text = await ifThere(readFile(join(dataDir, restoringMark), 'utf8'));
  if (text === undefined) return undefined;
  const words = (text.split('\n')[1] ?? '').split(' ');
  const named = folders.filter((folder) => words.includes(folder));
  const at = Number(words.at(-1));
  // Earlier versions named no folders; they are taken for all.
  return named.length > 0 && at > 0 ? { folders: named, at } : { folders, at: undefined };
}

/** Path to which a restoration at that time moves a folder aside. */
export const asideOf = (dataDir: string, folder: Folder, at: number): string =>
  join(dataDir, `${folder}.before-restore-${at}`);
