/**
 * Reports what blocked the event loop: during a long turn, no other request, lease or watch is served. Marked
 * work is measured up to the end of its turn. A timer detects blocking by unmarked work; the timer runs only
 * while marked work arrives or is in progress, so that it does not wake an idle process.
 */
import { onAbort } from '../abort.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Fields, Logger } from '../log.ts';
import { type Family, Histograms } from '../metrics/exposition.ts';
import { histogram } from '../metrics/metric-family.ts';
import { TurnSegments, type Work } from './work.ts';

/** Duration of a turn, in milliseconds, above which it is reported. */
const heldMs = 100;
/**
 * Interval of the timer in milliseconds: a block by unmarked work is measured at most this much too short.
 */
const lookMs = 50;
/** Maximum log lines per minute; further blocks are counted, and the next written line has their number. */
const maxLinesPerMinute = 10;
const minuteMs = 60_000;
/** Maximum requests in progress that a report of unmarked work lists. */
const maxNamed = 3;
/** Histogram bounds in seconds. */
const bounds = [0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10];

export class LoopMeter {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #held = new Histograms(bounds);
  readonly #underWay = new Set<Work>();
  #turn: TurnSegments | undefined;
  /** Time of the last observed turn of the event loop. */
  #seen: number;
  #minuteBegan: number;
  #lines = 0;
  #unlogged = 0;
  /** True if blocking by unmarked work is detected. */
  #isWatching = false;
  /** Timer that runs while work arrives or is in progress. */
  #timer: Timer | undefined;
  /** True if work was marked since the last check of the timer. */
  #isBusy = false;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log.named('event-loop');
    this.#seen = clock.monotonic();
    this.#minuteBegan = this.#seen;
  }

  /** Records that the event loop does this work from now on, until other work is marked or the turn ends. */
  mark(work: Work): void {
    const now = this.#clock.monotonic();
    this.#isBusy = true;
    if (this.#turn) {
      this.#turn.mark(work, now);
      return;
    }
    const turn = new TurnSegments(work, now);
    this.#turn = turn;
    this.#clock.soon(() => {
      if (this.#turn === turn) this.turned();
    });
    if (this.#isWatching && !this.#timer) this.#arm(now);
  }

  /** The work that was marked last in this turn, for work that continues in a later turn. */
  get current(): Work | undefined {
    return this.#turn?.work;
  }

  /** Marks work that continues in later turns, until the returned function is called. */
  begin(work: Work): () => void {
    this.#underWay.add(work);
    this.mark(work);
    return () => void this.#underWay.delete(work);
  }

  /** Detects blocking by unmarked work, too, until the signal aborts. */
  watch(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#isWatching = true;
    onAbort(signal, () => {
      this.#isWatching = false;
      this.#timer?.cancel();
      this.#timer = undefined;
    });
  }

  /** Ends the turn of the event loop. Must be called first in a callback of `clock.soon` that marks work. */
  turned(): void {
    const turn = this.#turn;
    if (!turn) return;
    this.#turn = undefined;
    const now = this.#clock.monotonic();
    this.#seen = now;
    const ms = now - turn.began;
    if (ms <= heldMs) return;
    const longest = turn.end(now);
    this.#report(ms, longest.work.kind, { workMs: Math.round(longest.ms), ...longest.work.describe() });
  }

  /** Returns the metric of blocked seconds, by kind of work. */
  families(): readonly Family[] {
    return [
      histogram(
        'minik8s_event_loop_held_seconds',
        'Seconds of turns of the event loop that took longer than 0.1 s, by the kind of work that took most of it.',
        this.#held.samples(),
      ),
    ];
  }

  #arm(now: number): void {
    const due = now + lookMs;
    this.#timer = this.#clock.after(lookMs, () => {
      this.#timer = undefined;
      this.#look(due);
      const goesOn = this.#isBusy || this.#underWay.size > 0;
      this.#isBusy = false;
      if (goesOn) this.#arm(this.#seen);
    });
  }

  /** Checks for blocking by unmarked work; work marked in this turn is measured at the end of the turn. */
  #look(due: number): void {
    const now = this.#clock.monotonic();
    const ms = (this.#turn?.began ?? now) - Math.max(due, this.#seen);
    this.#seen = now;
    if (ms <= heldMs) return;
    const underWay = [...this.#underWay].slice(-maxNamed).map((work) => work.describe());
    const count = this.#underWay.size;
    this.#report(
      ms,
      'other',
      count === 0 ? {} : { underWayCount: count, underWay: JSON.stringify(underWay) },
    );
  }

  #report(ms: number, kind: string, fields: Fields): void {
    this.#held.observe({ kind }, ms / 1000);
    const now = this.#clock.monotonic();
    if (now - this.#minuteBegan >= minuteMs) {
      this.#minuteBegan = now;
      this.#lines = 0;
    }
    if (this.#lines >= maxLinesPerMinute) {
      this.#unlogged++;
      return;
    }
    this.#lines++;
    const unlogged = this.#unlogged > 0 ? { unlogged: this.#unlogged } : {};
    this.#unlogged = 0;
    this.#log.warn('the event loop was held', { ms: Math.round(ms), kind, ...fields, ...unlogged });
  }
}
