/** The folders that this node watches for triggers, as its FolderWatches specify. */

import { errorMessage } from '../../../base/log.ts';
import { type ObjectEvent, type ReflectorSink, runReflector } from '../../../client/reflector.ts';
import { type FolderWatch, folderWatchResource } from '../api/folder-watch.ts';
import { FolderMemory } from './folder-memory.ts';
import { WatchedFolder, type WatchedFolderOptions } from './watched-folder.ts';

export interface FolderWatchesOptions
  extends Pick<WatchedFolderOptions, 'client' | 'clock' | 'random' | 'log' | 'allowed' | 'maxFiles'> {
  readonly nodeName: string;
  /** The agent's own directory, inside the node's. */
  readonly dataDir: string;
}

interface Running {
  readonly watch: FolderWatch;
  readonly end: AbortController;
  /** Never rejects. */
  readonly done: Promise<void>;
}

export class FolderWatches implements ReflectorSink<FolderWatch> {
  readonly #options: FolderWatchesOptions;
  readonly #memory: FolderMemory;
  /** Running watches by uid. */
  readonly #running = new Map<string, Running>();
  /** Serializes the operations on the folder memory. */
  #tidied: Promise<void> = Promise.resolve();
  #signal = AbortSignal.abort();

  constructor(options: FolderWatchesOptions) {
    this.#options = options;
    this.#memory = new FolderMemory(options.dataDir);
  }

  /** Watches until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, nodeName, clock, random, log } = this.#options;
    this.#signal = signal;
    const scope = { fieldSelector: `spec.nodeName=${nodeName}` };
    const resource = client.resource(folderWatchResource);
    await runReflector({ resource, scope, sink: this, clock, random, log }, signal);
    await Promise.all(Array.from(this.#running.values(), ({ done }) => done));
    await this.#tidied;
  }

  replace(watches: readonly FolderWatch[]): void {
    const uids = new Set(watches.map(({ metadata }) => metadata.uid));
    const gone = [...this.#running.values()].filter(({ watch }) => !uids.has(watch.metadata.uid));
    for (const { watch } of gone) this.#stop(watch);
    this.#tidy(gone, () => this.#memory.keepOnly(Array.from(this.#running.values(), ({ watch }) => watch)));
    for (const watch of watches) this.#start(watch);
  }

  apply({ type, object }: ObjectEvent<FolderWatch>): void {
    if (type !== 'DELETED') {
      this.#start(object);
      return;
    }
    const gone = this.#running.get(object.metadata.uid);
    this.#stop(object);
    this.#tidy(gone ? [gone] : [], () => this.#memory.forget(object));
  }

  #start(watch: FolderWatch): void {
    const { uid } = watch.metadata;
    if (this.#running.has(uid)) return;
    const end = new AbortController();
    const folder = new WatchedFolder({ ...this.#options, watch, memory: this.#memory });
    // A deleted watch of the same name must end first, and its memory must be removed.
    const done = this.#tidied.then(() => folder.run(AbortSignal.any([this.#signal, end.signal])));
    this.#running.set(uid, { watch, end, done });
  }

  #stop({ metadata: { uid } }: FolderWatch): void {
    this.#running.get(uid)?.end.abort();
    this.#running.delete(uid);
  }

  #tidy(gone: readonly Running[], work: () => Promise<void>): void {
    this.#tidied = Promise.all([this.#tidied, ...gone.map(({ done }) => done)])
      .then(work)
      .catch((error) =>
        this.#options.log.warn('cannot remove the records of folders that are no longer watched', {
          error: errorMessage(error),
        }),
      );
  }
}
