/**
 * Cache of other servers' answers, for their TTLs (RFC 2308 for negative ones), with a maximum of entries and
 * of bytes.
 */
import type { Clock } from '../base/clock.ts';
import type { Family } from '../base/metrics/exposition.ts';
import { counter, gauge } from '../base/metrics/metric-family.ts';
import { type DnsRecord, type Reply, recordSize } from './packet.ts';

export interface CacheLimits {
  readonly entries: number;
  /** The size of all records, in bytes on the wire. */
  readonly bytes: number;
}

/** Kinds of answers, as in CoreDNS: with records, or without any. */
type Kind = 'success' | 'denial';

interface Entry {
  readonly kind: Kind;
  readonly reply: Reply;
  readonly storedAt: number;
  readonly until: number;
  readonly bytes: number;
}

/** Maximum TTLs in seconds; longer ones are reduced, as resolvers do. */
const maxTtl = 3600;
const maxNegativeTtl = 300;

export class AnswerCache {
  readonly #clock: Clock;
  readonly #limits: CacheLimits;
  /** Ordered with the least recently used entry first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  readonly #hits = { success: 0, denial: 0 };
  readonly #evictions = { success: 0, denial: 0 };
  #misses = 0;

  constructor(clock: Clock, limits: CacheLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the cached answer with its remaining TTLs; undefined when there is none or it has expired. */
  get(key: string): Reply | undefined {
    const entry = this.#find(key);
    if (!entry) {
      this.#misses++;
      return undefined;
    }
    this.#hits[entry.kind]++;
    return aged(entry.reply, Math.floor((this.#clock.now() - entry.storedAt) / 1000));
  }

  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const now = this.#clock.now();
    this.#remove(key, entry);
    // A clock that was set back must not extend the life of an answer.
    if (now >= entry.until || now < entry.storedAt) return undefined;
    this.#add(key, entry);
    return entry;
  }

  /** Stores an answer; one without a TTL, such as a failure, is not stored. */
  set(key: string, reply: Reply): void {
    const old = this.#entries.get(key);
    if (old) this.#remove(key, old);
    const seconds = timeToLive(reply);
    const bytes = [...reply.answers, ...reply.authorities].reduce(
      (sum, one) => sum + recordSize(one),
      key.length,
    );
    if (seconds <= 0 || bytes > this.#limits.bytes) return;
    const storedAt = this.#clock.now();
    const kind = reply.rcode === 'NOERROR' && reply.answers.length > 0 ? 'success' : 'denial';
    this.#add(key, { kind, reply, storedAt, until: storedAt + seconds * 1000, bytes });
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= this.#limits.entries && this.#bytes <= this.#limits.bytes) break;
      this.#remove(oldest, entry);
      this.#evictions[entry.kind]++;
    }
  }

  /** Returns the metrics, under the names of CoreDNS' cache plugin. */
  families(): readonly Family[] {
    const of = (counts: Readonly<Record<Kind, number>>) =>
      Object.entries(counts).map(([type, value]) => ({ labels: { type, zones: '.', view: '' }, value }));
    const entries = { success: 0, denial: 0 };
    for (const { kind } of this.#entries.values()) entries[kind]++;
    const { success, denial } = this.#hits;
    const whole = (value: number) => [{ labels: { zones: '.', view: '' }, value }];
    return [
      gauge('coredns_cache_entries', 'Answers of other servers that are kept.', of(entries)),
      counter(
        'coredns_cache_requests_total',
        'Questions for which the cache was searched.',
        whole(success + denial + this.#misses),
      ),
      counter('coredns_cache_hits_total', 'Questions that the cache answered.', of(this.#hits)),
      counter(
        'coredns_cache_misses_total',
        'Questions that the cache could not answer.',
        whole(this.#misses),
      ),
      counter(
        'coredns_cache_evictions_total',
        'Answers that were removed to make room for others.',
        of(this.#evictions),
      ),
    ];
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

/** Returns the TTL in seconds. */
function timeToLive({ rcode, answers, authorities }: Reply): number {
  if (rcode !== 'NOERROR' && rcode !== 'NXDOMAIN') return 0;
  if (rcode === 'NOERROR' && answers.length > 0) {
    return Math.min(maxTtl, ...answers.map(({ ttl = 0 }) => ttl));
  }
  const soa = authorities.find((record) => record.type === 'SOA');
  if (!soa) return 0;
  const ttls = [...answers, soa].map(({ ttl = 0 }) => ttl);
  return Math.min(maxNegativeTtl, soa.data.minimum ?? 0, ...ttls);
}

function aged(reply: Reply, seconds: number): Reply {
  if (seconds === 0) return reply;
  const older = (record: DnsRecord): DnsRecord => ({
    ...record,
    ttl: Math.max(0, (record.ttl ?? 0) - seconds),
  });
  return { ...reply, answers: reply.answers.map(older), authorities: reply.authorities.map(older) };
}
