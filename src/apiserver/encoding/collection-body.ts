/**
 * Answers with a collection. A small body is sent whole; a larger one is streamed as it is encoded, in turns.
 */
import { type Headers, jsonType, respond } from '../respond.ts';
import { fewItems, Turn, type Turns } from '../turns.ts';

/** Approximate size of a piece in bytes. */
export const pieceBytes = 64 * 1024;
/**
 * Size of an answer from which its connection is closed after it. TLS keeps a buffer for each connection
 * that is as large as the most data that was ever queued on it; a reflector's next request is a watch,
 * which would keep that buffer for minutes.
 */
const lastOfConnectionBytes = 256 * 1024;

export interface Members<T> {
  readonly items: readonly T[];
  /** Returns the JSON of one member of the list. */
  readonly render: (item: T) => Uint8Array | string;
  /** Returns the number of bytes that rendering the member reads. */
  readonly weigh: (item: T) => number;
}

export interface Collection<T> extends Members<T> {
  /** Fields before the list. */
  readonly head: Readonly<Record<string, unknown>>;
  /** Name of the list field. */
  readonly field: 'items' | 'rows';
}

/** The request that is answered, and the headers of the answer. */
interface Asked {
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly server: { readonly turns: Pick<Turns, 'next'> };
}

/** `{…head…,"items":[…]}` */
export const respondCollection = <T>(
  asked: Asked,
  { head, field, ...members }: Collection<T>,
): Promise<Response> =>
  respondMembers(asked, members, [`${JSON.stringify(head).slice(0, -1)},"${field}":[`, ']}\n']);

/** `[…]` */
export const respondArray = <T>(asked: Asked, members: Members<T>): Promise<Response> =>
  respondMembers(asked, members, ['[', ']\n']);

async function respondMembers<T>(
  { headers, signal, server: { turns } }: Asked,
  members: Members<T>,
  frame: readonly [before: string, after: string],
): Promise<Response> {
  const writer = new MembersWriter(members, frame);
  const all = { ...headers, ...jsonType };
  if (members.items.length > fewItems) await turns.next(signal);
  let first = writer.next();
  while (!writer.done && first.length < pieceBytes) {
    await turns.next(signal);
    first = Buffer.concat([first, writer.next()]);
  }
  if (writer.done) return respond(200, first, all);
  const expected = (first.length / writer.written) * members.items.length;
  let ready: Buffer | undefined = first;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (ready) {
        controller.enqueue(ready);
        ready = undefined;
        return;
      }
      await turns.next();
      controller.enqueue(writer.next());
      if (writer.done) controller.close();
    },
  });
  return respond(200, body, { ...all, ...connectionAfter(expected) });
}

/** Returns the Connection header of an answer of this size. */
export const connectionAfter = (bytes: number): Headers =>
  bytes > lastOfConnectionBytes ? { connection: 'close' } : {};

/** Encodes the members, one turn's work at a time. */
class MembersWriter<T> {
  readonly #members: Members<T>;
  readonly #frame: readonly [before: string, after: string];
  /** Number of members encoded so far. */
  written = 0;
  done = false;

  constructor(members: Members<T>, frame: readonly [before: string, after: string]) {
    this.#members = members;
    this.#frame = frame;
  }

  next(): Buffer {
    const { items, render, weigh } = this.#members;
    const [before, after] = this.#frame;
    const parts: (Uint8Array | string)[] = [];
    if (this.written === 0) parts.push(before);
    const turn = new Turn();
    for (let over = false; !over && this.written < items.length; this.written++) {
      const item = items[this.written] as T;
      const text = render(item);
      parts.push(this.written > 0 ? ',' : '', text);
      over = turn.took(Math.max(weigh(item), text.length));
    }
    this.done = this.written === items.length;
    if (this.done) parts.push(after);
    return joined(parts);
  }
}

/** Concatenates the parts; consecutive strings are encoded together. */
function joined(parts: readonly (Uint8Array | string)[]): Buffer {
  const buffers: Uint8Array[] = [];
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    if (text !== '') buffers.push(Buffer.from(text));
    text = '';
    buffers.push(part);
  }
  if (text !== '') buffers.push(Buffer.from(text));
  return Buffer.concat(buffers);
}
