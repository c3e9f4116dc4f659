/** Chunks that are sent as the body of an answer, as fast as the client reads. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

export interface StreamedBody {
  readonly contentType: string;
  /** Opens the body; the signal aborts when the client or the server goes. */
  open(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/**
 * Sends the body. Rejects with the error of `open` when nothing has been sent. Rejects with another error if
 * the body ends too early: the caller must then close the connection without ending the response, so that
 * clients notice that it is incomplete.
 */
export async function sendBody(
  { contentType, open }: StreamedBody,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const both = AbortSignal.any([signal, gone.signal]);
  try {
    const chunks = await open(both);
    response.setHeader('content-type', contentType);
    // Headers are sent at once, so that the client of a quiet body sees that its request was accepted.
    response.flushHeaders();
    for await (const chunk of chunks)
      if (!response.write(chunk)) await once(response, 'drain', { signal: both });
    response.end();
  } catch (error) {
    if (both.aborted) return void response.destroy();
    throw error;
  } finally {
    gone.abort();
  }
}
