/**
 * Several streams in one WebSocket, by Kubernetes' channel protocols (`v5.channel.k8s.io` and its
 * predecessors): each message begins with the number of its channel. For both ends.
 */
import { Duplex } from 'node:stream';

/** The channels of exec and attach. A message on `close` names a channel that has ended; since v5. */
export const commandChannels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** Number of unread bytes of one channel above which the connection is not read any more. */
const channelBuffer = 1024 * 1024;

/** The part of a WebSocket of ws that is used here. It is paused until `listen` is called. */
export interface MessageSocket {
  on(event: 'message', listener: (message: Buffer) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  send(message: Uint8Array | string, done?: (error?: Error | null) => void): void;
  pause(): void;
  resume(): void;
  close(code: number): void;
  terminate(): void;
}

/** Messages that begin with their channel: a byte, or in base64 mode a digit before the encoded rest. */
export class ChannelSocket {
  readonly #socket: MessageSocket;
  readonly #base64: boolean;
  readonly #full = new Set<object>();
  readonly closed: Promise<void>;

  constructor(socket: MessageSocket, base64 = false) {
    this.#socket = socket;
    this.#base64 = base64;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  /** Calls `onMessage` for each message. Must be called once; nothing is read before. */
  listen(onMessage: (channel: number, data: Buffer) => void): void {
    this.#socket.on('message', (message: Buffer) => {
      const first = message[0];
      if (first === undefined) return;
      const rest = message.subarray(1);
      if (this.#base64) onMessage(first - 0x30, Buffer.from(rest.toString('latin1'), 'base64'));
      else onMessage(first, rest);
    });
    this.#socket.resume();
  }

  send(channel: number, data: Uint8Array | string, done?: (error?: Error | null) => void): void {
    const bytes = Buffer.from(data);
    const message = this.#base64
      ? `${channel}${bytes.toString('base64')}`
      : Buffer.concat([Buffer.from([channel]), bytes]);
    this.#socket.send(message, done);
  }

  /** Pauses reading until `release` was called for every `who`. */
  hold(who: object): void {
    this.#full.add(who);
    this.#socket.pause();
  }

  release(who: object): void {
    if (this.#full.delete(who) && this.#full.size === 0) this.#socket.resume();
  }

  /**
   * Closes with status 1000. Resolves when the connection is closed, which takes up to 30 s if the other side
   * does not answer.
   */
  async close(): Promise<void> {
    this.#full.clear();
    this.#socket.resume();
    this.#socket.close(1000);
    await this.closed;
  }

  /** Closes at once. */
  terminate(): void {
    this.#socket.terminate();
  }
}

/** One channel as a stream. */
export class ChannelStream extends Duplex {
  readonly #channel: number;
  readonly #socket: ChannelSocket;
  #inputEnded = false;

  constructor(socket: ChannelSocket, channel: number) {
    super({ readableHighWaterMark: channelBuffer, writableHighWaterMark: 64 * 1024 });
    this.#channel = channel;
    this.#socket = socket;
    this.on('error', () => undefined);
  }

  /** Passes on data of the other side; undefined ends the input, and any later data are discarded. */
  deliver(data: Uint8Array | undefined): void {
    if (this.destroyed || this.#inputEnded) return;
    if (data === undefined) {
      this.#inputEnded = true;
      this.push(null);
    } else if (data.length > 0 && !this.push(data)) this.#socket.hold(this);
  }

  override _read(): void {
    this.#socket.release(this);
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.send(this.#channel, chunk, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.release(this);
    done(error);
  }
}
