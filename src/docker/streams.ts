/** Docker's streams: multiplexed container output and events in JSON lines. */

export interface OutputPiece {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Uint8Array;
  /** True when its frame ends with it. */
  readonly ends: boolean;
}

const stderr = 2;

/** Yields container output without a terminal: frames behind 8-byte headers (stream, three zeros, length). */
export async function* outputPieces(chunks: AsyncIterable<Uint8Array>): AsyncIterable<OutputPiece> {
  const frames = new Frames();
  for await (const chunk of chunks) yield* frames.read(chunk);
}

class Frames {
  /** Beginning of a header, of which the rest is still to come. */
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes still to come of the current frame. */
  #left = 0;
  #stream: OutputPiece['stream'] = 'stdout';

  *read(chunk: Uint8Array): Iterable<OutputPiece> {
    let data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : Buffer.from(chunk);
    while (data.length > 0) {
      if (this.#left === 0) {
        if (data.length < 8) break;
        this.#stream = streamOf(data);
        this.#left = data.readUInt32BE(4);
        data = data.subarray(8);
      }
      const piece = data.subarray(0, this.#left);
      this.#left -= piece.length;
      data = data.subarray(piece.length);
      if (piece.length > 0) yield { stream: this.#stream, data: piece, ends: this.#left === 0 };
    }
    this.#rest = data;
  }
}

/** Returns the stream to which the frame with this header belongs. */
const streamOf = (header: Uint8Array) => (header[0] === stderr ? 'stderr' : 'stdout');

/** Yields both outputs in the order of their arrival. */
export async function* demultiplex(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const { data } of outputPieces(chunks)) yield data;
}

/** Yields one parsed value per line; a value may be split across chunks. */
export async function* jsonLines(chunks: AsyncIterable<Uint8Array>): AsyncIterable<unknown> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
  if (rest.trim() !== '') yield JSON.parse(rest);
}

/** Returns the content of the first file of a tar archive, as Docker copies one out of a container. */
export function firstFileOfTar(archive: Buffer): Buffer {
  const size = Number.parseInt(archive.toString('latin1', 124, 136), 8);
  if (!Number.isSafeInteger(size) || archive.length < 512 + size) {
    throw new Error('the engine sent an archive that cannot be read');
  }
  return archive.subarray(512, 512 + size);
}
