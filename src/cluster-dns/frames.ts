/**
 * Splits a stream into DNS messages, each of which is preceded by its length in two bytes (RFC 1035 §4.2.2).
 */
export class Frames {
  #rest: Buffer = Buffer.alloc(0);

  /** Returns the messages that are complete now. Never holds more than one message and a chunk. */
  push(chunk: Buffer): readonly Buffer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Buffer[] = [];
    let offset = 0;
    while (bytes.length - offset >= 2) {
      const end = offset + 2 + bytes.readUInt16BE(offset);
      if (end > bytes.length) break;
      messages.push(bytes.subarray(offset + 2, end));
      offset = end;
    }
    this.#rest = bytes.subarray(offset);
    return messages;
  }
}

export function frame(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}
