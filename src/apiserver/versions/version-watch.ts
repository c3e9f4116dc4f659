/** A watch of the cache whose events are in the version that a client addressed. */
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Cache, CacheEvent, CacheWatch, EndWatch } from '../../storage/cache.ts';
import { isReadUnchanged, type VersionReader } from './version-reader.ts';

/** Maximum number of events that wait for their conversion; beyond it the client must list again. */
const maxWaiting = 20_000;

export interface VersionWatch extends CacheWatch {
  /** Called once if an event cannot be converted: the watch cannot continue. */
  readonly onFailed: (error: unknown) => void;
}

export interface Watched {
  readonly definition: ResourceDefinition;
  readonly prefix: string;
  /** The only key whose events are wanted. */
  readonly key: string | undefined;
  /** True if the previous objects are needed in the version, too. */
  readonly withPrevious: boolean;
  /** Events after this revision are delivered. */
  readonly after: number;
}

/** Delivers events in order, each after its conversion. Throws CompactedError, as the cache does. */
export function watchVersion(
  { cache, versionReader }: { readonly cache: Cache; readonly versionReader: VersionReader },
  watched: Watched,
  watch: VersionWatch,
): EndWatch {
  const { definition, prefix, after } = watched;
  if (isReadUnchanged(definition)) return cache.watch(prefix, after, watch);
  const events = new EventsInVersion(versionReader, watched, watch);
  const unwatch = cache.watch(prefix, after, events);
  events.endWith = unwatch;
  return Object.assign(() => events.end(), { handedOver: () => events.handedOver() });
}

class EventsInVersion implements CacheWatch {
  readonly #reader: VersionReader;
  readonly #watched: Watched;
  readonly #watch: VersionWatch;
  /** Ends the watch of the cache. */
  endWith: EndWatch | undefined;
  #delivered: number;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(reader: VersionReader, watched: Watched, watch: VersionWatch) {
    this.#reader = reader;
    this.#watched = watched;
    this.#delivered = watched.after;
    this.#watch = watch;
  }

  readonly onEvents = (events: readonly CacheEvent[], revision: number): void => {
    const { definition, key, withPrevious } = this.#watched;
    const wanted = key === undefined ? events : events.filter((event) => event.key === key);
    this.#waiting += wanted.length + 1;
    if (this.#waiting > maxWaiting) {
      this.#finish(() => this.#watch.onExpired());
      return;
    }
    this.#then(async () => {
      const shown = await this.#reader.readEvents(definition, wanted, withPrevious);
      this.#waiting -= wanted.length + 1;
      if (this.#isOver) return;
      this.#delivered = revision;
      this.#watch.onEvents(shown, revision);
    });
  };

  readonly onExpired = (): void => {
    this.#then(async () => this.#finish(() => this.#watch.onExpired()));
  };

  end(): void {
    this.#isOver = true;
    this.endWith?.();
  }

  handedOver(): number {
    return this.#waiting > 0 ? this.#delivered : Math.max(this.#delivered, this.endWith?.handedOver() ?? 0);
  }

  /** Does the next step after those before it. A failed step ends the watch. */
  #then(step: () => Promise<void>): void {
    this.#last = this.#last.then(async () => {
      if (this.#isOver) return;
      try {
        await step();
      } catch (error) {
        this.#finish(() => this.#watch.onFailed(error));
      }
    });
  }

  #finish(report: () => void): void {
    if (this.#isOver) return;
    this.end();
    report();
  }
}
