/**
 * Pipelining: requests that a client sends on a connection before the previous one is answered (RFC 9112
 * §9.3.2). Node passes on each request as soon as it is read, without a limit, while the answers are sent one
 * by one.
 */
import type { EventEmitter } from 'node:events';

/** Maximum number of requests of one connection that are being answered or queued. */
const maxLineLength = 8;

/** The part of an answer that pipelining uses. */
export interface Outgoing extends EventEmitter {
  readonly closed?: boolean;
  /** True if the whole answer is written, even if it has not been sent yet. */
  readonly writableEnded?: boolean;
  /** True if the connection stays open after the answer; known at the latest when its head is sent. */
  readonly shouldKeepAlive?: boolean;
}

export type PipelineDecision =
  /** The request must be answered. */
  | 'answered'
  /** The connection closes before the request's turn. */
  | 'unanswered'
  /**
   * The connection must be closed now: an unauthenticated client has more than one request, or an
   * authenticated one too many.
   */
  | 'ended';

export class Pipelining<Connection extends WeakKey> {
  /** Answers that have not been sent, oldest first. */
  readonly #lines = new WeakMap<Connection, Set<Outgoing>>();

  /** Returns whether an answer is in progress. */
  isAnswering(connection: Connection): boolean {
    return this.#lines.has(connection);
  }

  /**
   * Returns whether more of an answer is to be written. A client may react to an answer that it has read to
   * its end before that answer is closed here.
   */
  isOwing(connection: Connection): boolean {
    const line = [...(this.#lines.get(connection) ?? [])];
    return line.length > 1 || line.some(({ writableEnded }) => !writableEnded);
  }

  /**
   * Decides on the next request. Must be called for every request of the connection, in the order of arrival.
   */
  join(connection: Connection, outgoing: Outgoing, isStranger: boolean): PipelineDecision {
    const line = this.#lines.get(connection) ?? new Set();
    if (line.size >= (isStranger ? 1 : maxLineLength)) return 'ended';
    const closes = [...line].some(({ shouldKeepAlive }) => shouldKeepAlive === false);
    if (outgoing.closed) return 'unanswered';
    this.#lines.set(connection, line.add(outgoing));
    outgoing.once('close', () => {
      line.delete(outgoing);
      if (line.size === 0) this.#lines.delete(connection);
    });
    return closes ? 'unanswered' : 'answered';
  }
}
