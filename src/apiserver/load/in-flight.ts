/**
 * How many requests are answered at once. They are counted by what they are, so that one sort cannot keep out another,
 * and by user, so that one user cannot keep out the others (compare --max-requests-inflight of kube-apiserver and
 * its API priority and fairness). Nothing waits in line here: who finds no place is told to come back.
 */
export type Sort =
  /** Heartbeats of nodes. */
  | 'heartbeat'
  /** Other requests of nodes, but for watches and streams. */
  | 'node request'
  /** The same for all other users. */
  | 'request'
  | 'node watch'
  | 'watch'
  /** exec, attach, port-forward, logs that are followed, proxy. */
  | 'stream'
  /** Calls of functions, also those that wait for an instance. */
  | 'call';

export interface Limit {
  readonly all: number;
  readonly user: number;
}

export type InFlightLimits = Readonly<Record<Sort, Limit>>;

export interface MainLimits {
  /** Requests that end by themselves: of all users who are no nodes, and of all nodes. */
  readonly requests: number;
  /** Watches of one user. */
  readonly watches: number;
}

/** For one machine with 1,000 nodes, of which each has seven watches and those of what its pods need (docs/scale.md). */
export const defaultLimits: MainLimits = { requests: 400, watches: 1000 };

/** A node watches each ConfigMap and each Secret of its pods by itself: some for each of 110 pods. */
export const nodeWatches = 2000;

/** A node makes a handful of requests at a time; a user's programs may take half of what there is. */
export const inFlightLimits = ({ requests, watches }: MainLimits): InFlightLimits => ({
  heartbeat: { all: Number.POSITIVE_INFINITY, user: 4 },
  'node request': { all: requests, user: 20 },
  request: { all: requests, user: Math.ceil(requests / 2) },
  'node watch': { all: Number.POSITIVE_INFINITY, user: nodeWatches },
  watch: { all: watches * 4, user: watches },
  stream: { all: 1000, user: 500 },
  call: { all: 4000, user: 2000 },
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

  /** `onRefused` is told of each request that finds no place. */
  constructor(limits: InFlightLimits, onRefused: (sort: Sort) => void = () => undefined) {
    this.#limits = limits;
    this.#onRefused = onRefused;
  }

  /** Counts the request and returns a function that ends it, to be called once; or says which limit is exceeded. */
  enter(sort: Sort, user: string): (() => void) | Refusal {
    const limit = this.#limits[sort];
    const count = this.#countOf(sort);
    const own = count.users.get(user) ?? 0;
    if (own >= limit.user || count.all >= limit.all) {
      this.#onRefused(sort);
      return own >= limit.user ? { whose: 'user', limit: limit.user } : { whose: 'all', limit: limit.all };
    }
    count.all++;
    count.users.set(user, own + 1);
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
