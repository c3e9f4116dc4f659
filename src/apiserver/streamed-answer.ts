/**
 * An answer whose body comes from another program as bytes of a connection. Whoever writes to a connection himself pipes it there,
 * because a web stream between the two costs more than all the rest of a small answer; everybody else reads it as a Response, which
 * is made then.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

export class StreamedAnswer extends Response {
  readonly source: Readable;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  readonly #status: number;
  #read: Response | undefined;

  constructor(status: number, source: Readable, fields: readonly string[]) {
    super(null, { status });
    this.#status = status;
    this.source = source;
    this.fields = fields;
  }

  /** The same answer with a body to be read, once. */
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

/** Of names and values in turn. */
export function headersOf(fields: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < fields.length; i += 2) headers.append(fields[i] ?? '', fields[i + 1] ?? '');
  return headers;
}

/** Pipes it to its client. A source that breaks off cuts the connection: the only way to show that the answer is not whole. */
export function pipeAnswer(
  status: number,
  fields: readonly string[],
  source: Readable,
  outgoing: ServerResponse,
): void {
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
  // A head leaves with the first bytes of its body where they are there already.
  process.nextTick(() => {
    if (!hasBegun && !isOver) outgoing.flushHeaders();
  });
}
