/**
 * Messages in a gRPC stream: each is preceded by one byte, which is 1 for a compressed message, and by its
 * length in four bytes.
 */
import { WireWriter } from '../apimachinery/protobuf/writer.ts';
import { GrpcError } from './status.ts';

const headBytes = 5;
const emptyHead = Buffer.alloc(headBytes);

/** Returns a message with its head. `bytes` is its approximate length. */
export function framed(bytes: number, write: (writer: WireWriter) => void): Buffer {
  const writer = new WireWriter(headBytes + bytes);
  writer.append(emptyHead);
  write(writer);
  const frame = writer.finish();
  frame.writeUInt32BE(frame.length - headBytes, 1);
  return frame;
}

/** Reassembles messages from the chunks of a connection. */
export class FrameReader {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #held = 0;
  /** Number of bytes that are required before a message can be complete. */
  #wanted = headBytes;

  /** Messages longer than `maxBytes` are rejected before they are read. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns the messages that end in `chunk`, as views of it where they lie in it completely. Throws
   * GrpcError.
   */
  push(chunk: Buffer): readonly Buffer[] {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#wanted) return [];
    const all = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#held);
    const messages: Buffer[] = [];
    let at = 0;
    this.#wanted = headBytes;
    while (all.length - at >= headBytes) {
      const length = this.#length(all, at);
      if (all.length - at < headBytes + length) {
        this.#wanted = headBytes + length;
        break;
      }
      messages.push(all.subarray(at + headBytes, at + headBytes + length));
      at += headBytes + length;
    }
    const rest = all.subarray(at);
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#held = rest.length;
    return messages;
  }

  #length(bytes: Buffer, at: number): number {
    if (bytes[at] !== 0) throw new GrpcError('INTERNAL', 'the answer is compressed, which was not requested');
    const length = bytes.readUInt32BE(at + 1);
    if (length > this.#maxBytes)
      throw new GrpcError(
        'RESOURCE_EXHAUSTED',
        `Received message larger than max (${length} vs ${this.#maxBytes})`,
      );
    return length;
  }
}
