/**
 * Since when this process has been able to receive the heartbeats of nodes. A missing heartbeat says something about a
 * node only for that time: not while this process was stopped, starved or just started, and not while the store
 * accepted no writes, because then the heartbeats of all nodes were missing.
 *
 * A late tick shows that this process was stopped (or that the clock was set). When no heartbeat arrived since the last
 * tick, the store is probed: a quiet cluster and a lost store look the same from here.
 */
import { onAbort } from '../../base/abort.ts';
import type { Clock, Timer } from '../../base/clock.ts';

export interface HeartbeatMonitorOptions {
  readonly clock: Clock;
  /** Milliseconds between ticks: an interruption of twice that time is always noticed. */
  readonly tickMs: number;
  /** Rejects when the store does not answer. */
  readonly probeStore: () => Promise<unknown>;
}

export class HeartbeatMonitor {
  readonly #options: HeartbeatMonitorOptions;
  #following: AbortSignal | undefined;
  #timer: Timer | undefined;
  #dueAt = 0;
  #since = 0;
  /** The store does not answer, so no heartbeat can arrive. */
  #storeLost = false;
  #probing = false;
  #receivedAt: number | undefined;
  #receivedSinceTick = false;

  constructor(options: HeartbeatMonitorOptions) {
    this.#options = options;
  }

  /** Ticks until the signal aborts. Heartbeats that were missing before the call do not count. */
  follow(signal: AbortSignal): void {
    if (this.#following === signal) return;
    this.#following = signal;
    this.#timer?.cancel();
    onAbort(signal, () => {
      if (this.#following === signal) this.#timer?.cancel();
    });
    this.#restart();
    this.#arm();
  }

  /** A heartbeat of any node arrived. If none had arrived for longer than `limit`, all nodes start afresh. */
  record(limit: () => number): void {
    const { clock, tickMs } = this.#options;
    const now = clock.now();
    const gap = now - (this.#receivedAt ?? now);
    if (this.#storeLost || (gap > tickMs && gap > limit())) this.#restart();
    this.#receivedAt = now;
    this.#receivedSinceTick = true;
  }

  /** Milliseconds since the last heartbeat of any node. */
  quietFor(): number {
    const now = this.#options.clock.now();
    return now - Math.max(this.#receivedAt ?? this.#since, this.#since);
  }

  /** Milliseconds in which a heartbeat could have arrived from a node whose last one arrived at `at`. */
  silenceSince(at: number): number {
    this.#noticeInterruption();
    const now = this.#options.clock.now();
    // A heartbeat in the future: the clock was set back meanwhile.
    return this.#storeLost ? 0 : now - Math.max(at > now ? this.#since : at, this.#since);
  }

  #restart(): void {
    this.#since = this.#options.clock.now();
    this.#storeLost = false;
  }

  #arm(): void {
    const { clock, tickMs } = this.#options;
    this.#dueAt = clock.now() + tickMs;
    this.#timer = clock.after(tickMs, () => {
      this.#noticeInterruption();
      if (!this.#receivedSinceTick) void this.#probe();
      this.#receivedSinceTick = false;
      this.#arm();
    });
  }

  /** Also called before every answer: after a stop the timers of nodes may run before the tick does. */
  #noticeInterruption(): void {
    const { clock, tickMs } = this.#options;
    const now = clock.now();
    if (now > this.#dueAt + tickMs || now < this.#dueAt - 2 * tickMs) {
      this.#dueAt = now + tickMs;
      if (!this.#storeLost) this.#restart();
    }
  }

  async #probe(): Promise<void> {
    // The previous probe has not been answered since the last tick.
    if (this.#probing) {
      this.#storeLost = true;
      return;
    }
    this.#probing = true;
    try {
      await this.#options.probeStore();
      if (this.#storeLost) this.#restart();
    } catch {
      this.#storeLost = true;
    } finally {
      this.#probing = false;
    }
  }
}
