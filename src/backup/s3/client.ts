/** A client of S3 with the requests that backups need. Every failure is a BackupError in one line. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Backoff } from '../../base/backoff.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { UsageError } from '../../base/usage-error.ts';
import { BackupError } from '../manifest.ts';
import { errorIn } from './answers.ts';
import type { Credentials } from './credentials.ts';
import { type EndpointSettings, objectUrl } from './endpoint.ts';
import { agentFor, exchange, shortText } from './exchange.ts';
import { type Asked, asksForRetry, isPassing, networkError, refusalError } from './failures.ts';
import type { BucketLocation } from './location.ts';
import { signedHeaders } from './signature.ts';

export interface S3Options extends EndpointSettings {
  /** Reads the credentials, before each request: they may be replaced while a master runs. */
  readonly credentials: () => Promise<Credentials>;
  /** Certificates of authorities to trust, in PEM; undefined: the usual ones. */
  readonly ca: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds of silence after which an attempt fails; default 30 seconds. */
  readonly idleMs?: number;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Permission that the request needs, for messages. */
  readonly action: string;
  readonly location: BucketLocation;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** Number of attempts; default 4. */
  readonly attempts?: number;
  /** Maximum time of an attempt with a short answer in milliseconds; default 10 minutes. */
  readonly limitMs?: number;
}

export interface Answer {
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

const defaultIdleMs = 30_000;
const defaultAttempts = 4;
const retryDelays = { initialMs: 500, maxMs: 8_000 };
const defaultLimitMs = 600_000;
/** Maximum size in bytes of the text of a refusal, and the time in milliseconds in which it is read. */
const [maxRefusalBytes, refusalMs] = [64 * 1024, 10_000];
/** Maximum size of an answer that is no object in bytes. */
const maxTextBytes = 8 * 1024 * 1024;

export class S3Client {
  readonly #options: S3Options;
  readonly #agent: ReturnType<typeof agentFor>;

  constructor(options: S3Options) {
    this.#options = options;
    this.#agent = agentFor(options.endpoint?.protocol ?? 'https:', options.ca);
  }

  /** Sends a request, several times if need be, and resolves to its short answer. */
  send(request: S3Request): Promise<Answer> {
    return this.#retried(request, () =>
      this.#limited(request, async (signal) => {
        const answer = await this.#attempt(request, signal);
        return { headers: answer.headers, text: await shortText(answer, maxTextBytes) };
      }),
    );
  }

  /** Sends a request and resolves to its answer, whose body the caller must read or destroy. */
  open(request: S3Request): Promise<IncomingMessage> {
    return this.#retried(request, () => this.#attempt(request, request.signal));
  }

  async #retried<T>(request: S3Request, attempt: () => Promise<T>): Promise<T> {
    const { clock, random } = this.#options;
    const backoff = new Backoff(retryDelays, random);
    for (let left = (request.attempts ?? defaultAttempts) - 1; ; left--) {
      try {
        return await attempt();
      } catch (error) {
        request.signal?.throwIfAborted();
        this.#throwUnless(left > 0 && mayPass(error), request, error);
      }
      await sleep(clock, backoff.next(), request.signal);
    }
  }

  #throwUnless(isTriedAgain: boolean, request: S3Request, error: unknown): void {
    if (!isTriedAgain) throw isFinal(error) ? error : networkError(this.#asked(request), error);
  }

  async #limited<T>(request: S3Request, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { limitMs = defaultLimitMs, signal } = request;
    const limit = new AbortController();
    const timer = this.#options.clock.after(limitMs, () =>
      limit.abort(new Error(`no answer within ${limitMs / 1000} seconds`)),
    );
    try {
      return await act(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal);
    } finally {
      timer.cancel();
    }
  }

  /** Resolves to an answer of success. Rejects with BackupError for another one. */
  async #attempt(request: S3Request, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    const { region, clock, idleMs = defaultIdleMs } = this.#options;
    const { method, headers = {}, body = new Uint8Array() } = request;
    const { url } = this.#asked(request);
    const bodyDigest = createHash('sha256').update(body).digest('hex');
    const credentials = await this.#options.credentials();
    const signed = await signedHeaders(
      { method, url, headers, bodyDigest },
      credentials,
      region,
      clock.now(),
    );
    const answer = await exchange({
      ...{ method, url, headers: signed, body, agent: this.#agent, idleMs, signal },
    });
    const { statusCode: status = 0 } = answer;
    if (status >= 200 && status < 300) return answer;
    throw await this.#refusal(request, status, answer);
  }

  async #refusal(request: S3Request, status: number, answer: IncomingMessage): Promise<BackupError> {
    const { location, date } = answer.headers;
    const region = answer.headers['x-amz-bucket-region'];
    const error = errorIn(await this.#refusalText(answer));
    const regionHeader = typeof region === 'string' ? region : undefined;
    const refused = refusalError(
      this.#asked(request),
      { status, error, regionHeader, redirect: location, date },
      this.#options.clock.now(),
    );
    return asksForRetry(status, error?.code) ? new BusyError(refused.message) : refused;
  }

  /** Returns the text of a refusal; an empty one if it cannot be read: the status says enough. */
  async #refusalText(answer: IncomingMessage): Promise<string> {
    const timer = this.#options.clock.after(refusalMs, () => answer.destroy());
    try {
      return await shortText(answer, maxRefusalBytes);
    } catch {
      return '';
    } finally {
      timer.cancel();
      answer.destroy();
    }
  }

  #asked({ action, location, query }: S3Request): Asked {
    return { action, location, url: objectUrl(this.#options, location, query), region: this.#options.region };
  }
}

/** An answer after which another attempt may succeed. */
class BusyError extends BackupError {}

const isFinal = (error: unknown) => error instanceof BackupError || error instanceof UsageError;

/** Returns whether another attempt may succeed where one has failed. */
const mayPass = (error: unknown) => (isFinal(error) ? error instanceof BusyError : isPassing(error));
