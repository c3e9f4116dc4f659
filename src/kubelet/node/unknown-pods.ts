/**
 * Ends pods that run here although neither the API server nor a file of this node describes them. Nothing is
 * ended before every source of pods has been read, because until then any pod may be a wanted one.
 */
import type { PodWorkers } from '../pods/pod-workers.ts';
import type { RuntimeCache } from '../runtime/runtime-cache.ts';

/** A source of pods: the API server, or the files of static pods. */
export type PodSource = 'api' | 'files';

export interface UnknownPodsOptions {
  readonly cache: Pick<RuntimeCache, 'podUids'>;
  readonly workers: Pick<PodWorkers, 'has' | 'orphan'>;
  /** Sources of this node's pods. */
  readonly sources: readonly PodSource[];
}

export class UnknownPods {
  readonly #options: UnknownPodsOptions;
  readonly #unread: Set<PodSource>;

  constructor(options: UnknownPodsOptions) {
    this.#options = options;
    this.#unread = new Set(options.sources);
  }

  /** Records that all pods of the source have been passed to the workers. */
  hasRead(source: PodSource): void {
    this.#unread.delete(source);
  }

  /** Stops the unknown pods; does nothing while a source has not been read. */
  end(): void {
    const { cache, workers } = this.#options;
    if (this.#unread.size > 0) return;
    for (const uid of cache.podUids()) if (!workers.has(uid)) workers.orphan(uid);
  }
}
