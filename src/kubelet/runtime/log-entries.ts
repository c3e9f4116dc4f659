/**
 * A container's log as the engine's API sends it with times: entries, each with the time at which the engine
 * got it. Pure.
 */
import { type OutputPiece, outputPieces } from '../../docker/streams.ts';
import { LineStarts } from './line-starts.ts';

export interface LogEntry {
  /** Output of the container: `stdout`, `stderr`, or `tty` for both. */
  readonly output: string;
  /**
   * Engine's time and a space, such as `2026-01-02T03:04:05.123456789Z `; undefined when the entry does not
   * begin with a time.
   */
  readonly head: string | undefined;
  /** A whole line with its line end, or a piece of a longer line. */
  readonly text: Buffer;
}

const headBytes = 31;
const headForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z $/;

/** Bytes that the engine reads of a line before it makes an entry of them. */
const pieceBytes = 16 * 1024;
/** Longest piece in the log: a byte sequence that is not UTF-8 becomes the three bytes of U+FFFD. */
const maxPieceLength = 3 * pieceBytes;
const replacement = Buffer.from('\uFFFD');

const lineEnd = 0x0a;

export const endsLine = ({ text }: LogEntry) => text.at(-1) === lineEnd;

/** Splits `chunks`, an answer of the engine's API with `timestamps=1`, into entries. */
export async function* logEntries(
  chunks: AsyncIterable<Uint8Array>,
  { tty }: { readonly tty: boolean },
): AsyncIterable<LogEntry> {
  if (tty) for await (const bytes of terminalEntries(chunks)) yield entryOf('tty', bytes);
  else yield* framedEntries(outputPieces(chunks));
}

/**
 * Yields the container's output; with `timestamps`, the time before each line, but not before each piece of a
 * long line.
 */
export async function* printEntries(
  entries: AsyncIterable<LogEntry>,
  { timestamps }: { readonly timestamps: boolean },
): AsyncIterable<Buffer> {
  const starts = new LineStarts();
  for await (const entry of entries) {
    const begins = starts.begins(entry.output, endsLine(entry));
    const { head, text } = entry;
    yield timestamps && begins && head !== undefined ? Buffer.concat([Buffer.from(head), text]) : text;
  }
}

function entryOf(output: string, bytes: Buffer): LogEntry {
  const head = bytes.toString('latin1', 0, headBytes);
  return headForm.test(head)
    ? { output, head, text: bytes.subarray(headBytes) }
    : { output, head: undefined, text: bytes };
}

/** Yields the entries of a container without a terminal: each entry is a frame. */
async function* framedEntries(pieces: AsyncIterable<OutputPiece>): AsyncIterable<LogEntry> {
  let parts: Uint8Array[] = [];
  for await (const { stream, data, ends } of pieces) {
    parts.push(data);
    if (!ends) continue;
    yield entryOf(stream, Buffer.concat(parts));
    parts = [];
  }
}

/**
 * Yields the entries of a container with a terminal. There are no frames: an entry ends with its line, or at
 * the maximum length.
 */
async function* terminalEntries(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : Buffer.from(chunk);
    for (let end = terminalEntryEnd(rest); end !== undefined; end = terminalEntryEnd(rest)) {
      yield rest.subarray(0, end);
      rest = rest.subarray(end);
    }
  }
  if (rest.length > 0) yield rest;
}

/** Returns where the first entry of `bytes` ends; undefined when more bytes are needed to decide. */
function terminalEntryEnd(bytes: Buffer): number | undefined {
  const least = headBytes + pieceBytes;
  const lineEndAt = bytes.subarray(0, headBytes + maxPieceLength).indexOf(lineEnd);
  if (lineEndAt >= 0 && lineEndAt < least) return lineEndAt + 1;
  if (bytes.length < least) return undefined;
  if (!hasReplacements(bytes.subarray(headBytes, least))) return least;
  // Replacements made the piece longer than it was when the engine read it. All pieces of a line have the
  // same time.
  const again = bytes
    .subarray(0, 2 * headBytes + maxPieceLength)
    .indexOf(bytes.subarray(0, headBytes), least);
  if (again >= 0 && (lineEndAt < 0 || again < lineEndAt)) return again;
  if (lineEndAt >= 0) return lineEndAt + 1;
  return bytes.length >= 2 * headBytes + maxPieceLength ? headBytes + maxPieceLength : undefined;
}

/** Returns true when bytes were replaced; the last replacement may extend past the end. */
const hasReplacements = (bytes: Buffer) =>
  bytes.includes(replacement) ||
  bytes.at(-1) === replacement[0] ||
  bytes.subarray(-2).equals(replacement.subarray(0, 2));
