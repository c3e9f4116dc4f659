/**
 * Stores on disk which files of each watched folder have been reported. Each FolderWatch has one file, and
 * each write replaces the whole file.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDraft, replaceFile } from '../../../os/replace-file.ts';
import type { FolderWatch } from '../api/folder-watch.ts';
import type { Mark, Marks } from './plan/folder-changes.ts';

const format = 'minik8s-watched-folder-1';
const ending = '.json';

export class FolderMemory {
  readonly #directory: string;
  /** Names of the files that are being written; their temporary files must not be removed. */
  readonly #writing = new Set<string>();

  /** `dataDir` is the agent's own directory. */
  constructor(dataDir: string) {
    this.#directory = join(dataDir, 'watched-folders');
  }

  /**
   * Returns the marks of a watch; undefined when nothing is stored for its uid. Throws for a file that cannot
   * be read.
   */
  async read(watch: FolderWatch): Promise<Map<string, Mark> | undefined> {
    const path = this.#path(watch);
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const {
      format: found,
      uid,
      files,
    } = JSON.parse(text) as {
      format?: string;
      /** Absent in files of earlier versions. */
      uid?: string;
      files: [string, number, string][];
    };
    if (found !== format) throw new Error(`${path} has the format ${found}, not ${format}`);
    if (uid !== undefined && uid !== watch.metadata.uid) return undefined;
    return new Map(files.map(([file, size, written]) => [file, { size, written }]));
  }

  async write(watch: FolderWatch, reported: Marks): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const files = Array.from(reported, ([path, { size, written }]) => [path, size, written]);
    const name = fileName(watch);
    this.#writing.add(name);
    try {
      await replaceFile(this.#path(watch), JSON.stringify({ format, uid: watch.metadata.uid, files }), {
        mode: 0o600,
      });
    } finally {
      this.#writing.delete(name);
    }
  }

  /** Removes the files of all other watches. */
  async keepOnly(watches: readonly FolderWatch[]): Promise<void> {
    const kept = new Set(watches.map(fileName));
    const names = await readdir(this.#directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    for (const name of names)
      if ((name.endsWith(ending) || isDraft(name)) && !kept.has(name) && !this.#isBeingWritten(name))
        await rm(join(this.#directory, name), { force: true });
  }

  async forget(watch: FolderWatch): Promise<void> {
    await rm(this.#path(watch), { force: true });
  }

  #isBeingWritten(draft: string): boolean {
    return [...this.#writing].some((name) => draft.startsWith(`${name}.`));
  }

  #path(watch: FolderWatch): string {
    return join(this.#directory, fileName(watch));
  }
}

/** Returns the file's name. It is unique because a namespace contains no dot. */
const fileName = ({ metadata: { namespace, name } }: FolderWatch) => `${namespace}.${name}${ending}`;
