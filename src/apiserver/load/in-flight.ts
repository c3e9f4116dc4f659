/**
 * Limits the number of concurrent requests. Requests are counted by sort, so that one sort cannot starve
 * another, and by user, so that one user cannot starve the others (compare --max-requests-inflight of
 * kube-apiserver and its API priority and fairness). Requests are not queued: a request over the limit is
 * rejected and must be retried.
 */
export type Sort =
  /** Heartbeats of nodes. */
  | 'heartbeat'
  /** Other requests of nodes, except watches and streams. */
  | 'node request'
  /** Requests of all other users, except watches and streams. */
  | 'request'
  | 'node watch'
  | 'watch'
  /** exec, attach, port-forward, followed logs, proxy. */
  | 'stream'
  /** Calls of functions, including calls that wait for an instance. */
  | 'call'
  /** Requests that wait for a program of a user, such as a webhook, and are counted here meanwhile. */
  | 'aside';

export interface Limit {
  readonly all: number;
  readonly user: number;
}

export type InFlightLimits = Readonly<Record<Sort, Limit>>;

export interface MainLimits {
  /**
   * Maximum number of requests that end by themselves. The maximum applies to all nodes together, and
   * separately to all other users together.
   */
  readonly requests: number;
  /** Maximum number of watches of one user. */
  readonly watches: number;
}

/**
 * Defaults for one machine with 1,000 nodes. Each node has eight watches and the watches of its pods' needs
 * (docs/scale.md).
 */
export const defaultLimits: MainLimits = { requests: 400, watches: 1000 };

/** A node watches each ConfigMap and each Secret of its pods separately: some for each of 110 pods. */
export const nodeWatches = 2000;

/**
 * Returns the limit of each sort. A node makes a handful of requests at a time. One user may take a third of
 * all requests, so that a user and the ServiceAccounts of a namespace together leave room for others.
 */
export const inFlightLimits = ({ requests, watches }: MainLimits): InFlightLimits => ({
  heartbeat: { all: Number.POSITIVE_INFINITY, user: 4 },
  'node request': { all: requests, user: 20 },
  request: { all: requests, user: Math.ceil(requests / 3) },
  'node watch': { all: Number.POSITIVE_INFINITY, user: nodeWatches },
  watch: { all: watches * 4, user: watches },
  stream: { all: 1000, user: 400 },
  call: { all: 4000, user: 2000 },
  aside: { all: requests * 2, user: requests },
});

/** The limit that a request exceeded: `user` for the limit of one user. */
export type Refusal = { readonly whose: 'all' | 'user'; readonly limit: number };

interface Count {
  all: number;
  readonly users: Map<string, number>;
}

export class InFlight {
  readonly #limits: InFlightLimits;
  readonly #counts = new Map<Sort, Count>();

  readonly #onRefused: (sort: Sort) => void;

  /** `onRefused` is called for each request over a limit. */
  constructor(limits: InFlightLimits, onRefused: (sort: Sort) => void = () => undefined) {
    this.#limits = limits;
    this.#onRefused = onRefused;
  }

  /**
   * Counts the request. Returns a function that ends it and must be called once, or the limit that is
   * exceeded.
   */
  enter(sort: Sort, user: string): (() => void) | Refusal {
    const limit = this.#limits[sort];
    const count = this.#countOf(sort);
    const own = count.users.get(user) ?? 0;
    if (own >= limit.user || count.all >= limit.all) {
      this.#onRefused(sort);
      return own >= limit.user ? { whose: 'user', limit: limit.user } : { whose: 'all', limit: limit.all };
    }
    return this.enterAgain(sort, user);
  }

  /** Counts a request that was admitted before, regardless of the limits. Returns a function that ends it. */
  enterAgain(sort: Sort, user: string): () => void {
    const count = this.#countOf(sort);
    count.all++;
    count.users.set(user, (count.users.get(user) ?? 0) + 1);
    return () => {
      count.all--;
      const left = (count.users.get(user) ?? 0) - 1;
      if (left > 0) count.users.set(user, left);
      else count.users.delete(user);
    };
  }

  #countOf(sort: Sort): Count {
    const known = this.#counts.get(sort);
    if (known) return known;
    const count: Count = { all: 0, users: new Map() };
    this.#counts.set(sort, count);
    return count;
  }
}
