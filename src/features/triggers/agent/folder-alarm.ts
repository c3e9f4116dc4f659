/**
 * Signals that something has changed in folders, by inotify; the change itself is found by reading them.
 * Folders are identified by descriptors, so that no link leads elsewhere. The kernel may drop events when
 * there are very many, and Node does not report that: users of this class must also check periodically.
 */
import { type FSWatcher, watch } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openDirectory, pathOf } from '../../../kubelet/volumes/sub-paths.ts';

/** Key of the nearest existing folder; no relative path in a folder has this name. */
const nearest = '/';

interface Watched {
  /** Device and inode, which identify the folder even if its path leads elsewhere by now. */
  readonly id: string;
  readonly watcher: FSWatcher;
}

export class FolderAlarm {
  readonly #onChange: () => void;
  readonly #watched = new Map<string, Watched>();
  #seen = new Set<string>();
  /**
   * The reason why some folder cannot be watched, for example that the machine's inotify watches are used up.
   */
  fault: string | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Begins a new pass over all folders. */
  begin(): void {
    this.#seen = new Set();
    this.fault = undefined;
  }

  /** Watches a folder; `path` is its name in this object. */
  async add(path: string, folder: FileHandle): Promise<void> {
    const { dev, ino } = await folder.stat();
    this.#watch(path, `${dev}:${ino}`, pathOf(folder));
  }

  /**
   * Watches the lowest existing folder on the way to the path that is reached without links. After a watch
   * has been added, the path is checked once more, because a folder that was created before would cause no
   * event.
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

  /** Ends a pass: stops watching folders that were not added since `begin`. */
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
