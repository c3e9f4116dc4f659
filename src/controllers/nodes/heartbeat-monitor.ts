/**
 * Tracks since when this process has been able to receive heartbeats of nodes. A missing heartbeat is
 * evidence against a node only if it could have been received. Time does not count while this process was
 * stopped, starved or just started, or while the store accepted no writes, because then the heartbeats of all
 * nodes were missing.
 *
 * A late tick shows that this process was stopped (or that the clock was set). If no heartbeat arrived since
 * the last tick, the store is probed, because a quiet cluster and a lost store cannot be distinguished
 * otherwise.
 */
import { onAbort } from '../../base/abort.ts';
import type { Clock, Timer } from '../../base/clock.ts';

export interface HeartbeatMonitorOptions {
  readonly clock: Clock;
  /** Milliseconds between ticks. An interruption of twice that time is always detected. */
  readonly tickMs: number;
  /** Rejects if the store does not answer. */
  readonly probeStore: () => Promise<unknown>;
}

export class HeartbeatMonitor {
  readonly #options: HeartbeatMonitorOptions;
  #following: AbortSignal | undefined;
  #timer: Timer | undefined;
  #dueAt = 0;
  #since = 0;
  /** True while the store does not answer, so that no heartbeat can arrive. */
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

  /**
   * Records a heartbeat of any node. If none had arrived for longer than `limit`, the silence of all nodes
   * starts at zero.
   */
  record(limit: () => number): void {
    const { clock, tickMs } = this.#options;
    const now = clock.now();
    const gap = now - (this.#receivedAt ?? now);
    if (this.#storeLost || (gap > tickMs && gap > limit())) this.#restart();
    this.#receivedAt = now;
    this.#receivedSinceTick = true;
  }

  /** Returns the milliseconds since the last heartbeat of any node. */
  quietFor(): number {
    const now = this.#options.clock.now();
    return now - Math.max(this.#receivedAt ?? this.#since, this.#since);
  }

  /**
   * Returns the milliseconds in which a heartbeat could have arrived from a node whose last one arrived at
   * `at`.
   */
  silenceSince(at: number): number {
    this.#noticeInterruption();
    const now = this.#options.clock.now();
    // A heartbeat in the future means that the clock was set back in the meantime.
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

  /**
   * Detects an interruption. Also called before every answer: after a stop the timers of nodes may run before
   * the tick.
   */
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
