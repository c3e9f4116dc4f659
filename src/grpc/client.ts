/** Calls to a gRPC server: one message for another, or a stream of messages in both directions. */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Clock } from '../base/clock.ts';
import { Channel, type ChannelOptions, describe } from './channel.ts';
import { FrameReader } from './frames.ts';
import { failureIn, GrpcError } from './status.ts';

export interface ClientOptions extends ChannelOptions {
  /** Maximum bytes of a message from the server. */
  readonly maxMessageBytes: number;
}

export interface StreamEvents {
  /** Called when the stream failed; not when it was canceled. */
  onFailure(error: GrpcError): void;
  onEnd(): void;
}

export class GrpcClient {
  readonly #channel: Channel;
  readonly #clock: Clock;
  readonly #maxMessageBytes: number;

  constructor(options: ClientOptions) {
    this.#channel = new Channel(options);
    this.#clock = options.clock;
    this.#maxMessageBytes = options.maxMessageBytes;
  }

  /** True once an HTTP/2 server has answered. */
  get wasReady(): boolean {
    return this.#channel.wasReady;
  }

  /**
   * Calls a method. `frame` is the message with its head (frames.ts). Rejects with GrpcError, after
   * `timeoutMs` at the latest.
   */
  call(path: string, frame: Buffer, timeoutMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const stream = this.#channel.open(path, { 'grpc-timeout': `${Math.ceil(timeoutMs)}m` });
      const frames = new FrameReader(this.#maxMessageBytes);
      let message: Buffer | undefined;
      const fail = (error: GrpcError) => {
        timer.cancel();
        stream.close(constants.NGHTTP2_CANCEL);
        reject(error);
      };
      const timer = this.#clock.after(timeoutMs, () =>
        fail(new GrpcError('DEADLINE_EXCEEDED', `no answer in ${timeoutMs} ms`)),
      );
      stream.on('data', (chunk: Buffer) => {
        try {
          for (const one of frames.push(chunk)) message ??= one;
        } catch (error) {
          fail(error as GrpcError);
        }
      });
      onStatus(stream, (error) => {
        timer.cancel();
        if (error) return reject(error);
        const end = () =>
          message ? resolve(message) : reject(new GrpcError('UNKNOWN', 'the answer is empty'));
        if (message || stream.readableEnded) end();
        else stream.once('end', end);
      });
      stream.end(frame);
    });
  }

  /** Opens a stream. Throws GrpcError when no connection can be made now. */
  stream(path: string, headers: Readonly<Record<string, string>>, events: StreamEvents): GrpcStream {
    return new GrpcStream(this.#channel.open(path, headers), new FrameReader(this.#maxMessageBytes), events);
  }

  /** Lets active calls end; no more can be made. */
  close(): void {
    this.#channel.close();
  }

  /** Makes active calls fail; no more can be made. */
  destroy(): void {
    this.#channel.destroy();
  }
}

export class GrpcStream {
  readonly #stream: ClientHttp2Stream;
  readonly #frames: FrameReader;
  readonly #ended: Promise<GrpcError | undefined>;
  #canceled = false;

  constructor(stream: ClientHttp2Stream, frames: FrameReader, events: StreamEvents) {
    this.#stream = stream;
    this.#frames = frames;
    this.#ended = new Promise((resolve) => {
      onStatus(stream, (error) => {
        if (error && !this.#canceled) events.onFailure(error);
        events.onEnd();
        resolve(this.#canceled ? new GrpcError('CANCELLED', 'the caller canceled the stream') : error);
      });
    });
  }

  /** Sends a message with its head (frames.ts), unless the stream has ended. */
  send(frame: Buffer): void {
    if (this.#stream.writable) this.#stream.write(frame);
  }

  /** Ends the sending side of the stream. */
  endSending(): void {
    this.#stream.end();
  }

  cancel(): void {
    this.#canceled = true;
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /**
   * Yields the received messages, each with memory of its own; must be called once. Ends with the stream;
   * throws GrpcError when that fails, and when it is canceled.
   */
  async *messages(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#stream)
        for (const message of this.#frames.push(chunk)) yield owned(message);
    } catch (error) {
      if (error instanceof GrpcError) throw error;
    } finally {
      // A reader that stops early cancels the stream.
      if (!this.#stream.readableEnded) this.cancel();
    }
    const error = await this.#ended;
    if (error) throw error;
  }
}

/** Copies a message, so that holding it does not keep a larger buffer in memory. */
function owned(message: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(message.length);
  copy.set(message);
  return copy;
}

/** Calls `take` once when a call has ended: with the server's status, or without one. */
function onStatus(stream: ClientHttp2Stream, take: (error: GrpcError | undefined) => void): void {
  let isOver = false;
  let broken: unknown;
  const end = (error: GrpcError | undefined) => {
    if (isOver) return;
    isOver = true;
    take(error);
  };
  stream.on('response', (headers: IncomingHttpHeaders, flags: number) => {
    if (flags & constants.NGHTTP2_FLAG_END_STREAM) end(failureIn(headers));
  });
  stream.on('trailers', (headers: IncomingHttpHeaders) => end(failureIn(headers)));
  stream.on('error', (error) => {
    broken = error;
  });
  stream.on('close', () => {
    // The error is not created for every call, because its stack is expensive.
    if (!isOver) end(new GrpcError('UNAVAILABLE', describe(broken ?? 'the connection ended')));
  });
}
