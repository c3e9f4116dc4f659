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
  /** Bytes that were written and wait for the reader. */
  readonly backlog: number;
  /** Resolves when the reader wants more; perhaps never once it has gone. */
  room(): Promise<void>;
}

export interface Source {
  /** Called once; writes from then on, until it ends the sink or is cancelled. */
  begin(sink: Sink): void;
  /** Nobody reads any more. May be called at any time after `begin`, also after the end. */
  cancel(): void;
}

/** What may wait to be read before `room` waits. */
const queuedBytes = 64 * 1024;

/** Begins now; ends too when the signal aborts. */
export function streamOf(source: Source, signal: AbortSignal): ReadableStream<Uint8Array> {
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: queuedBytes });
  return new ReadableStream(new StreamSink(source, signal), strategy);
}

class StreamSink implements Sink, UnderlyingDefaultSource<Uint8Array> {
  readonly #source: Source;
  readonly #signal: AbortSignal;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #unlink = () => {};
  #onRoom = () => {};

  constructor(source: Source, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
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
    this.#controller?.enqueue(piece);
  }

  end(): void {
    this.#unlink();
    this.#controller?.close();
    this.#controller = undefined;
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
