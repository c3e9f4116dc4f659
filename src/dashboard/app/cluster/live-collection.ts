/** The objects of one kind as a signal: listed and watched as long as something subscribes to the signal. */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { type KubeList, type KubeObject, objectKey } from '../../../apimachinery/meta.ts';
import { isForbidden, isNotFound } from '../../../apimachinery/status-error.ts';
import type { Timer } from '../../../base/clock.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { ClientListOptions } from '../../../client/client.ts';
import type { InformerScope } from '../../../client/informer.ts';
import { type ObjectEvent, type ReflectorSink, runReflector } from '../../../client/reflector.ts';
import { browserClock, browserRandom } from './ambient.ts';
import type { Followed } from './resources.ts';

export interface Collection<T> {
  /** While the first list is read, the objects that have arrived so far. */
  readonly items: readonly T[];
  /** True once the objects were listed; it stays true while a watch that was cut is resumed. */
  readonly synced: boolean;
  /** The failure of the last attempt; absent while the watch works. */
  readonly error: string | undefined;
  /**
   * True if the user may not list the kind, or the server no longer serves it. The next page that shows the
   * kind requests it again.
   */
  readonly refused: boolean;
}

/** Time for which changes are gathered, so that many of them are shown at once. */
const gatherMs = 100;
/** Interval at which more of a long list is shown while it arrives. */
const partMs = 250;
/** Time for which a failure is not shown: most watches that are cut are resumed at once. */
const briefMs = 2_500;
/** Time for which a watch without subscribers continues: users often return to a page that they left. */
const lingerMs = 10_000;

/** Returns the signal of a collection; `onEnd` is called when its watch has ended. */
export function liveCollection<T extends KubeObject>(
  resource: Followed<T>,
  scope: InformerScope,
  onEnd: () => void,
): ReadonlySignal<Collection<T>> {
  const store = new LiveCollection(resource, scope, onEnd);
  return store.state;
}

class LiveCollection<T extends KubeObject> implements ReflectorSink<T> {
  readonly state: Signal<Collection<T>>;
  readonly #resource: Followed<T>;
  readonly #scope: InformerScope;
  readonly #onEnd: () => void;
  readonly #objects = new Map<string, T>();
  #nextPart = 0;
  #abort: AbortController | undefined;
  #publishing: Timer | undefined;
  #ending: Timer | undefined;
  #reporting: Timer | undefined;

  constructor(resource: Followed<T>, scope: InformerScope, onEnd: () => void) {
    this.#resource = resource;
    this.#scope = scope;
    this.#onEnd = onEnd;
    const start: Collection<T> = { items: [], synced: false, error: undefined, refused: false };
    this.state = signal(start, { watched: () => this.#start(), unwatched: () => this.#endLater() });
  }

  replace(items: readonly T[]): void {
    this.#objects.clear();
    for (const item of items) this.#objects.set(objectKey(item), item);
    this.#publishing?.cancel();
    this.#publish();
  }

  apply(event: ObjectEvent<T>): void {
    const key = objectKey(event.object);
    if (event.type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, event.object);
    this.#publishing ??= browserClock.after(gatherMs, () => this.#publish());
  }

  /** Shows the beginning of the first list while the rest of it arrives. */
  #preview(objects: readonly T[]): void {
    if (this.state.peek().synced || performance.now() < this.#nextPart) return;
    this.#nextPart = performance.now() + partMs;
    this.state.value = { ...this.state.peek(), items: [...objects] };
  }

  #publish(): void {
    this.#publishing = undefined;
    this.#reporting?.cancel();
    this.state.value = { items: [...this.#objects.values()], synced: true, error: undefined, refused: false };
  }

  #start(): void {
    this.#ending?.cancel();
    if (this.#abort) return;
    this.#abort = new AbortController();
    void runReflector(
      {
        resource: {
          list: (options) => this.#list(options),
          watch: (options) => this.#resource.watch({ ...options, onOpen: () => this.#report(undefined) }),
        },
        scope: this.#scope,
        sink: this,
        clock: browserClock,
        random: browserRandom,
        log: this.#reporter(),
      },
      this.#abort.signal,
    );
  }

  /** Ends the watch when the list is refused: no later attempt of the same page would succeed. */
  async #list(options?: ClientListOptions): Promise<KubeList<T>> {
    try {
      return await this.#resource.list({ ...options, onPart: (objects) => this.#preview(objects) });
    } catch (error) {
      if (isForbidden(error) || isNotFound(error)) {
        this.#objects.clear();
        this.state.value = { items: [], synced: true, error: errorMessage(error), refused: true };
        this.#abort?.abort();
      }
      throw error;
    }
  }

  #endLater(): void {
    this.#ending = browserClock.after(lingerMs, () => {
      this.#abort?.abort(new DOMException('nothing shows these objects any more', 'AbortError'));
      this.#abort = undefined;
      this.#onEnd();
    });
  }

  /** Shows a failure that lasts; its end is shown at once. */
  #report(error: string | undefined): void {
    this.#reporting?.cancel();
    this.#reporting = undefined;
    const show = () => {
      if (this.state.peek().error !== error) this.state.value = { ...this.state.peek(), error };
    };
    if (error === undefined) show();
    else this.#reporting = browserClock.after(briefMs, show);
  }

  /** A logger through which the reflector reports failures and the end of them. */
  #reporter(): Logger {
    const reporter: Logger = {
      debug: () => undefined,
      warn: (message, fields) => this.#report(String(fields?.error ?? message)),
      error: (message) => this.#report(message),
      info: () => this.#report(undefined),
      named: () => reporter,
    };
    return reporter;
  }
}
