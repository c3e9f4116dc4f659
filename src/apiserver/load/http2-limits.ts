/**
 * Limits of an HTTP/2 connection. nghttp2, which Node uses for HTTP/2, has additional limits: it closes a
 * connection that has more than eight CONTINUATION frames in a row, or a thousand unread answers to PING and
 * SETTINGS.
 */
import type { SecureServerOptions } from 'node:http2';
import type { Clock } from '../../base/clock.ts';
import { maxUnknownHeaderBytes } from '../../http/header-limits.ts';
import { nodeWatches } from './in-flight.ts';

/**
 * Maximum number of concurrent streams on one connection of a node: its watches and its requests (decision
 * 21).
 */
const maxNodeStreams = nodeWatches + 200;
/**
 * Maximum number of concurrent streams of every other client, as in kube-apiserver. Go's clients open another
 * connection for more.
 */
const maxStreams = 100;
/** Maximum number of header fields; a proxy that impersonates sends one for each group. */
const maxHeaderListPairs = 1000;
/**
 * Number of streams that a client may open and cancel at once, and number per second after that
 * (CVE-2023-44487). A client that exceeds them is disconnected.
 */
const streamResets = { streamResetBurst: 1000, streamResetRate: 33 };

/** Returns the options of the HTTP/2 server for connections of nodes, or of other clients. */
export const http2Options = (isNode: boolean): SecureServerOptions => ({
  settings: {
    maxConcurrentStreams: isNode ? maxNodeStreams : maxStreams,
    // A few bytes can refer to a long field that was sent before, so even a known client may not send as much
    // as over HTTP/1.1.
    maxHeaderListSize: maxUnknownHeaderBytes,
  },
  maxHeaderListPairs,
  // Node rejects new streams of a connection above this, by default above 10 MB: two watches have as much
  // unread when their client is slow. Each stream limits what is queued on it.
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
  ...streamResets,
});

/** PING and SETTINGS frames that a client may send within `windowMs`. Go's clients ping every 30 s. */
const maxControlFrames = 200;
const windowMs = 10_000;

/** Counts the frames of one connection that carry no request but must be answered. */
export class ControlFrames {
  readonly #clock: Clock;
  #since: number;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** Counts a frame. Returns false if the client has sent too many within ten seconds. */
  accepts(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#since >= windowMs) {
      this.#since = now;
      this.#count = 0;
    }
    return ++this.#count <= maxControlFrames;
  }
}
