/**
 * Detects the loss of an HTTP/2 connection. A machine that loses power, or a firewall that drops the
 * connection's state, ends it silently, and TCP retransmits unacknowledged data for a quarter of an hour.
 * Therefore the peer is pinged while streams are open, and a connection without a response is closed.
 */
import type { Http2Session, Http2Stream } from 'node:http2';
import type { Clock, Timer } from '../base/clock.ts';

export interface LivenessOptions {
  readonly clock: Clock;
  /** Called when a ping is not answered: the connection must be closed at once. */
  readonly onLost: () => void;
  /** Delay from a response to the next ping; default 15 s. */
  readonly pingMs?: number;
  /** Timeout of a ping's response; default 30 s. */
  readonly answerMs?: number;
  /** Time without a stream after which `onIdle` is called, but see `unusedMs`; default: never. */
  readonly idleMs?: number;
  readonly onIdle?: () => void;
}

/**
 * Minimum time for the first stream. A client of Go opens more connections than it needs, and sends the next
 * request to one that was closed unused: the request fails if the connection is younger than five seconds
 * (golang.org/x/net/http2, idleStateLocked).
 */
const unusedMs = 10_000;

const usual = { pingMs: 15_000, answerMs: 30_000 };

export class Http2Liveness {
  readonly #session: Http2Session;
  readonly #options: LivenessOptions & typeof usual;
  #streams = 0;
  #isUsed = false;
  #timer: Timer | undefined;
  /** True while a ping is in progress. */
  #asking = false;

  /** Pings the session until it is closed. */
  constructor(session: Http2Session, options: LivenessOptions) {
    this.#session = session;
    this.#options = { ...usual, ...options };
    this.#rest();
    session.once('close', () => this.#timer?.cancel());
  }

  /** Must be called for each stream when it is opened. */
  carries(stream: Http2Stream): void {
    // A stream that is opened beside others does not delay the next ping.
    this.#streams++;
    this.#isUsed = true;
    stream.once('close', () => {
      this.#streams--;
      if (this.#streams === 0 && !this.#asking) this.#rest();
    });
    if (this.#streams === 1 && !this.#asking) this.#rest();
  }

  /** Schedules the next action: a ping while there are streams, otherwise the end of an idle connection. */
  #rest(): void {
    const { clock, pingMs, idleMs, onIdle } = this.#options;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#session.destroyed) return;
    if (this.#streams > 0) this.#timer = clock.after(pingMs, () => this.#ask());
    else if (idleMs !== undefined)
      this.#timer = clock.after(this.#isUsed ? idleMs : Math.max(idleMs, unusedMs), () => onIdle?.());
  }

  #ask(): void {
    const { clock, answerMs, onLost } = this.#options;
    if (this.#session.destroyed) return;
    this.#asking = true;
    const late = clock.after(answerMs, onLost);
    this.#timer = late;
    // An error means that no ping was sent: the session is not connected yet, or ends with its last stream.
    this.#session.ping(() => {
      late.cancel();
      this.#asking = false;
      this.#rest();
    });
  }
}
