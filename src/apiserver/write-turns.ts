/**
 * Writes events to many watches in turns. One event may go to thousands of connections, and TLS encrypts it
 * for each of them: the amount written per iteration of the event loop is limited, and other watches wait in
 * the order in which they asked.
 */
import type { Clock } from '../base/clock.ts';

/**
 * Bytes of a turn: some ten milliseconds of encryption and system calls, whether in many small writes or in a
 * few large ones.
 */
const turnBytes = 4 * 1024 * 1024;
const writeBytes = 16 * 1024;

/** Writes queued frames; returns the number of bytes. */
export type WaitingWrite = () => number;

export class WriteTurns {
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #waiting = new Set<WaitingWrite>();
  #used = 0;
  #scheduled = false;

  constructor(clock: Pick<Clock, 'soon'>) {
    this.#clock = clock;
  }

  /** Returns true if this many bytes may be written now; otherwise the write has to wait. */
  mayWrite(bytes: number): boolean {
    if (this.#waiting.size > 0 || this.#used >= turnBytes) return false;
    this.#took(bytes);
    return true;
  }

  /** Calls `write` once, in a later iteration of the loop. */
  wait(write: WaitingWrite): void {
    this.#waiting.add(write);
    this.#schedule();
  }

  leave(write: WaitingWrite): void {
    this.#waiting.delete(write);
  }

  #took(bytes: number): void {
    this.#used += Math.max(bytes, writeBytes);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#clock.soon(() => this.#turn());
  }

  #turn(): void {
    this.#scheduled = false;
    this.#used = 0;
    for (const write of this.#waiting) {
      if (this.#used >= turnBytes) break;
      this.#waiting.delete(write);
      // Schedules a turn for the writes that still wait.
      this.#took(write());
    }
  }
}
