/**
 * Metrics of cluster DNS under CoreDNS' names: queries, answers and durations. Counting a query costs a few
 * accesses to small maps; all labels are made when the metrics are read.
 */
import type { Clock } from '../base/clock.ts';
import {
  exponentialBounds,
  type Family,
  Histogram,
  type Labels,
  type Sample,
} from '../base/metrics/exposition.ts';
import { counter, histogram } from '../base/metrics/metric-family.ts';
import type { Rcode } from './packet.ts';

export type DnsProtocol = 'udp' | 'tcp';

export interface Answered {
  /** The address of this server that received the query. */
  readonly address: string;
  readonly protocol: DnsProtocol;
  /** Type such as `A`; undefined for a query that could not be parsed. */
  readonly type: string | undefined;
  readonly dnssec: boolean;
  readonly rcode: Rcode;
  /** Sizes of the messages. */
  readonly askedBytes: number;
  readonly answeredBytes: number;
  /** Time of the query by the monotonic clock, in milliseconds. */
  readonly since: number;
}

/** Bounds in seconds and bytes, the same as CoreDNS'. */
const timeBounds = exponentialBounds(0.000_25, 2, 16);
const sizeBounds = [
  0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000,
] as const;

/** Types with a label of their own; all others share one, because clients can query thousands of types. */
const countedTypes: ReadonlySet<string> = new Set([
  ...[
    'A',
    'AAAA',
    'CNAME',
    'DNSKEY',
    'DS',
    'HTTPS',
    'MX',
    'NS',
    'NSEC',
    'NSEC3',
    'PTR',
    'RRSIG',
    'SOA',
    'SRV',
  ],
  ...['SVCB', 'TXT', 'ANY'],
]);

/** Counts of one address and protocol. */
interface Asked {
  readonly types: Map<string, number>;
  readonly rcodes: Map<string, number>;
  dnssec: number;
  readonly durations: Histogram;
  readonly askedBytes: Histogram;
  readonly answeredBytes: Histogram;
}

export class DnsCounts {
  readonly #clock: Clock;
  readonly #byAddress = new Map<string, Map<DnsProtocol, Asked>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  answered({
    address,
    protocol,
    type = '',
    dnssec,
    rcode,
    askedBytes,
    answeredBytes,
    since,
  }: Answered): void {
    const asked = this.#byAddress
      .getOrInsertComputed(address, () => new Map())
      .getOrInsertComputed(protocol, newAsked);
    const counted = countedTypes.has(type) ? type : 'other';
    asked.types.set(counted, (asked.types.get(counted) ?? 0) + 1);
    asked.rcodes.set(rcode, (asked.rcodes.get(rcode) ?? 0) + 1);
    if (dnssec) asked.dnssec++;
    asked.durations.observe((this.#clock.monotonic() - since) / 1000);
    asked.askedBytes.observe(askedBytes);
    asked.answeredBytes.observe(answeredBytes);
  }

  families(): readonly Family[] {
    const each = (sample: (asked: Asked, labels: Labels, proto: DnsProtocol) => readonly Sample[]) =>
      [...this.#byAddress].flatMap(([address, byProtocol]) => {
        const labels = { server: `dns://${address}:53`, zone: '.', view: '' };
        return [...byProtocol].flatMap(([proto, asked]) => sample(asked, labels, proto));
      });
    const counted = (counts: ReadonlyMap<string, number>, labelsOf: (name: string) => Labels) =>
      [...counts].map(([name, value]) => ({ labels: labelsOf(name), value }));
    return [
      counter(
        'coredns_dns_requests_total',
        'Questions that were answered, by address, protocol and type.',
        // All addresses of this server are IPv4: family 1.
        each(({ types }, { server = '', zone = '', view = '' }, proto) =>
          counted(types, (type) => ({ server, zone, view, proto, family: '1', type })),
        ),
      ),
      counter(
        'coredns_dns_do_requests_total',
        'Questions that ask for the records of DNSSEC.',
        each(({ dnssec }, labels, proto) =>
          dnssec > 0 ? [{ labels: { ...labels, proto }, value: dnssec }] : [],
        ),
      ),
      histogram(
        'coredns_dns_request_duration_seconds',
        'Seconds from a question to its answer.',
        each(({ durations }, labels, proto) => durations.samples({ ...labels, proto })),
      ),
      histogram(
        'coredns_dns_request_size_bytes',
        'Size of questions in bytes.',
        each(({ askedBytes }, labels, proto) => askedBytes.samples({ ...labels, proto })),
      ),
      histogram(
        'coredns_dns_response_size_bytes',
        'Size of answers in bytes.',
        each(({ answeredBytes }, labels, proto) => answeredBytes.samples({ ...labels, proto })),
      ),
      counter(
        'coredns_dns_responses_total',
        'Answers by their code.',
        each(({ rcodes }, labels, proto) => counted(rcodes, (rcode) => ({ ...labels, proto, rcode }))),
      ),
    ];
  }
}

const newAsked = (): Asked => ({
  types: new Map(),
  rcodes: new Map(),
  dnssec: 0,
  durations: new Histogram(timeBounds),
  askedBytes: new Histogram(sizeBounds),
  answeredBytes: new Histogram(sizeBounds),
});
