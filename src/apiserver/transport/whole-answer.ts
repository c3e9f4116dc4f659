/**
 * An answer whose body is complete in memory, as most are. A Response makes a stream of its body, and reading
 * that costs more than the rest of a small answer; a caller that sends this answer itself takes the body as
 * it is. A caller that reads it as a Response gets one that is created then.
 */
import type { ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';

export class WholeAnswer extends Response {
  readonly whole: string | Uint8Array;
  #read: Response | undefined;

  constructor(status: number, whole: string | Uint8Array, headers: Readonly<Record<string, string>>) {
    super(null, { status, headers });
    this.whole = whole;
  }

  /** Returns the same answer with a body that can be read once. */
  readable(): Response {
    // The DOM's and Node's types of binary bodies differ in name only.
    this.#read ??= new Response(this.whole as string, { status: this.status, headers: this.headers });
    return this.#read;
  }
}

// The type of a Response has these as fields, which a class may not override by methods.
for (const name of ['body', 'bodyUsed'] as const) {
  Object.defineProperty(WholeAnswer.prototype, name, {
    get(this: WholeAnswer) {
      return this.readable()[name];
    },
  });
}
for (const name of ['arrayBuffer', 'blob', 'bytes', 'clone', 'formData', 'json', 'text'] as const) {
  Object.defineProperty(WholeAnswer.prototype, name, {
    value(this: WholeAnswer) {
      return this.readable()[name]();
    },
  });
}

/** Sends an answer whose body is complete in memory. */
export function sendWhole(outgoing: HttpBindings['outgoing'], { status, headers, whole }: WholeAnswer): void {
  const fields: Record<string, string | number> = { 'content-length': Buffer.byteLength(whole) };
  for (const [name, value] of headers) fields[name] = value;
  (outgoing as ServerResponse).writeHead(status, fields).end(whole);
}
