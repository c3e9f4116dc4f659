/** A client that watches ConfigMaps and resumes at the last revision when its connection ends. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';
import type { SeenEvent, Sight } from './history.ts';
import { path } from './writer.ts';

const againMs = 100;

interface WatchEvent {
  readonly type: SeenEvent['type'] | 'ERROR';
  readonly object: {
    readonly code?: number;
    readonly message?: string;
    readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
    readonly data?: { readonly value?: string };
  };
}

export class Watcher implements Sight {
  readonly watcher: string;
  readonly from: number;
  readonly events: SeenEvent[] = [];
  /** Number of connections. */
  connections = 0;
  /** Revision up to which events have been received. */
  last: number;
  readonly #pick: () => ApiClient;
  readonly #odd: string[];

  /**
   * `pick` returns the master for the next connection; `odd` receives errors after which a watch cannot be
   * resumed.
   */
  constructor(watcher: string, from: number, pick: () => ApiClient, odd: string[]) {
    this.watcher = watcher;
    this.from = from;
    this.last = from;
    this.#pick = pick;
    this.#odd = odd;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.connections++;
      const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${this.last}`;
      await this.#pick()
        .watch(`${path}?${query}`, (event) => this.#take(event as WatchEvent), signal)
        .catch(() => undefined);
      if (!signal.aborted) await pause(againMs);
    }
  }

  #take({ type, object }: WatchEvent): void {
    if (type === 'ERROR') {
      // A watch cannot be resumed only after an expired revision; other errors come from a disturbed master.
      if (object.code === 410) this.#odd.push(`${this.watcher}: expired at ${this.last}: ${object.message}`);
      return;
    }
    const { name = '', resourceVersion } = object.metadata ?? {};
    const revision = Number(resourceVersion);
    // Each namespace has the authority's certificate as an object.
    if (name !== 'kube-root-ca.crt')
      this.events.push(
        type === 'BOOKMARK'
          ? { type, name: '', value: '', revision }
          : { type, name, value: object.data?.value ?? '', revision },
      );
    this.last = Math.max(this.last, revision);
  }
}
