/**
 * Says that something has happened in folders, by inotify; what, is looked for. Which folder is meant is said by a descriptor, so no
 * link leads elsewhere. The kernel may forget what happens when very much does, and Node does not say so: whoever waits for this
 * looks once in a while anyway.
 */
import { type FSWatcher, watch } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openDirectory, pathOf } from '../volumes/sub-paths.ts';

/** What no folder in a folder is called. */
const nearest = '/';

interface Watched {
  /** Which folder it is, wherever its path leads by now. */
  readonly id: string;
  readonly watcher: FSWatcher;
}

export class FolderAlarm {
  readonly #onChange: () => void;
  readonly #watched = new Map<string, Watched>();
  #seen = new Set<string>();
  /** Why some folder cannot be watched, such as that the machine's inotify watches are used up. */
  fault: string | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** A new look at all folders begins. */
  begin(): void {
    this.#seen = new Set();
    this.fault = undefined;
  }

  /** `path` is what it is called here. */
  async add(path: string, folder: FileHandle): Promise<void> {
    const { dev, ino } = await folder.stat();
    this.#watch(path, `${dev}:${ino}`, pathOf(folder));
  }

  /**
   * Of the folders above the path the lowest that is there and to which no link leads. What was made before
   * that was watched is looked for once more: nothing else would say it.
   */
  async addNearest(path: string): Promise<void> {
    let watched: string | undefined;
    for (;;) {
      const lowest = await lowestFolder(path);
      if (lowest === undefined) return;
      await using folder = lowest.folder;
      if (lowest.path === watched) return;
      watched = lowest.path;
      await this.add(nearest, folder);
      if (watched === path) return this.#onChange();
    }
  }

  /** Those that were not added since it began are not watched any more. */
  end(): void {
    for (const path of this.#watched.keys()) if (!this.#seen.has(path)) this.#drop(path);
  }

  close(): void {
    for (const path of this.#watched.keys()) this.#drop(path);
  }

  #watch(path: string, id: string, at: string): void {
    this.#seen.add(path);
    if (this.#watched.get(path)?.id === id) return;
    this.#drop(path);
    try {
      const watcher = watch(at, { persistent: false }, this.#onChange);
      watcher.on('error', () => {
        if (this.#watched.get(path)?.watcher === watcher) this.#drop(path);
        this.#onChange();
      });
      this.#watched.set(path, { id, watcher });
    } catch (error) {
      this.fault = (error as Error).message;
    }
  }

  #drop(path: string): void {
    this.#watched.get(path)?.watcher.close();
    this.#watched.delete(path);
  }
}

async function lowestFolder(path: string): Promise<{ path: string; folder: FileHandle } | undefined> {
  for (let at = path; ; at = dirname(at)) {
    const folder = await openDirectory(at).catch(() => undefined);
    if (folder) return { path: at, folder };
    if (at === dirname(at)) return undefined;
  }
}
