/** Decodes the newline-separated JSON of a watch, independent of the network's packets. */
import type { KubeObject } from '../apimachinery/meta.ts';
import type { WatchEvent } from './client.ts';
import { watchEventOf } from './watch-event.ts';

const newline = 0x0a;

/** Maximum bytes of an event; an object of etcd has at most 1.5 MiB. */
const maxEventBytes = 128 * 2 ** 20;

/**
 * Yields the lines of a byte stream without their ends; blank lines are skipped. Rejects when the stream ends
 * inside a line: the connection was cut, and half an event must not be taken for a complete one. Rejects
 * for a line that does not end, before it fills the memory.
 */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // Pieces of an unfinished line are joined only once, so that the cost of a large event is proportional to
  // its size.
  let pieces: Uint8Array[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const last = chunk.subarray(start, end);
      start = end + 1;
      const text = joined(pieces, last).toString('utf8');
      pieces = [];
      held = 0;
      if (text.trim()) yield text;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    held += chunk.length - start;
    requireBounded(held);
  }
  if (Buffer.concat(pieces).toString('utf8').trim())
    throw new Error('the watch was cut in the middle of an event');
}

function requireBounded(bytes: number): void {
  if (bytes > maxEventBytes)
    throw new Error(`the watch sent an event of more than ${maxEventBytes / 2 ** 20} MiB`);
}

const joined = (pieces: readonly Uint8Array[], last: Uint8Array): Buffer =>
  pieces.length > 0
    ? Buffer.concat([...pieces, last])
    : Buffer.from(last.buffer, last.byteOffset, last.length);

/**
 * Yields the events of a watch. Throws the StatusError of an ERROR event. `what` names the request in errors.
 */
export async function* watchEvents<T extends KubeObject>(
  chunks: AsyncIterable<Uint8Array>,
  what: string,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of lines(chunks)) yield watchEventOf<T>(line, what);
}
