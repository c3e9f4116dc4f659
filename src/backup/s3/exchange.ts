/** One request over HTTP. A redirect is an answer like any other: the signed headers go to no other host. */
import http from 'node:http';
import https from 'node:https';
import { trustPublicAuthorities } from '../../base/public-authorities.ts';

export interface ExchangeOptions {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly agent: http.Agent;
  /** Milliseconds without a byte in either direction after which the request fails. */
  readonly idleMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Failure because the server was silent for `idleMs`. */
export class SilentError extends Error {
  override readonly name = 'SilentError';
}

/** Sends a request and resolves to its answer, whose body the caller must read or destroy. */
export function exchange(options: ExchangeOptions): Promise<http.IncomingMessage> {
  const { method, url, headers, body, agent, idleMs, signal } = options;
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    ...{ method, agent, headers: { ...headers, 'content-length': String(body.length) } },
    ...{ timeout: idleMs, ...(signal && { signal }) },
  });
  let answer: http.IncomingMessage | undefined;
  request.on('timeout', () => {
    const error = new SilentError(`no byte was sent or received for ${idleMs / 1000} seconds`);
    // The error of the request is not passed on to an answer whose head was received.
    answer?.destroy(error);
    request.destroy(error);
  });
  request.on('error', reject);
  request.on('response', (response) => {
    answer = response;
    resolve(response);
  });
  request.end(body);
  return promise;
}

/** Returns the agent for an endpoint. `ca`: the certificates to trust instead of the usual ones. */
export function agentFor(protocol: string, ca: string | undefined): http.Agent {
  if (ca === undefined) trustPublicAuthorities();
  const options = { keepAlive: true, maxSockets: 4 };
  return protocol === 'https:'
    ? new https.Agent({ ...options, ...(ca !== undefined && { ca }) })
    : new http.Agent(options);
}

/** Reads a short answer. Rejects if it is longer than `most` bytes. */
export async function shortText(answer: http.IncomingMessage, most: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > most) throw new Error(`the answer is longer than ${most} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
