/**
 * The body of an answer that produces its bytes by itself over a long time: a watch. A caller that writes to
 * a connection directly receives the source (`RequestEnv.push`), which writes to a sink; for all other
 * callers the body is a web stream, which takes some kilobytes for as long as the answer lasts.
 */
import type { ReadableStreamDefaultController, UnderlyingDefaultSource } from 'node:stream/web';
import { onAbort } from '../../base/abort.ts';

/** Destination of the bytes. */
export interface Sink {
  write(piece: Uint8Array): void;
  /** Ends the body. Nothing is written after this. */
  end(): void;
  /**
   * Discards what is queued and closes the connection, so that the reader sees that the answer is incomplete.
   * Nothing is written after this.
   */
  cut(): void;
  /** Number of bytes that were written and not yet read. */
  readonly backlog: number;
  /** Resolves when the reader can take more; may never resolve if the reader has disconnected. */
  room(): Promise<void>;
}

export interface Source {
  /** Called once; writes from then on, until it ends the sink or is cancelled. */
  begin(sink: Sink): void;
  /** Called when the reader has disconnected. May be called at any time after `begin`, also after the end. */
  cancel(): void;
}

/** Number of queued bytes above which `room` waits. */
const queuedBytes = 64 * 1024;
/**
 * Maximum number of bytes given to a connection at once: TLS encrypts all of them, for this connection alone,
 * whether or not they are read.
 */
const pieceBytes = 16 * 1024;

/**
 * Starts the source and returns its body, which also ends when the signal aborts. `hangUp` closes the
 * connection.
 */
export function streamOf(
  source: Source,
  signal: AbortSignal,
  hangUp: (() => void) | undefined,
): ReadableStream<Uint8Array> {
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: queuedBytes });
  return new ReadableStream(new StreamSink(source, signal, hangUp), strategy);
}

class StreamSink implements Sink, UnderlyingDefaultSource<Uint8Array> {
  readonly #source: Source;
  readonly #signal: AbortSignal;
  readonly #hangUp: (() => void) | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #unlink = () => {};
  #onRoom = () => {};

  constructor(source: Source, signal: AbortSignal, hangUp: (() => void) | undefined) {
    this.#source = source;
    this.#signal = signal;
    this.#hangUp = hangUp;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    if (this.#signal.aborted) {
      this.end();
      return;
    }
    this.#source.begin(this);
    if (!this.#controller) return;
    this.#unlink = onAbort(this.#signal, () => {
      this.#source.cancel();
      this.end();
    });
  }

  pull(): void {
    this.#onRoom();
  }

  cancel(): void {
    this.#controller = undefined;
    this.#unlink();
    this.#source.cancel();
  }

  write(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at += pieceBytes)
      this.#controller?.enqueue(piece.subarray(at, at + pieceBytes));
  }

  end(): void {
    this.#unlink();
    this.#controller?.close();
    this.#controller = undefined;
  }

  cut(): void {
    this.#unlink();
    const controller = this.#controller;
    this.#controller = undefined;
    // If there is a connection, closing it cancels the stream and discards what is queued.
    if (this.#hangUp) this.#hangUp();
    else controller?.error(new Error('the client did not read the response in time'));
  }

  get backlog(): number {
    return queuedBytes - (this.#controller?.desiredSize ?? queuedBytes);
  }

  room(): Promise<void> {
    if (this.backlog < queuedBytes) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }
}
