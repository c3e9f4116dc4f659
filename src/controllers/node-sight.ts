/**
 * Since when this process could have heard the nodes. Silence says something about a node only for the time in
 * which its heartbeats would have been heard: not while this process was stopped, starved or just started, and
 * not while the store took no writes, for then the fault was here and every node was silent alike.
 *
 * A tick that comes late tells of a stop (and of a clock that was set). Only when nobody was heard since the last
 * tick is the store asked whether it answers: a quiet cluster and a lost store look the same from here.
 */
import { onAbort } from '../base/abort.ts';
import type { Clock, Timer } from '../base/clock.ts';

export interface SightOptions {
  readonly clock: Clock;
  /** Milliseconds between ticks: a break twice as long is always noticed. */
  readonly tickMs: number;
  /** Rejects when the store does not answer. */
  readonly look: () => Promise<unknown>;
}

export class Sight {
  readonly #options: SightOptions;
  #following: AbortSignal | undefined;
  #timer: Timer | undefined;
  #dueAt = 0;
  #since = 0;
  #blind = false;
  #looking = false;
  #heardAt: number | undefined;
  #heardSinceTick = false;

  constructor(options: SightOptions) {
    this.#options = options;
  }

  /** Watches over itself until the signal aborts. What was not seen under an earlier signal does not count. */
  follow(signal: AbortSignal): void {
    if (this.#following === signal) return;
    this.#following = signal;
    this.#timer?.cancel();
    onAbort(signal, () => {
      if (this.#following === signal) this.#timer?.cancel();
    });
    this.#regain();
    this.#arm();
  }

  /** A heartbeat of any node came. After a silence of all that was longer than `limit` everybody gets a new chance. */
  heard(limit: () => number): void {
    const { clock, tickMs } = this.#options;
    const now = clock.now();
    const gap = now - (this.#heardAt ?? now);
    if (this.#blind || (gap > tickMs && gap > limit())) this.#regain();
    this.#heardAt = now;
    this.#heardSinceTick = true;
  }

  /** Milliseconds since anybody was heard. */
  quietFor(): number {
    const now = this.#options.clock.now();
    return now - Math.max(this.#heardAt ?? 0, this.#since);
  }

  /** Milliseconds for which a node that was last heard at `at` could have been heard again and was not. */
  silenceSince(at: number): number {
    this.#noticeBreak();
    const now = this.#options.clock.now();
    // Heard in the future: the clock was set back meanwhile.
    return this.#blind ? 0 : now - Math.max(at > now ? 0 : at, this.#since);
  }

  #regain(): void {
    this.#since = this.#options.clock.now();
    this.#blind = false;
  }

  #arm(): void {
    const { clock, tickMs } = this.#options;
    this.#dueAt = clock.now() + tickMs;
    this.#timer = clock.after(tickMs, () => {
      this.#noticeBreak();
      if (!this.#heardSinceTick) void this.#look();
      this.#heardSinceTick = false;
      this.#arm();
    });
  }

  /** Asked before every judgement too: after a stop the timers of nodes may run before the tick does. */
  #noticeBreak(): void {
    const { clock, tickMs } = this.#options;
    const now = clock.now();
    if (now > this.#dueAt + tickMs || now < this.#dueAt - 2 * tickMs) {
      this.#dueAt = now + tickMs;
      if (!this.#blind) this.#regain();
    }
  }

  async #look(): Promise<void> {
    // The look before this one has not been answered in all that time.
    if (this.#looking) {
      this.#blind = true;
      return;
    }
    this.#looking = true;
    try {
      await this.#options.look();
      if (this.#blind) this.#regain();
    } catch {
      this.#blind = true;
    } finally {
      this.#looking = false;
    }
  }
}
