/**
 * The limits of an HTTP/2 connection. nghttp2, which Node speaks HTTP/2 with, has some of its own: it ends a
 * connection that has more than eight CONTINUATION frames in a row, or a thousand answers to PING and
 * SETTINGS that are not read.
 */
import type { SecureServerOptions } from 'node:http2';
import type { Clock } from '../../base/clock.ts';
import { maxUnknownHeaderBytes } from '../../base/header-limits.ts';
import { nodeWatches } from './in-flight.ts';

/** Streams at once on one connection of a node: its watches and its requests (decision 21). */
const maxNodeStreams = nodeWatches + 200;
/**
 * The same of every other client, as kube-apiserver has it. Go's clients open another connection for more.
 */
const maxStreams = 100;
/** Fields of a head; a proxy that impersonates sends one for each group. */
const maxHeaderListPairs = 1000;
/**
 * Streams that a client may open and cancel at once, and how many a second after that (CVE-2023-44487): more
 * end the connection.
 */
const streamResets = { streamResetBurst: 1000, streamResetRate: 33 };

/** Options of the server of one sort of connections. */
export const http2Options = (isNode: boolean): SecureServerOptions => ({
  settings: {
    maxConcurrentStreams: isNode ? maxNodeStreams : maxStreams,
    // A few bytes name a long field that was sent before, so even a known client may not send as much as over
    // HTTP/1.1.
    maxHeaderListSize: maxUnknownHeaderBytes,
  },
  maxHeaderListPairs,
  ...streamResets,
});

/** PING and SETTINGS frames that a client may send within `windowMs`. Go's clients ping every 30 s. */
const maxControlFrames = 200;
const windowMs = 10_000;

/** Counts the frames of one connection that carry no request and must be answered all the same. */
export class ControlFrames {
  readonly #clock: Clock;
  #since: number;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** Counts a frame; false when the client has sent too many within ten seconds. */
  accepts(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#since >= windowMs) {
      this.#since = now;
      this.#count = 0;
    }
    return ++this.#count <= maxControlFrames;
  }
}
