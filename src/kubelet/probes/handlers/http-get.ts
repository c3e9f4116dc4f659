/**
 * HTTP requests of probes and hooks. They are sent directly: without a proxy, without keep-alive, without
 * verifying certificates, and without following a redirect to another host.
 */
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { connect } from 'node:net';
import { createSecureContext, type SecureContext, connect as secureConnect } from 'node:tls';
import { onAbort } from '../../../base/abort.ts';
import { isAddress } from '../../../base/addresses.ts';
import type { Clock } from '../../../base/clock.ts';
import { joinHostPort } from '../plan/handler-port.ts';
import { type HttpRequest, redirection, urlOf } from '../plan/http-request.ts';
import { failure, maxOutputBytes, type Outcome, success, warning } from '../plan/outcome.ts';
import { networkError } from './network-error.ts';
import { resolveHost } from './resolve-host.ts';
import { limited, TimeOver } from './time-limit.ts';

const maxRedirections = 10;
/** Maximum bytes of a response's headers; Go's limit is similar. */
const maxHeaderSize = 1 << 20;

const wholeAnswer = async (response: IncomingMessage): Promise<HttpAnswer> => ({
  status: response.statusCode ?? 0,
  body: await bodyOf(response),
});

/** Throws if a redirection after `count` others is one too many. */
function requireFewer(count: number): void {
  if (count >= maxRedirections - 1) throw new Error(`stopped after ${maxRedirections} redirects`);
}

/** Created once, and without the platform's certificate authorities, which take long to load. */
let emptyTrustStore: SecureContext | undefined;

export interface HttpAnswer {
  readonly status: number;
  /** The response's body, at most `maxOutputBytes` of it. */
  readonly body: string;
}

/** Sends a request and returns the outcome for a probe. Never rejects. */
export async function httpGetHandler(
  clock: Clock,
  request: HttpRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const { status, body } = await getHttp(clock, request, timeoutMs, signal);
    if (status < 200 || status >= 400) return failure(`HTTP probe failed with statuscode: ${status}`);
    return status < 300 ? success(body) : warning(`Probe terminated redirects, Response body: ${body}`);
  } catch (error) {
    return failure((error as Error).message);
  }
}

/**
 * Sends a request and follows redirects within the host; returns the last response. `timeoutMs` undefined
 * means no timeout. Rejects with an Error, worded as Kubernetes does, when there is no response.
 */
export function getHttp(
  clock: Clock,
  first: HttpRequest,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return limited(clock, timeoutMs, signal, async (ending) => {
    let current = first;
    try {
      for (let redirections = 0; ; redirections++) {
        const response = await answer(current, ending);
        const next = followed(current, response);
        if (next === undefined) return await wholeAnswer(response);
        response.destroy();
        requireFewer(redirections);
        current = next;
      }
    } catch (error) {
      const text = ending.aborted ? overtime(ending, error) : (error as Error).message;
      throw new Error(`Get ${JSON.stringify(urlOf(current))}: ${text}`, { cause: error });
    }
  });
}

function followed(
  current: HttpRequest,
  { statusCode = 0, headers }: IncomingMessage,
): HttpRequest | undefined {
  const next = redirection(current, statusCode, headers.location);
  return next === 'elsewhere' ? undefined : next;
}

function overtime({ reason }: AbortSignal, error: unknown): string {
  if (!(reason instanceof TimeOver)) return 'context canceled';
  const reading = error instanceof BodyError;
  return `context deadline exceeded (${reading ? 'Client.Timeout or context cancellation while reading body' : 'Client.Timeout exceeded while awaiting headers'})`;
}

/**
 * Resolves with the head of the response; its body is not read yet. Rejects with an Error, worded as
 * Kubernetes does.
 */
async function answer(request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const address = joinHostPort(request.host, request.port);
  const host = await resolveHost(request.host, signal).catch((error: Error) => {
    throw new Error(`dial tcp: ${error.message}`);
  });
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const sent = send(request, host);
    const forget = onAbort(signal, () => sent.destroy(signal.reason));
    sent.once('response', resolve);
    // The request did not contain an upgrade, so this is treated as an ordinary response.
    sent.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    sent.on('error', (error) => reject(new Error(networkError(error, address), { cause: error })));
    sent.once('close', forget);
    sent.end();
  });
}

function send({ scheme, host: name, port, path, headers }: HttpRequest, host: string): ClientRequest {
  // The parser accepts lines that end in a line feed alone, which many small servers write.
  const lenient = { insecureHTTPParser: true, maxHeaderSize };
  const options = { host, port, path, headers, setHost: false, method: 'GET', ...lenient };
  // An agent is not used: it would only look for a kept connection, and there is none.
  if (scheme === 'http') return requestHttp({ ...options, createConnection: () => connect({ host, port }) });
  const servername = isAddress(name) ? '' : name;
  emptyTrustStore ??= createSecureContext({ ca: [] });
  const tls = { host, port, rejectUnauthorized: false, servername, secureContext: emptyTrustStore };
  return requestHttp({ ...options, createConnection: () => secureConnect(tls) });
}

/** A body that reached neither its end nor the limit. */
class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** Reads the body by events, which cost less than the stream's iterator. Ends the connection. */
function bodyOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let left = maxOutputBytes;
    const end = () => {
      resolve(Buffer.concat(chunks).toString('utf8'));
      response.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, left));
      left = Math.max(left - chunk.length, 0);
      if (left === 0) end();
    });
    response.once('end', end);
    response.once('error', (cause) => reject(new BodyError('unexpected EOF', { cause })));
    response.once('close', () => {
      if (!response.readableEnded) reject(new BodyError('unexpected EOF'));
    });
  });
}
