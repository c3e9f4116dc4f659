/** Calls to a server of gRPC: one message for another, or a stream of messages each way. */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Clock } from '../base/clock.ts';
import { Channel, type ChannelOptions, describe } from './channel.ts';
import { FrameReader } from './frames.ts';
import { failureIn, GrpcError } from './status.ts';

export interface ClientOptions extends ChannelOptions {
  /** No longer message is read. */
  readonly maxMessageBytes: number;
}

export interface StreamEvents {
  /** It broke by itself; not when it was canceled. */
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

  /** A server of HTTP/2 has answered, at least once. */
  get wasReady(): boolean {
    return this.#channel.wasReady;
  }

  /** `frame`: the message with its head (frames.ts). Rejects with GrpcError, after `timeoutMs` at the latest. */
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

  /** Throws GrpcError when there can be no connection now. */
  stream(path: string, headers: Readonly<Record<string, string>>, events: StreamEvents): GrpcStream {
    return new GrpcStream(this.#channel.open(path, headers), new FrameReader(this.#maxMessageBytes), events);
  }

  /** What is under way is let end; nothing more can be asked. */
  close(): void {
    this.#channel.close();
  }

  /** What is under way fails. */
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
        resolve(this.#canceled ? new GrpcError('CANCELLED', 'it is not wanted any more') : error);
      });
    });
  }

  /** Sends a message with its head (frames.ts), unless the stream has ended. */
  send(frame: Buffer): void {
    if (this.#stream.writable) this.#stream.write(frame);
  }

  /** Nothing more will be sent. */
  endSending(): void {
    this.#stream.end();
  }

  cancel(): void {
    this.#canceled = true;
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /**
   * What comes, to be read once; each message has memory of its own. Ends with the stream; throws GrpcError when that
   * fails, and when it is canceled.
   */
  async *messages(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#stream)
        for (const message of this.#frames.push(chunk)) yield owned(message);
    } catch (error) {
      if (error instanceof GrpcError) throw error;
    } finally {
      // Who reads no further wants no more.
      if (!this.#stream.readableEnded) this.cancel();
    }
    const error = await this.#ended;
    if (error) throw error;
  }
}

/** What is held on to keeps no more in memory than itself. */
function owned(message: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(message.length);
  copy.set(message);
  return copy;
}

/** Says once how a call ended: by the server's word, or without it. */
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
    // An error is not made for every call: its stack is what costs.
    if (!isOver) end(new GrpcError('UNAVAILABLE', describe(broken ?? 'the connection ended')));
  });
}
