/**
 * Sends requests and retries them exactly as client-go does (rest/with_retry.go): after 429 or 5xx with
 * Retry-After, and after a GET whose connection was reset; at most ten times. Unlike client-go it waits up to
 * twice the requested time, so that clients that were rejected at the same moment do not retry at the same
 * moment.
 */
import { type Clock, sleep } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { responseError } from './response-error.ts';
import type { ApiRequest, ApiResponse, Transport } from './transport.ts';
import { isTransportError } from './transport-error.ts';

const maxRetries = 10;
/** Maximum bytes of an answer that is held as a whole: somewhat less than the longest string. */
const maxAnswerBytes = 510 * 2 ** 20;
/** Bytes of a rejection that are read: a Status is far smaller, and a page of a proxy is quoted in part. */
const maxRejectionBytes = 2 ** 20;
/** client-go waits a second before it retries a GET on a new connection. */
const resetRetryMs = 1_000;

export interface Requester {
  /** Resolves when a successful response has begun; rejects with StatusError or TransportError. */
  open(request: ApiRequest): Promise<ApiResponse>;
  /** Resolves to the decoded response; undefined when it is empty. */
  json(request: ApiRequest): Promise<unknown>;
}

export interface RetryOptions {
  /** Clock for waiting; without a clock, nothing is retried. */
  readonly clock?: Clock;
  /** Random extension of waits; without it, waits are exactly those that the server requests. */
  readonly random?: Pick<Random, 'next'>;
  /** Aborts all waits. */
  readonly signal?: AbortSignal;
}

export function createRequester(transport: Transport, options: RetryOptions = {}): Requester {
  const open = (request: ApiRequest) => openWithRetries(transport, request, options);
  return {
    open,
    async json(request) {
      const text = await readText((await open(request)).body, `${request.method} ${request.path}`);
      if (text === '') return undefined;
      try {
        return JSON.parse(text) as unknown;
      } catch (error) {
        throw new Error(`${request.method} ${request.path} answered something that is not JSON`, {
          cause: error,
        });
      }
    },
  };
}

type Outcome =
  | { readonly response: ApiResponse }
  | { readonly response?: undefined; readonly error: unknown; readonly retryMs: number | undefined };

async function tryOnce(transport: Transport, request: ApiRequest): Promise<Outcome> {
  let response: ApiResponse;
  try {
    response = await transport.request(request);
  } catch (error) {
    const again = request.method === 'GET' && isTransportError(error) && error.failure === 'reset';
    return { error, retryMs: again ? resetRetryMs : undefined };
  }
  const { status } = response;
  if (status >= 200 && status < 300) return { response };
  const seconds = retryAfterSeconds(response);
  const error = responseError(
    `${request.method} ${request.path}`,
    status,
    await readBeginning(response.body),
    seconds,
  );
  const again = seconds !== undefined && (status === 429 || status >= 500);
  return { error, retryMs: again ? seconds * 1_000 : undefined };
}

async function openWithRetries(
  transport: Transport,
  request: ApiRequest,
  { clock, random, signal }: RetryOptions,
): Promise<ApiResponse> {
  for (let attempt = 0; ; attempt++) {
    const outcome = await tryOnce(transport, request);
    if (outcome.response) return outcome.response;
    if (!clock || outcome.retryMs === undefined || attempt === maxRetries) throw outcome.error;
    const ms = outcome.retryMs * (1 + (random?.next() ?? 0));
    await sleep(clock, ms, request.signal ?? signal);
  }
}

/**
 * Returns the seconds of the Retry-After header. Only whole seconds count, as in client-go; an HTTP date is
 * ignored.
 */
function retryAfterSeconds(response: ApiResponse): number | undefined {
  const header = response.header('retry-after')?.trim() ?? '';
  return /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/** Rejects an answer that is too long before it fills the memory. `what` names the request. */
async function readText(body: AsyncIterable<Uint8Array>, what: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxAnswerBytes)
      throw new Error(`${what} answered more than ${maxAnswerBytes / 2 ** 20} MiB: ask for less at once`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Resolves to the body up to a limit; the rest of a longer one is not read. */
async function readBeginning(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxRejectionBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxRejectionBytes);
}
