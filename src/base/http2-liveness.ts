/**
 * Whether the other side of an HTTP/2 connection is still there. A machine that lost its power, or a firewall that forgot
 * the connection, ends it with no word, and TCP goes on sending for a quarter of an hour as soon as anything waits to be
 * acknowledged. So while streams are open the other side is pinged, and a connection without an answer is given up.
 */
import type { Http2Session, Http2Stream } from 'node:http2';
import type { Clock, Timer } from './clock.ts';

export interface LivenessOptions {
  readonly clock: Clock;
  /** Called when a ping is not answered: the connection must be closed at once. */
  readonly onLost: () => void;
  /** How long after an answer the next ping goes out; default 15 s. */
  readonly pingMs?: number;
  /** How long an answer may take; default 30 s. */
  readonly answerMs?: number;
  /** Without a stream for so long, `onIdle` is called; absent: never. */
  readonly idleMs?: number;
  readonly onIdle?: () => void;
}

const usual = { pingMs: 15_000, answerMs: 30_000 };

export class Http2Liveness {
  readonly #session: Http2Session;
  readonly #options: LivenessOptions & typeof usual;
  #streams = 0;
  #timer: Timer | undefined;
  /** A ping is under way. */
  #asking = false;

  /** Pings the session until it is closed. */
  constructor(session: Http2Session, options: LivenessOptions) {
    this.#session = session;
    this.#options = { ...usual, ...options };
    this.#rest();
    session.once('close', () => this.#timer?.cancel());
  }

  /** To be called for each stream as it is opened. */
  carries(stream: Http2Stream): void {
    // A stream opened beside others does not delay the next ping.
    this.#streams++;
    stream.once('close', () => {
      this.#streams--;
      if (this.#streams === 0 && !this.#asking) this.#rest();
    });
    if (this.#streams === 1 && !this.#asking) this.#rest();
  }

  /** Until something is due: a ping while there are streams, else the end of an idle connection. */
  #rest(): void {
    const { clock, pingMs, idleMs, onIdle } = this.#options;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#session.destroyed) return;
    if (this.#streams > 0) this.#timer = clock.after(pingMs, () => this.#ask());
    else if (idleMs !== undefined) this.#timer = clock.after(idleMs, () => onIdle?.());
  }

  #ask(): void {
    const { clock, answerMs, onLost } = this.#options;
    if (this.#session.destroyed) return;
    this.#asking = true;
    const late = clock.after(answerMs, onLost);
    this.#timer = late;
    // An error says that none was sent: it is not connected yet, or ends with its last stream.
    this.#session.ping(() => {
      late.cancel();
      this.#asking = false;
      this.#rest();
    });
  }
}
