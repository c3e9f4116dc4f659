/**
 * Keeps a sink equal to the server's objects of one kind: lists in pages, then watches, and resumes after the
 * last received event. The sink gets each change once and in order; when history is lost, it gets the
 * complete state in one call. Failures do not end the reflector: it retries with increasing delays. Only the
 * signal ends it.
 */
import type { KubeObject } from '../apimachinery/meta.ts';
import { isNotFound } from '../apimachinery/status-error.ts';
import { onAbort } from '../base/abort.ts';
import { Backoff } from '../base/backoff.ts';
import { type Clock, pause } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { ResourceClient, WatchEvent } from './client.ts';
import type { InformerScope } from './informer.ts';
import {
  type ActiveState,
  afterListFailure,
  afterWatch,
  initialState,
  type ReflectorState,
  type WatchOutcome,
} from './reflector-state.ts';
import { notAfter } from './resource-version.ts';

export type ObjectEvent<T extends KubeObject> = Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>;

export interface ReflectorSink<T extends KubeObject> {
  /** Replaces the content of the sink: exactly these objects exist. */
  replace(items: readonly T[]): void;
  apply(event: ObjectEvent<T>): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly resource: Pick<ResourceClient<T>, 'list' | 'watch'>;
  readonly scope?: InformerScope;
  readonly sink: ReflectorSink<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /**
   * If true, the first list includes every write that was acknowledged before the request. Otherwise the
   * server may return an older state.
   */
  readonly newest?: boolean;
  /** Objects in a page; default 500, as in client-go's informers. */
  readonly pageSize?: number;
  /**
   * Time without events or bookmarks after which a watch is ended, at the latest after twice this time;
   * default 90 s.
   */
  readonly silenceMs?: number;
}

/** Runs a reflector. Resolves once the signal has aborted; never rejects. */
export async function runReflector<T extends KubeObject>(
  options: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> {
  await new Reflector(options, signal).run();
}

class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #signal: AbortSignal;
  /** Backoff of client-go: 0.8 s to 30 s, at most doubled by jitter. */
  readonly #backoff: Backoff;
  #failing = false;

  constructor(options: ReflectorOptions<T>, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#backoff = new Backoff({ initialMs: 800, maxMs: 30_000 }, options.random);
  }

  async run(): Promise<void> {
    let state: ReflectorState<T> = this.#options.newest ? { ...initialState, from: '' } : initialState;
    while (!this.#signal.aborted) {
      state = state.phase === 'wait' ? await this.#wait(state.next, state.error) : await this.#step(state);
    }
  }

  async #step(state: ActiveState<T>): Promise<ReflectorState<T>> {
    switch (state.phase) {
      case 'list':
      case 'page':
        try {
          return await this.#list(state);
        } catch (error) {
          return afterListFailure(state, error);
        }
      case 'listed':
        this.#options.sink.replace(state.items);
        return { phase: 'watch', resourceVersion: state.resourceVersion, wasSilent: false };
      case 'watch':
        return afterWatch(state, await this.#watch(state.resourceVersion));
    }
  }

  async #list(state: Extract<ActiveState<T>, { phase: 'list' | 'page' }>): Promise<ReflectorState<T>> {
    const { resource, scope, pageSize = 500 } = this.#options;
    const signal = this.#signal;
    const list = await resource.list(
      state.phase === 'page'
        ? { ...scope, signal, limit: pageSize, continue: state.continue }
        : { ...scope, signal, ...(state.paged && { limit: pageSize }), resourceVersion: state.from },
    );
    const items = state.phase === 'page' ? [...state.items, ...list.items] : list.items;
    const { continue: token, resourceVersion } = list.metadata;
    if (token) return { phase: 'page', from: state.from, continue: token, items };
    return { phase: 'listed', items, resourceVersion };
  }

  async #watch(from: string): Promise<WatchOutcome> {
    const { resource, scope, clock, random } = this.#options;
    const startedAt = clock.now();
    const watchdog = new Watchdog(clock, this.#options.silenceMs ?? 90_000, this.#signal);
    // 5 to 10 minutes, as in client-go: a lost connection is detected, and watches spread over the servers.
    const timeoutSeconds = Math.floor(300 + 300 * random.next());
    let resourceVersion = from;
    let heard = false;
    try {
      const stream = resource.watch({ ...scope, resourceVersion, timeoutSeconds, signal: watchdog.signal });
      for await (const event of stream) {
        heard = true;
        watchdog.heard();
        this.#recovered();
        resourceVersion = this.#take(event, resourceVersion);
      }
      if (watchdog.silent) return { how: 'silent', resourceVersion, heard };
      return { how: 'ended', ms: clock.now() - startedAt, resourceVersion, heard };
    } catch (error) {
      if (watchdog.silent) return { how: 'silent', resourceVersion, heard };
      return { how: 'failed', error, resourceVersion, heard };
    } finally {
      watchdog.stop();
    }
  }

  /**
   * Passes an event on and returns the version to resume from. A repeated event, whose version is not newer
   * than the last one, is dropped.
   */
  #take(event: WatchEvent<T>, last: string): string {
    const version = event.object.metadata.resourceVersion;
    if (event.type === 'BOOKMARK') return version || last;
    const repeated = notAfter(version, last);
    // Some servers send the last stored version with a deletion, so the sink compares it with its own object.
    if (!repeated || event.type === 'DELETED') this.#options.sink.apply(event);
    return repeated ? last : version;
  }

  async #wait(next: ActiveState<T>, error: unknown): Promise<ReflectorState<T>> {
    const ms = this.#backoff.next();
    if (!this.#signal.aborted) this.#reportFailure(next, error, ms);
    await pause(this.#options.clock, ms, this.#signal);
    return next;
  }

  #reportFailure(next: ActiveState<T>, error: unknown, ms: number): void {
    const fields = { error: errorMessage(error), next: next.phase, retryMs: Math.round(ms) };
    if (this.#failing) this.#options.log.debug('list and watch still fails', fields);
    // The definition of a custom kind may be made later.
    else if (next.phase === 'list' && isNotFound(error))
      this.#options.log.info('the server does not serve this kind; trying again', fields);
    else this.#options.log.warn('list and watch failed; trying again', fields);
    this.#failing = true;
  }

  #recovered(): void {
    this.#backoff.reset();
    if (!this.#failing) return;
    this.#failing = false;
    this.#options.log.info('list and watch succeeds again');
  }
}

/** Aborts a watch that receives nothing between two ticks. */
class Watchdog {
  readonly #abort = new AbortController();
  readonly #unlink: () => void;
  readonly #clock: Clock;
  readonly #ms: number;
  #timer: { cancel(): void };
  #heard = false;
  silent = false;

  constructor(clock: Clock, ms: number, parent: AbortSignal) {
    this.#clock = clock;
    this.#ms = ms;
    this.#unlink = onAbort(parent, () => this.#abort.abort(parent.reason));
    this.#timer = clock.after(ms, () => this.#tick());
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  heard(): void {
    this.#heard = true;
  }

  stop(): void {
    this.#timer.cancel();
    this.#unlink();
  }

  #tick(): void {
    if (this.#heard) {
      this.#heard = false;
      this.#timer = this.#clock.after(this.#ms, () => this.#tick());
      return;
    }
    this.silent = true;
    this.#abort.abort(new DOMException('the watch went silent', 'AbortError'));
  }
}
