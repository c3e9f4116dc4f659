/**
 * The path at which masters ask to join. It answers only the holder of a token that was created for masters:
 * an answer has the key of etcd's authority, with which a member reads everything. Other requests get 401
 * before their body is read, and 429 if there are many. A request that may be granted in a moment gets 503.
 */
import { errorMessage, type Logger } from '../base/log.ts';
import { JoinBusyError, JoinRefusedError } from './grant.ts';
import { type JoinAnswer, type JoinRequest, joinPath, readJoinRequest } from './join-messages.ts';

export interface JoinServerOptions {
  /** Returns the id of the token for masters in a header Authorization. */
  readonly tokenId: (authorization: string | undefined) => string | undefined;
  readonly grant: (asked: JoinRequest) => Promise<JoinAnswer>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Logger;
}

/** The parts of a request that are read. */
export interface JoinHttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

const maxBodyLength = 64 * 1024;
const maxRejectionsPerMinute = 10;
const minute = 60_000;

type Answer = { readonly status: number; readonly body: string };

/** Returns a handler that resolves to undefined for requests with other paths. */
export function joinServer(options: JoinServerOptions) {
  const server = new JoinServer(options);
  return async (request: JoinHttpRequest): Promise<Answer | undefined> => {
    const path = URL.parse(request.url, 'https://master')?.pathname;
    if (path !== joinPath) return undefined;
    if (request.method !== 'POST') return { status: 405, body: 'only POST is allowed\n' };
    const token = options.tokenId(request.headers.get('authorization') ?? undefined);
    return token === undefined ? server.reject() : server.admit(request, token);
  };
}

class JoinServer {
  readonly #options: JoinServerOptions;
  #rejections: readonly number[] = [];
  #isBusy = false;

  constructor(options: JoinServerOptions) {
    this.#options = options;
  }

  reject(): Answer {
    const { now, log } = this.#options;
    const recent = this.#rejections.filter((time) => now() - time < minute);
    this.#rejections = [...recent, now()].slice(-maxRejectionsPerMinute - 1);
    if (this.#rejections.length > maxRejectionsPerMinute)
      return { status: 429, body: 'too many requests without a valid token: try again in a minute\n' };
    log.warn('a request to join as a master had no valid token for masters');
    return {
      status: 401,
      body: 'the token is wrong, has expired, or is not one for masters: minik8s token create --master prints one\n',
    };
  }

  async admit(request: JoinHttpRequest, token: string): Promise<Answer> {
    const length = Number(request.headers.get('content-length') ?? Number.NaN);
    if (!(length <= maxBodyLength))
      return { status: 413, body: `the request needs a Content-Length of at most ${maxBodyLength}\n` };
    if (this.#isBusy) return { status: 503, body: 'another master is joining at the moment: try again\n' };
    this.#isBusy = true;
    try {
      return await this.#answer(request, token);
    } finally {
      this.#isBusy = false;
    }
  }

  async #answer(request: JoinHttpRequest, token: string): Promise<Answer> {
    const { grant, log } = this.#options;
    const asked = readRequest(await request.text());
    if (typeof asked === 'string') return { status: 400, body: `${asked}\n` };
    log.info('a master asks to join', { master: asked.name, token });
    try {
      return { status: 200, body: JSON.stringify(await grant(asked)) };
    } catch (error) {
      const body = `${errorMessage(error)}\n`;
      if (error instanceof JoinRefusedError) return { status: 409, body };
      if (error instanceof JoinBusyError) return { status: 503, body };
      log.error('a master could not be added', { error: errorMessage(error) });
      return { status: 500, body };
    }
  }
}

function readRequest(text: string): JoinRequest | string {
  try {
    return readJoinRequest(text);
  } catch (error) {
    return errorMessage(error);
  }
}
