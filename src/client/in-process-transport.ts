/**
 * Calls an API server in the same process: the same requests and responses as over HTTPS, without a socket.
 * Bodies stream: data from the server is available at once, and an abort cancels the server's stream.
 */
import { onAbort } from '../base/abort.ts';
import type { ApiRequest, ApiResponse, Transport } from './transport.ts';
import { TransportError } from './transport-error.ts';

/** Host part of the URL that the handler sees. */
const origin = 'http://minik8s.internal';

/** Creates a transport; the server uses `userAgent` as the manager of fields that the client sets. */
export function inProcessTransport(
  handler: (request: Request) => Promise<Response>,
  userAgent?: string,
): Transport {
  const open = new Set<AbortController>();
  let closed = false;

  return {
    async request(request) {
      if (closed) throw closedError();
      const abort = new AbortController();
      const { signal } = request;
      const unlink = signal ? onAbort(signal, () => abort.abort(signal.reason)) : () => {};
      open.add(abort);
      const release = () => {
        unlink();
        open.delete(abort);
      };
      try {
        const response = await untilAborted(
          handler(toRequest(request, abort.signal, userAgent)),
          abort.signal,
        );
        return toResponse(response, abort.signal, release);
      } catch (error) {
        release();
        throw error;
      }
    },
    close() {
      closed = true;
      for (const abort of open) abort.abort(closedError());
    },
  };
}

const closedError = () => new TransportError('the in-process API server connection is closed', 'closed');

/** Returns the promise's result; rejects when the signal aborts, even if the promise never settles. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unlink = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(unlink);
  });
}

function toRequest(request: ApiRequest, signal: AbortSignal, userAgent: string | undefined): Request {
  const body =
    typeof request.body === 'string' ? request.body : request.body && Uint8Array.from(request.body);
  return new Request(`${origin}${request.path}`, {
    method: request.method,
    headers: { ...request.headers, ...(userAgent && { 'user-agent': userAgent }) },
    ...(body !== undefined && { body }),
    signal,
  });
}

function toResponse(response: Response, signal: AbortSignal, release: () => void): ApiResponse {
  const { body } = response;
  if (!body) release();
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    body: body ? readBody(body, signal, release) : noBody(),
  };
}

async function* noBody(): AsyncGenerator<Uint8Array> {}

/** Reads a body. An abort cancels the stream even when there is no reader. */
function readBody(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  release: () => void,
): AsyncIterable<Uint8Array> {
  const reader = body.getReader();
  const cancel = (reason: unknown) => {
    // The stream may have failed already; the reader gets its error.
    reader.cancel(reason).catch(() => undefined);
  };
  const unlink = onAbort(signal, () => {
    cancel(signal.reason);
    release();
  });
  const end = (isComplete: boolean) => {
    unlink();
    if (!isComplete) cancel('the reader stopped');
    release();
  };
  return { [Symbol.asyncIterator]: () => chunksOf(reader, signal, end) };
}

/** Yields the chunks. Calls `end` once they have been read, or the reader stops earlier. */
async function* chunksOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
  end: (isComplete: boolean) => void,
): AsyncGenerator<Uint8Array> {
  let isComplete = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) throw signal.reason;
      if (done) {
        isComplete = true;
        return;
      }
      yield value;
    }
  } finally {
    end(isComplete);
  }
}
