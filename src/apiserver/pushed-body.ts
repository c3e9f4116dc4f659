/**
 * The body of an answer whose bytes come by themselves and over a long time: a watch. Who writes to a connection itself
 * is handed the source (`RequestEnv.push`) and is pushed to; for everybody else the body is a web stream, which with
 * what reads it holds some kilobytes for as long as the answer lasts.
 */
import type { ReadableStreamDefaultController, UnderlyingDefaultSource } from 'node:stream/web';
import { onAbort } from '../base/abort.ts';

/** Where the bytes go. */
export interface Sink {
  write(piece: Uint8Array): void;
  /** Nothing is written after this. */
  end(): void;
  /** Drops what waits and hangs up: the reader sees that the answer is not whole. Nothing is written after this. */
  cut(): void;
  /** Bytes that were written and wait for the reader. */
  readonly backlog: number;
  /** Resolves when the reader wants more; perhaps never once it has gone. */
  room(): Promise<void>;
}

export interface Source {
  /** Called once; writes from then on, until it ends the sink or is cancelled. */
  begin(sink: Sink): void;
  /** The reader has left. May be called at any time after `begin`, also after the end. */
  cancel(): void;
}

/** Bytes that may wait for the reader before `room` waits. */
const queuedBytes = 64 * 1024;
/** What a connection is given at once: TLS encrypts all of it, for this connection alone, whether or not it is read. */
const pieceBytes = 16 * 1024;

/** Begins now; ends too when the signal aborts. `hangUp` ends the connection. */
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
    // Where there is a connection, its end cancels the stream, and with it what waits.
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
