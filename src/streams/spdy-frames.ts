/**
 * Encoding of SPDY/3.1 frames (SPDY Protocol, Draft 3.1, section 2.2). Pure. Limited to what Kubernetes'
 * clients send and support: no flow control, priorities or settings.
 */

export type Frame =
  /** A piece of a DATA frame; `fin` with the last piece of the last one. */
  | { readonly type: 'data'; readonly streamId: number; readonly data: Uint8Array; readonly fin: boolean }
  | SynStream
  | { readonly type: 'rst-stream'; readonly streamId: number }
  | { readonly type: 'ping'; readonly id: number }
  /** SYN_REPLY or HEADERS: needs no action, but its block changes the compressor's state. */
  | { readonly type: 'headers'; readonly block: Uint8Array }
  | { readonly type: 'other' };

export interface SynStream {
  readonly type: 'syn-stream';
  readonly streamId: number;
  readonly fin: boolean;
  /** The compressed headers. */
  readonly block: Uint8Array;
}

const synStream = 1;
const synReply = 2;
const rstStream = 3;
const ping = 6;
const headers = 8;

const headerLength = 8;
const finFlag = 1;
/** Maximum size of a control frame in bytes; clients send a few hundred. */
const maxControl = 64 * 1024;
const maxData = 0xff_ffff;

/** Status codes of RST_STREAM. */
export const resetCodes = { protocolError: 1, refusedStream: 3, cancel: 5 } as const;

export class FrameError extends Error {
  override readonly name = 'FrameError';
}

function control(type: number, flags: number, payload: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(headerLength + payload.length);
  frame.writeUInt16BE(0x8003, 0);
  frame.writeUInt16BE(type, 2);
  frame.writeUInt32BE(((flags << 24) | payload.length) >>> 0, 4);
  frame.set(payload, headerLength);
  return frame;
}

const uint32 = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, at * 4);
  return bytes;
};

export const synReplyFrame = (streamId: number, block: Uint8Array) =>
  control(synReply, 0, Buffer.concat([uint32(streamId), block]));

/** Encodes SYN_STREAM. `associatedTo`, priority and slot are zero: they are ignored. */
export const synStreamFrame = (streamId: number, block: Uint8Array) =>
  control(synStream, 0, Buffer.concat([uint32(streamId, 0), Buffer.alloc(2), block]));

export const rstStreamFrame = (streamId: number, code: number) =>
  control(rstStream, 0, uint32(streamId, code));

export const pingFrame = (id: number) => control(ping, 0, uint32(id));

/** Encodes data as frames of one stream, long data as several; `fin` marks the end of the stream. */
export function dataFrames(streamId: number, data: Uint8Array, fin: boolean): Uint8Array {
  const parts: Uint8Array[] = [];
  let rest = data;
  do {
    const piece = rest.subarray(0, maxData);
    rest = rest.subarray(piece.length);
    parts.push(uint32(streamId, (fin && rest.length === 0 ? finFlag << 24 : 0) | piece.length), piece);
  } while (rest.length > 0);
  return Buffer.concat(parts);
}

interface DataLeft {
  readonly streamId: number;
  readonly fin: boolean;
  left: number;
}

/** Splits a byte stream into frames, wherever its chunks begin and end. */
export class FrameReader {
  #rest: Uint8Array = Buffer.alloc(0);
  #data: DataLeft | undefined;

  /** Yields the frames. Throws FrameError for bytes that are not SPDY/3.1; nothing can be read after it. */
  *push(chunk: Uint8Array): Iterable<Frame> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const frame = this.#data ? this.#dataPiece(this.#data) : this.#next();
      if (frame === undefined) return;
      if (frame !== 'data follows') yield frame;
    }
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return Buffer.from(taken.buffer, taken.byteOffset, taken.length);
  }

  #dataPiece(frame: DataLeft): Frame | undefined {
    if (this.#rest.length === 0 && frame.left > 0) return undefined;
    const data = this.#take(frame.left);
    frame.left -= data.length;
    if (frame.left === 0) this.#data = undefined;
    return { type: 'data', streamId: frame.streamId, data, fin: frame.fin && frame.left === 0 };
  }

  #next(): Frame | 'data follows' | undefined {
    if (this.#rest.length < headerLength) return undefined;
    const view = Buffer.from(this.#rest.buffer, this.#rest.byteOffset, headerLength);
    const [first, second] = [view.readUInt32BE(0), view.readUInt32BE(4)];
    const [flags, length] = [second >>> 24, second & 0xff_ffff];
    if (first >>> 31 === 0) {
      this.#take(headerLength);
      this.#data = { streamId: first, fin: (flags & finFlag) !== 0, left: length };
      return 'data follows';
    }
    if (first >>> 16 !== 0x8003) throw new FrameError('the frame is not SPDY/3.1');
    if (length > maxControl) throw new FrameError(`a control frame of ${length} bytes is too long`);
    if (this.#rest.length < headerLength + length) return undefined;
    this.#take(headerLength);
    return controlFrame(first & 0xffff, flags, this.#take(length));
  }
}

function controlFrame(type: number, flags: number, payload: Buffer): Frame {
  const least = { [synStream]: 10, [synReply]: 4, [rstStream]: 8, [ping]: 4, [headers]: 4 }[type];
  if (least !== undefined && payload.length < least) {
    throw new FrameError(`a control frame of type ${type} is too short`);
  }
  switch (type) {
    case synStream: {
      const streamId = payload.readUInt32BE(0) & 0x7fff_ffff;
      return { type: 'syn-stream', streamId, fin: (flags & finFlag) !== 0, block: payload.subarray(10) };
    }
    case synReply:
    case headers:
      return { type: 'headers', block: payload.subarray(4) };
    case rstStream:
      return { type: 'rst-stream', streamId: payload.readUInt32BE(0) & 0x7fff_ffff };
    case ping:
      return { type: 'ping', id: payload.readUInt32BE(0) };
    default:
      return { type: 'other' };
  }
}
