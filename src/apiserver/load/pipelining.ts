/**
 * Requests that a client sends on a connection before the one before is answered (RFC 9112 §9.3.2). Node hands each over
 * as soon as it is read, however many there are, while the answers leave one by one.
 */
import type { EventEmitter } from 'node:events';

/** Requests of one connection that are being answered or wait in line to be. */
const longestLine = 8;

/** The part of an answer that is needed here. */
export interface Outgoing extends EventEmitter {
  readonly closed?: boolean;
  /** All of it is written, though it may not have left yet. */
  readonly writableEnded?: boolean;
  /** False when the connection closes after it; known at the latest when its head is sent. */
  readonly shouldKeepAlive?: boolean;
}

export type PipelineDecision =
  /** To be answered. */
  | 'answered'
  /** The connection closes before its turn. */
  | 'unanswered'
  /** The connection is to be ended now: more than one request of a stranger, or too many of one that is known. */
  | 'ended';

export class Pipelining<Connection extends WeakKey> {
  /** Answers that have not left, oldest first. */
  readonly #lines = new WeakMap<Connection, Set<Outgoing>>();

  /** Whether an answer is under way. */
  isAnswering(connection: Connection): boolean {
    return this.#lines.has(connection);
  }

  /** Whether more of an answer is to be written. Who has read one to its end may be heard before it is closed here. */
  isOwing(connection: Connection): boolean {
    const line = [...(this.#lines.get(connection) ?? [])];
    return line.length > 1 || line.some(({ writableEnded }) => !writableEnded);
  }

  /** Every request of the connection, in the order they came. */
  join(connection: Connection, outgoing: Outgoing, isStranger: boolean): PipelineDecision {
    const line = this.#lines.get(connection) ?? new Set();
    if (line.size >= (isStranger ? 1 : longestLine)) return 'ended';
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
