/** Rate limits by key: a burst at once, then one operation per interval. */
import { BoundedMap } from './bounded-map.ts';

export interface TokenBucketLimits {
  /** Capacity of a bucket, and its initial number of tokens. */
  readonly burst: number;
  /** Milliseconds in which a bucket gains one token. */
  readonly refillMs: number;
  /** Maximum number of keys; a key that was dropped begins with a full bucket. */
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

  /**
   * Takes a token; `now` is in milliseconds. Returns 0 on success, otherwise the milliseconds until the next
   * token.
   */
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
