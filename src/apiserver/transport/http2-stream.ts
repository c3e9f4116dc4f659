/**
 * One request and its answer on an HTTP/2 stream. Designed for thousands of waiting watches: once an answer
 * is in progress, nothing of the request is kept in memory, and a watch writes to the stream directly.
 */
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../../base/clock.ts';
import { impersonationFields } from '../authentication/impersonation.ts';
import type { RequestEnv } from '../options.ts';
import type { Sink, Source } from './pushed-body.ts';
import { faultOfHttp2Head } from './refused-head.ts';
import { WholeAnswer } from './whole-answer.ts';

/**
 * Maximum size of a piece in bytes. The TLS buffer of a connection grows to the largest amount that was
 * queued on the connection, and never shrinks.
 */
const pieceBytes = 8 * 1024;

type Way = Pick<RequestEnv, 'hangUp' | 'push' | 'onClosed' | 'impersonation'>;
export type Answer = (request: Request, way: Way) => Promise<Response>;

/** Timeout of a piece of an answer that the client does not read; the stream is closed after it. */
export interface Patience {
  readonly clock: Clock;
  readonly stalledMs: number;
}

/**
 * Serves one request. Resolves when the answer is written, or when its source has begun to write; never
 * rejects.
 */
export async function serveHttp2Stream(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  raw: readonly string[],
  answer: Answer,
  patience: Patience,
): Promise<void> {
  const gone = new AbortController();
  stream.on('error', ignore);
  const leave = () => gone.abort(new DOMException('the client went away', 'AbortError'));
  stream.once('close', leave);
  let source: Source | undefined;
  const way = {
    impersonation: impersonationFields(raw),
    hangUp: () => breakOff(stream, incomplete),
    push: (pushing: Source) => {
      source = pushing;
    },
    onClosed: (fn: () => void) => {
      if (stream.closed) fn();
      else stream.once('close', fn);
    },
  };
  const fault = faultOfHttp2Head(headers, raw);
  const request = fault === undefined ? requestOf(stream, headers, gone.signal) : undefined;
  const response = request ? await answer(request, way) : badRequest(fault);
  // A stream that was refused is closed, and destroyed later.
  if (stream.destroyed || stream.closed) {
    if (!(response instanceof WholeAnswer)) await response.body?.cancel();
    return;
  }
  stream.respond(responseHeaders(response));
  // The rest of a rejected request is not read (RFC 9113 §8.1).
  if (!stream.endAfterHeaders) stream.once('finish', () => stopReading(stream));
  if (source) {
    stream.off('close', leave);
    pushTo(stream, source);
  } else await writeAll(stream, bodyOf(response), patience);
}

/** Starts the source. References nothing but the stream and the source. */
function pushTo(stream: ServerHttp2Stream, source: Source): void {
  stream.once('close', () => source.cancel());
  source.begin(new StreamSink(stream));
}

/**
 * Shared by all streams, because a listener of one stream would keep its request in memory. Listeners of
 * `close` handle the error.
 */
const ignore = () => undefined;

function requestOf(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  signal: AbortSignal,
): Request | undefined {
  const { ':method': method = 'GET', ':path': path = '/', ':authority': authority = 'apiserver' } = headers;
  const plain = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    name.startsWith(':') || value === undefined ? [] : [[name, [value].flat().join(', ')]],
  );
  const body = stream.endAfterHeaders ? null : stream.iterator({ destroyOnReturn: false });
  try {
    const init = { method, headers: plain, signal, ...(body && { body, duplex: 'half' }) };
    return new Request(`https://${authority}${path}`, init as RequestInit);
  } catch {
    // The URL, the method or a header field is invalid.
    return undefined;
  }
}

/**
 * Returns a 400. The default message covers faults in the URL, the method or a header field, which are not
 * distinguished.
 */
const badRequest = (fault = 'the request has a method, a URL or a header field that cannot be\n') =>
  new WholeAnswer(400, fault, { 'content-type': 'text/plain' });

/** Fields of HTTP/1.1 that HTTP/2 forbids (RFC 9113 §8.2.2); the backend of a proxy may send them. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

function responseHeaders({ status, headers }: Response): Record<string, string | number> {
  const fields: Record<string, string | number> = { ':status': status };
  for (const [name, value] of headers) {
    if (!ofConnection.has(name)) fields[name] = value;
  }
  return fields;
}

function bodyOf(response: Response): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  if (!(response instanceof WholeAnswer)) return response.body ?? [];
  const { whole } = response;
  return [typeof whole === 'string' ? Buffer.from(whole) : whole];
}

async function writeAll(
  stream: ServerHttp2Stream,
  body: ReturnType<typeof bodyOf>,
  patience: Patience,
): Promise<void> {
  try {
    for await (const chunk of body) {
      for (let at = 0; at < chunk.length; at += pieceBytes) {
        if (stream.destroyed) return;
        await write(stream, chunk.subarray(at, at + pieceBytes), patience);
      }
    }
    stream.end();
  } catch {
    breakOff(stream, incomplete);
  }
}

const incomplete = 'the answer could not be read to its end';
const unread = 'the client did not read the response in time';

/**
 * Ends the stream with an error: `close` with a code would end the stream first, and what has been sent would
 * look complete.
 */
function breakOff(stream: ServerHttp2Stream, why: string): void {
  stream.destroy(new Error(why));
}

/** Resolves when the piece has been sent, or never will be. */
const write = (stream: ServerHttp2Stream, piece: Uint8Array, { clock, stalledMs }: Patience) =>
  new Promise<void>((resolve) => {
    const late = clock.after(stalledMs, () => breakOff(stream, unread));
    stream.write(piece, () => {
      late.cancel();
      resolve();
    });
  });

function stopReading(stream: ServerHttp2Stream): void {
  if (!stream.readableEnded && !stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR);
}

class StreamSink implements Sink {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  write(piece: Uint8Array): void {
    this.#stream.write(piece);
  }

  end(): void {
    this.#stream.end();
  }

  cut(): void {
    breakOff(this.#stream, unread);
  }

  get backlog(): number {
    return this.#stream.writableLength;
  }

  async room(): Promise<void> {
    if (!this.#stream.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      this.#stream.once('drain', resolve);
    });
  }
}
