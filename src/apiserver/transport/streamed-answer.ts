/**
 * An answer whose body another program sends as bytes of a connection. A caller that writes to a connection
 * directly pipes the body, because a web stream in between costs more than the rest of a small answer; all
 * other callers read the answer as a Response, which is created then.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

export class StreamedAnswer extends Response {
  readonly source: Readable;
  /** Names and values alternately. */
  readonly fields: readonly string[];
  readonly #status: number;
  #read: Response | undefined;

  constructor(status: number, source: Readable, fields: readonly string[]) {
    super(null, { status });
    this.#status = status;
    this.source = source;
    this.fields = fields;
  }

  /** Returns the same answer with a body that can be read once. */
  readable(): Response {
    this.#read ??= new Response(Readable.toWeb(this.source) as ReadableStream<Uint8Array>, {
      status: this.#status,
      headers: headersOf(this.fields),
    });
    return this.#read;
  }
}

// The type of a Response has these as fields, which a class may not override by methods.
for (const name of ['body', 'bodyUsed', 'headers'] as const) {
  Object.defineProperty(StreamedAnswer.prototype, name, {
    get(this: StreamedAnswer) {
      return this.readable()[name];
    },
  });
}
for (const name of ['arrayBuffer', 'blob', 'bytes', 'clone', 'formData', 'json', 'text'] as const) {
  Object.defineProperty(StreamedAnswer.prototype, name, {
    value(this: StreamedAnswer) {
      return this.readable()[name]();
    },
  });
}

/** Converts a list of alternating names and values. */
export function headersOf(fields: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < fields.length; i += 2) headers.append(fields[i] ?? '', fields[i + 1] ?? '');
  return headers;
}

/**
 * Pipes the answer to its client. If the source breaks off, the connection is closed: the only way to show
 * that the answer is incomplete.
 */
export function pipeAnswer(
  status: number,
  fields: readonly string[],
  source: Readable,
  outgoing: ServerResponse,
): void {
  // A stream that has closed by now causes no further event.
  if (outgoing.closed || source.destroyed) {
    outgoing.destroy();
    source.destroy();
    return;
  }
  let isOver = false;
  let hasBegun = false;
  const cut = () => {
    if (isOver) return;
    isOver = true;
    outgoing.destroy();
    source.destroy();
  };
  source.once('error', cut);
  source.once('close', cut);
  source.once('end', () => {
    isOver = true;
  });
  outgoing.once('close', () => {
    isOver = true;
    source.destroy();
  });
  outgoing.on('error', cut);
  outgoing.writeHead(status, fields as string[]);
  source.once('data', () => {
    hasBegun = true;
  });
  source.pipe(outgoing);
  // The head is sent with the first bytes of the body if they are available already.
  process.nextTick(() => {
    if (!hasBegun && !isOver) outgoing.flushHeaders();
  });
}
