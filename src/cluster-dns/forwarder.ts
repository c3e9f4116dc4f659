/**
 * Forwards queries for names outside the cluster to the servers of this machine. Equal queries of several
 * clients are sent once, and answers are cached. Work in progress is bounded: beyond that a client gets
 * SERVFAIL at once, and can retry or query another server.
 */
import type { Clock } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Family } from '../base/metrics/exposition.ts';
import { AnswerCache, type CacheLimits } from './cache.ts';
import type { Exchange, Request, Server } from './exchange.ts';
import { ForwardCounts } from './forward-counts.ts';
import { type Query, type Reply, type UpstreamReply, writeQuestion } from './packet.ts';

export interface ForwarderOptions {
  /** Returns the servers in the order of their use; called for every query that is not cached. */
  readonly servers: () => Promise<readonly Server[]>;
  readonly exchange: Exchange;
  /**
   * Returns a message id, uniform in [0, 65535] and unpredictable: an attacker who guesses it can forge
   * answers.
   */
  readonly messageId: () => number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits?: Partial<ForwarderLimits>;
}

export interface ForwarderLimits {
  readonly cache: CacheLimits;
  /** Maximum number of different queries in progress. */
  readonly inFlight: number;
  /** Maximum number of clients that wait for them. */
  readonly waiting: number;
}

/** The parts of a client's query that are forwarded. */
export type Forwarded = Pick<Query, 'question' | 'checkingDisabled' | 'edns'>;

export interface Forwarder {
  /** Resolves with the answer. Never rejects: a failure is the reply SERVFAIL. */
  resolve(asked: Forwarded): Promise<Reply>;
  /** Returns the metrics. */
  families(): readonly Family[];
}

const defaultLimits: ForwarderLimits = {
  cache: { entries: 10_000, bytes: 8 * 1024 * 1024 },
  inFlight: 256,
  waiting: 2048,
};

/**
 * Timeout of one attempt. Resolvers of C libraries query again after 5 s and should have an answer before
 * that.
 */
const attemptMs = 1_500;
const rounds = 2;
const deadlineMs = 4_500;
/** Time during which a failed server is used only after the others. */
const avoidMs = 10_000;
const warnMs = 60_000;

const failure: Reply = {
  rcode: 'SERVFAIL',
  authoritative: false,
  answers: [],
  authorities: [],
  additionals: [],
};

export function createForwarder(options: ForwarderOptions): Forwarder {
  return new UpstreamForwarder(options);
}

class UpstreamForwarder implements Forwarder {
  readonly #options: ForwarderOptions;
  readonly #limits: ForwarderLimits;
  readonly #cache: AnswerCache;
  readonly #counts = new ForwardCounts();
  readonly #inFlight = new Map<string, Promise<Reply>>();
  readonly #failedAt = new Map<string, number>();
  #waiting = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#cache = new AnswerCache(options.clock, this.#limits.cache);
  }

  async resolve(asked: Forwarded): Promise<Reply> {
    const key = keyOf(asked);
    const kept = this.#cache.get(key);
    if (kept) return kept;
    const present = this.#inFlight.get(key);
    const { waiting, inFlight } = this.#limits;
    if (this.#waiting >= waiting || (!present && this.#inFlight.size >= inFlight)) {
      this.#counts.rejected();
      this.#warn('too many DNS queries wait for the upstream name servers; refusing more', {});
      return failure;
    }
    this.#waiting++;
    try {
      return await (present ?? this.#start(key, asked));
    } finally {
      this.#waiting--;
    }
  }

  families(): readonly Family[] {
    return [...this.#cache.families(), ...this.#counts.families()];
  }

  #start(key: string, asked: Forwarded): Promise<Reply> {
    const asking = this.#ask(asked)
      .catch((error) => {
        this.#warn('a DNS query could not be forwarded', { error: errorMessage(error) });
        return failure;
      })
      .then((reply) => {
        this.#cache.set(key, reply);
        return reply;
      })
      .finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, asking);
    return asking;
  }

  /** Queries the servers in turns until one has an answer, or the time is over. */
  async #ask(asked: Forwarded): Promise<Reply> {
    const { servers, messageId, clock } = this.#options;
    const all = await servers();
    if (all.length === 0) {
      this.#warn(
        'names outside the cluster do not resolve: this machine has no name server; give --dns-upstream',
        {},
      );
      return failure;
    }
    const deadline = clock.now() + deadlineMs;
    let last: unknown;
    let refusal: Reply | undefined;
    for (const server of this.#turnsOf(all)) {
      const leftMs = deadline - clock.now();
      if (leftMs <= 0) break;
      const id = messageId();
      try {
        const message = writeQuestion(id, asked);
        const reply = await this.#attempt(server, { id, message, question: asked.question }, leftMs);
        if (reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN') {
          this.#failedAt.delete(serverName(server));
          return reply;
        }
        refusal = reply;
        last = `it answered ${reply.rcode}`;
      } catch (error) {
        last = errorMessage(error);
        this.#failedAt.set(serverName(server), clock.now());
      }
    }
    this.#warn('no upstream name server answers', {
      servers: all.map(serverName).join(', '),
      error: last,
    });
    return refusal ?? failure;
  }

  /** Returns the servers of all rounds; those that failed lately come last in each. */
  #turnsOf(servers: readonly Server[]): readonly Server[] {
    const failedLately = (server: Server) => this.#failedLately(server);
    const turns = [...servers.filter((one) => !failedLately(one)), ...servers.filter(failedLately)];
    return Array.from({ length: rounds }, () => turns).flat();
  }

  #failedLately(server: Server): boolean {
    const at = this.#failedAt.get(serverName(server));
    return at !== undefined && this.#options.clock.now() - at < avoidMs;
  }

  async #attempt(server: Server, request: Request, leftMs: number): Promise<UpstreamReply> {
    const { exchange, clock } = this.#options;
    const limit = new AbortController();
    const timer = clock.after(Math.min(attemptMs, leftMs), () => limit.abort(new Error('no answer in time')));
    const since = clock.monotonic();
    this.#counts.asked(serverName(server));
    try {
      const reply = await exchange(server, request, limit.signal);
      this.#counts.answered(serverName(server), reply.rcode, (clock.monotonic() - since) / 1000);
      return reply;
    } finally {
      timer.cancel();
    }
  }

  /**
   * Logs a problem, at most once per interval: a name that does not resolve may be queried a thousand times a
   * second.
   */
  #warn(message: string, fields: Record<string, unknown>): void {
    const { clock, log } = this.#options;
    if (clock.now() - this.#warnedAt < warnMs) return;
    this.#warnedAt = clock.now();
    log.warn(message, fields);
  }
}

const serverName = ({ address, port }: Server) => `${address}:${port}`;

/** Returns the cache key; names are compared without case. */
const keyOf = ({ question, checkingDisabled, edns }: Forwarded) =>
  `${checkingDisabled ? 'c' : ''}${edns?.dnssec ? 'd' : ''} ${question.toString('latin1').toLowerCase()}`;
