/** How often something may be done, by key: a burst at once, then one in a while. */
import { BoundedMap } from './bounded-map.ts';

export interface TokenBucketLimits {
  /** What a bucket holds, and begins with. */
  readonly burst: number;
  /** Milliseconds in which a bucket gains one token. */
  readonly refillMs: number;
  /** How many keys are remembered; one that is forgotten begins anew. */
  readonly keys: number;
}

interface Bucket {
  readonly tokens: number;
  readonly filledAt: number;
}

export class TokenBuckets {
  readonly #limits: TokenBucketLimits;
  readonly #buckets: BoundedMap<Bucket>;

  constructor(limits: TokenBucketLimits) {
    this.#limits = limits;
    this.#buckets = new BoundedMap(limits.keys);
  }

  /** Takes a token, `now` in milliseconds. Milliseconds until there is one when there was none; 0 when it was had. */
  take(key: string, now: number): number {
    const { burst, refillMs } = this.#limits;
    const bucket = this.#buckets.get(key) ?? { tokens: burst, filledAt: now };
    const gained = Math.max(0, now - bucket.filledAt) / refillMs;
    const tokens = Math.min(burst, bucket.tokens + gained);
    const had = tokens >= 1;
    this.#buckets.set(key, { tokens: had ? tokens - 1 : tokens, filledAt: now });
    return had ? 0 : (1 - tokens) * refillMs;
  }
}
