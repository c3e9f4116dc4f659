/**
 * SPDY/3.1 over any byte stream: the client opens streams, each a Duplex on both sides. There is no flow
 * control (Kubernetes' clients grant none): an unread stream blocks the whole connection once its buffer is
 * full.
 */
import { Duplex } from 'node:stream';
import {
  dataFrames,
  type Frame,
  FrameReader,
  pingFrame,
  resetCodes,
  rstStreamFrame,
  type SynStream,
  synReplyFrame,
  synStreamFrame,
} from './spdy-frames.ts';
import { HeaderDecoder, HeaderEncoder, type Headers } from './spdy-headers.ts';

/** Number of unread bytes of one stream above which the connection is not read any more. */
const streamBuffer = 1024 * 1024;
/** Maximum number of streams; kubectl opens two for each forwarded connection. */
const maxStreams = 4096;

interface StreamLink {
  send(data: Uint8Array, fin: boolean, done: (error?: Error | null) => void): void;
  reset(): void;
}

/**
 * One stream; a write resolves once the bytes are sent. Destroying it before both ends have finished resets
 * it.
 */
export class SpdyStream extends Duplex {
  readonly headers: Headers;
  readonly #link: StreamLink;
  #wanted: (() => void) | undefined;

  constructor(headers: Headers, link: StreamLink) {
    super({ readableHighWaterMark: streamBuffer, writableHighWaterMark: 64 * 1024 });
    this.headers = headers;
    this.#link = link;
    // Users of the stream handle 'close', which also follows an error; an unhandled error would end the
    // process.
    this.on('error', () => undefined);
  }

  /** Passes on data of the other side; resolves when more may be delivered. */
  async deliver(data: Uint8Array, fin: boolean): Promise<void> {
    if (this.destroyed || this.readableEnded) return;
    const more = data.length === 0 || this.push(data);
    if (fin) this.push(null);
    else if (!more) await new Promise<void>((resolve) => (this.#wanted = resolve));
  }

  override _read(): void {
    this.#continue();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#link.send(chunk, false, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#link.send(Buffer.alloc(0), true, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#continue();
    if (!this.readableEnded || !this.writableFinished) this.#link.reset();
    done(error);
  }

  #continue(): void {
    const resolve = this.#wanted;
    this.#wanted = undefined;
    resolve?.();
  }
}

export class SpdyConnection {
  readonly #transport: Duplex;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #encoder = new HeaderEncoder();
  readonly #decoder = new HeaderDecoder();
  readonly #onStream: ((stream: SpdyStream) => void) | undefined;
  /** Clients use odd numbers. */
  #nextId = 1;

  /** A server passes `onStream`, which is called with every stream that the client opens, after the reply. */
  constructor(transport: Duplex, onStream?: (stream: SpdyStream) => void) {
    this.#transport = transport;
    this.#onStream = onStream;
    transport.on('error', () => undefined);
  }

  /**
   * Opens a stream, for clients; `run` must have been called. Data written before the server's reply reach
   * the server nonetheless.
   */
  open(headers: Headers): SpdyStream {
    const streamId = this.#nextId;
    this.#nextId += 2;
    this.#transport.write(synStreamFrame(streamId, this.#encoder.encode(headers)));
    return this.#add(streamId, headers);
  }

  /**
   * Reads until the other side disconnects or the transport is destroyed; rejects with FrameError for data
   * that is not SPDY.
   */
  async run(): Promise<void> {
    const reader = new FrameReader();
    try {
      for await (const chunk of this.#transport.iterator({ destroyOnReturn: false })) {
        for (const frame of reader.push(chunk as Buffer)) await this.#handle(frame);
      }
    } catch (error) {
      // A transport that failed has ended.
      if (!this.#transport.destroyed) throw error;
    } finally {
      const open = [...this.#streams.values()];
      this.#streams.clear();
      for (const stream of open) stream.destroy();
      await this.#decoder.close();
    }
  }

  async #handle(frame: Frame): Promise<void> {
    switch (frame.type) {
      case 'data':
        return this.#streams.get(frame.streamId)?.deliver(frame.data, frame.fin);
      case 'syn-stream':
        return this.#opened(frame);
      case 'headers':
        await this.#decoder.decode(frame.block);
        return;
      case 'rst-stream':
        this.#closed(frame.streamId);
        return;
      case 'ping':
        // Other pings would be answers to this side's own, which sends none.
        if (frame.id % 2 === (this.#onStream ? 1 : 0)) this.#transport.write(pingFrame(frame.id));
        return;
      case 'other':
        return;
    }
  }

  #closed(streamId: number): void {
    const stream = this.#streams.get(streamId);
    this.#streams.delete(streamId);
    stream?.destroy();
  }

  async #opened({ streamId, fin, block }: SynStream): Promise<void> {
    const headers = await this.#decoder.decode(block);
    const known = streamId % 2 === 0 || this.#streams.has(streamId);
    if (!this.#onStream || known || this.#streams.size >= maxStreams) {
      this.#transport.write(rstStreamFrame(streamId, resetCodes.refusedStream));
      return;
    }
    const stream = this.#add(streamId, headers);
    this.#transport.write(synReplyFrame(streamId, this.#encoder.encode({})));
    if (fin) stream.push(null);
    this.#onStream(stream);
  }

  #add(streamId: number, headers: Headers): SpdyStream {
    const stream = new SpdyStream(headers, {
      send: (data, last, done) => this.#transport.write(dataFrames(streamId, data, last), done),
      reset: () => {
        // A stream that the other side has reset, or whose connection has ended, is not in the map any more.
        if (this.#streams.has(streamId)) this.#transport.write(rstStreamFrame(streamId, resetCodes.cancel));
      },
    });
    this.#streams.set(streamId, stream);
    stream.once('close', () => this.#streams.delete(streamId));
    return stream;
  }
}
