/** Reads the logs of several containers at once, merged in the order of their times. */
import { type Signal, signal } from '@preact/signals';
import { StatusError } from '../../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../../base/log.ts';
import { request } from '../../cluster/request.ts';
import { isRequestedAgain } from './plan/log-again.ts';
import {
  emptyLog,
  LineReader,
  type LogLine,
  linesAfter,
  type MergedLog,
  mergeLines,
} from './plan/log-lines.ts';
import { type LogOptions, type LogSource, logPath } from './plan/log-sources.ts';

/** Maximum number of lines that a page keeps. */
const maxLines = 20_000;
/** Time for which lines are gathered before they are shown. */
const gatherMs = 120;
/**
 * Time after which a log is requested again whose connection broke; it doubles each time, up to `maxMs`.
 */
const againMs = 1_000;
const maxMs = 30_000;

export interface FollowedLog {
  readonly log: MergedLog;
  /** Failures by the number of the source. */
  readonly failures: ReadonlyMap<number, string>;
  /** True until each source has answered. */
  readonly isLoading: boolean;
}

/** The reading of one container. */
interface Reading {
  readonly number: number;
  /** Time of the last line that was read. */
  after: string;
  wasRead: boolean;
  /** Failures since it was last read. */
  cuts: number;
  /** The container as it was seen last. */
  source: LogSource;
  /** Number of restarts when its log was read to its end; undefined while it is read. */
  ended: number | undefined;
}

export class LogFollower {
  readonly state: Signal<FollowedLog> = signal({ log: emptyLog, failures: new Map(), isLoading: true });
  readonly #abort = new AbortController();
  readonly #options: LogOptions;
  readonly #arrived: LogLine[] = [];
  readonly #readings = new Map<string, Reading>();
  readonly #waiting = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** Reads the containers that are not read yet, and those that were restarted since their log ended. */
  follow(sources: readonly LogSource[]): void {
    for (const source of sources) if (source.isStarted) this.#seen(source);
    if (this.#waiting.size === 0) this.#publishLater();
  }

  /** Returns the container of each number in the lines. */
  get sources(): readonly LogSource[] {
    return [...this.#readings.values()].map(({ source }) => source);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  #seen(source: LogSource): void {
    const known = this.#readings.get(source.id);
    const fresh: Reading = {
      number: this.#readings.size,
      after: '',
      wasRead: false,
      cuts: 0,
      source,
      ended: -1,
    };
    const reading = known ?? fresh;
    reading.source = source;
    if (!known) {
      this.#readings.set(source.id, reading);
      this.#waiting.add(reading.number);
    }
    const isAgain = this.#options.isFollowing && !this.#options.isPrevious;
    if (reading.ended === undefined || (known && !isAgain) || reading.ended === source.restarts) return;
    reading.ended = undefined;
    void this.#read(reading);
  }

  /** Reads a log to its end; after a broken connection it is requested again. */
  async #read(reading: Reading): Promise<void> {
    while (!this.#abort.signal.aborted) {
      const isCut = await this.#attempt(reading);
      if (!isCut) break;
      await new Promise((resolve) => setTimeout(resolve, Math.min(againMs * 2 ** reading.cuts++, maxMs)));
    }
    reading.ended = reading.source.restarts;
  }

  /**
   * Resolves to true if the log has to be requested again: its connection broke, or the server ended it or
   * cannot answer, as while it starts again, although the container runs.
   */
  async #attempt(reading: Reading): Promise<boolean> {
    const { number, source, after } = reading;
    const resumed = { tail: undefined, since: after.replace(/\.\d+Z$/, 'Z') };
    const options = after === '' ? this.#options : { ...this.#options, ...resumed };
    try {
      await this.#readOnce(reading, logPath(source, options));
      this.#fail(number, undefined);
      return this.#isEndless(reading);
    } catch (error) {
      if (this.#abort.signal.aborted) return false;
      this.#answered(number);
      this.#fail(number, errorMessage(error));
      const status = error instanceof StatusError ? error.status.code : undefined;
      return isRequestedAgain({ status, wasRead: reading.wasRead, isEndless: this.#isEndless(reading) });
    }
  }

  #isEndless({ source }: Reading): boolean {
    return this.#options.isFollowing && !this.#options.isPrevious && source.isRunning;
  }

  async #readOnce(reading: Reading, path: string): Promise<void> {
    const { number, after } = reading;
    const { body } = await request(path, { signal: this.#abort.signal });
    this.#answered(number);
    reading.wasRead = true;
    reading.cuts = 0;
    if (!body) return;
    const reader = new LineReader(number);
    const take = (lines: readonly LogLine[]) => {
      const fresh = linesAfter(lines, after);
      this.#arrived.push(...fresh);
      reading.after = fresh.at(-1)?.stamp ?? reading.after;
      this.#publishLater();
    };
    for await (const piece of body.pipeThrough(new TextDecoderStream())) take(reader.read(piece));
    take(reader.end());
  }

  #answered(number: number): void {
    if (this.#waiting.delete(number)) this.#publishLater();
  }

  #fail(number: number, failure: string | undefined): void {
    const { failures } = this.state.peek();
    if (failures.get(number) === failure) return;
    const next = new Map(failures);
    if (failure === undefined) next.delete(number);
    else next.set(number, failure);
    this.state.value = { ...this.state.peek(), failures: next };
  }

  #publishLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const lines = this.#arrived.splice(0);
      const { log, failures } = this.state.peek();
      this.state.value = {
        log: mergeLines(log, lines, maxLines),
        failures,
        isLoading: this.#waiting.size > 0,
      };
    }, gatherMs);
  }
}
