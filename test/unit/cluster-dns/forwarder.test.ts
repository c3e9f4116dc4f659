import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerCache } from '../../../src/cluster-dns/cache.ts';
import type { Exchange, Server } from '../../../src/cluster-dns/exchange.ts';
import { createForwarder, type Forwarder, type ForwarderLimits } from '../../../src/cluster-dns/forwarder.ts';
import {
  type DnsRecord,
  questionAbout,
  type Rcode,
  type Reply,
  type UpstreamReply,
} from '../../../src/cluster-dns/packet.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { samplesOf } from '../../fixtures/samples-of.ts';

const addressIn = Buffer.from([0, 0, 1, 0, 1]);
const asking = (name: string) => ({
  question: questionAbout(name, addressIn),
  checkingDisabled: false,
  edns: undefined,
});
const a = (ttl: number, data = '192.0.2.1'): DnsRecord => ({ type: 'A', name: 'x.example', ttl, data });
const soa = (ttl: number, minimum: number): DnsRecord => ({
  type: 'SOA',
  name: 'example',
  ttl,
  data: { mname: 'ns.example', rname: 'mail.example', minimum },
});
const reply = (rcode: Rcode, answers: DnsRecord[] = [], authorities: DnsRecord[] = []): UpstreamReply => ({
  rcode,
  authoritative: false,
  truncated: false,
  answers,
  authorities,
  additionals: [],
});

const [first, second]: readonly Server[] = [
  { address: '192.0.2.53', port: 53 },
  { address: '192.0.2.54', port: 53 },
];

/** Upstream servers: the answer of each to a question, and the servers that were asked. */
class Upstream {
  readonly asked: string[] = [];
  readonly clock = new FakeClock();
  readonly log = new RecordingLogger();
  servers: readonly (Server | undefined)[] = [first, second];
  answers: Record<string, UpstreamReply | 'silent' | 'refuses'> = {};
  readonly #exchange: Exchange = (server, _request, signal) => {
    this.asked.push(server.address);
    const answer = this.answers[server.address] ?? 'silent';
    if (answer === 'refuses') return Promise.reject(new Error('connection refused'));
    if (answer !== 'silent') return Promise.resolve(answer);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };

  forwarder(limits: Partial<ForwarderLimits> = {}): Forwarder {
    let id = 0;
    return createForwarder({
      servers: async () => this.servers.filter((server) => server !== undefined),
      exchange: this.#exchange,
      messageId: () => id++ % 65_536,
      clock: this.clock,
      log: this.log,
      limits,
    });
  }
}

describe('the forwarder', () => {
  it('queries a cached name once, until its TTL has expired', async () => {
    const upstream = new Upstream();
    upstream.answers['192.0.2.53'] = reply('NOERROR', [a(10), a(30)]);
    const forwarder = upstream.forwarder();
    await forwarder.resolve(asking('x.example'));
    await upstream.clock.advance(4_000);
    const { answers } = await forwarder.resolve(asking('X.example'));
    assert.deepEqual(
      answers.map(({ ttl }) => ttl),
      [6, 26],
    );
    assert.equal(upstream.asked.length, 1);
    await upstream.clock.advance(6_000);
    await forwarder.resolve(asking('x.example'));
    assert.equal(upstream.asked.length, 2);
  });

  it('counts its answers by server, and its cache hits', async () => {
    const upstream = new Upstream();
    upstream.answers = { '192.0.2.53': 'refuses', '192.0.2.54': reply('NOERROR', [a(60)]) };
    const forwarder = upstream.forwarder();
    await forwarder.resolve(asking('x.example'));
    await forwarder.resolve(asking('x.example'));
    upstream.answers['192.0.2.54'] = reply('NXDOMAIN', [], [soa(60, 60)]);
    await forwarder.resolve(asking('none.example'));
    const told = samplesOf(forwarder.families());
    const [first, second] = ['to="192.0.2.53:53"', 'to="192.0.2.54:53"'];
    assert.equal(told.get(`coredns_forward_requests_total{${first}}`), 1);
    assert.equal(told.get(`coredns_forward_requests_total{${second}}`), 2);
    assert.equal(told.get(`coredns_forward_responses_total{${second},rcode="NXDOMAIN"}`), 1);
    const durations = 'coredns_proxy_request_duration_seconds_count{proxy_name="forward"';
    assert.equal(told.get(`${durations},${second},rcode="NOERROR"}`), 1);
    assert.equal(told.get('coredns_cache_hits_total{type="success",zones=".",view=""}'), 1);
    assert.equal(told.get('coredns_cache_misses_total{zones=".",view=""}'), 2);
    assert.equal(told.get('coredns_cache_entries{type="success",zones=".",view=""}'), 1);
    assert.equal(told.get('coredns_cache_entries{type="denial",zones=".",view=""}'), 1);
    assert.equal(told.get('coredns_forward_max_concurrent_rejects_total'), 0);
  });

  it('sends one query for any number of clients that wait for it', async () => {
    const upstream = new Upstream();
    upstream.answers['192.0.2.53'] = reply('NOERROR', [a(0)]);
    const forwarder = upstream.forwarder();
    const all = await Promise.all(Array.from({ length: 50 }, () => forwarder.resolve(asking('x.example'))));
    assert.ok(all.every(({ answers }) => answers.length === 1));
    assert.equal(upstream.asked.length, 1);
    await forwarder.resolve(asking('x.example'));
    assert.equal(upstream.asked.length, 2, 'an answer with a TTL of 0 is not cached');
  });

  it('continues with the next server, and returns later to a server that failed', async () => {
    const upstream = new Upstream();
    upstream.answers = { '192.0.2.53': 'refuses', '192.0.2.54': reply('NOERROR', [a(0)]) };
    const forwarder = upstream.forwarder();
    assert.equal((await forwarder.resolve(asking('x.example'))).rcode, 'NOERROR');
    await forwarder.resolve(asking('x.example'));
    assert.deepEqual(upstream.asked, ['192.0.2.53', '192.0.2.54', '192.0.2.54']);
    await upstream.clock.advance(10_000);
    await forwarder.resolve(asking('x.example'));
    assert.deepEqual(upstream.asked.slice(3), ['192.0.2.53', '192.0.2.54']);
  });

  it('answers SERVFAIL before the client gives up when no server answers, and logs that once', async () => {
    const upstream = new Upstream();
    const forwarder = upstream.forwarder();
    const started = upstream.clock.now();
    let ended = 0;
    const asked = Promise.all(
      ['x.example', 'y.example'].map(async (name) => {
        const { rcode } = await forwarder.resolve(asking(name));
        ended = upstream.clock.now();
        return rcode;
      }),
    );
    await upstream.clock.advance(10_000);
    assert.deepEqual(await asked, ['SERVFAIL', 'SERVFAIL']);
    assert.ok(ended - started < 5_000, `${ended - started} ms`);
    assert.equal(upstream.log.of('warn').length, 1);
    assert.match(String(upstream.log.of('warn')[0]?.fields.servers), /192\.0\.2\.53:53, 192\.0\.2\.54:53/);
  });

  it('forwards REFUSED if all servers refuse', async () => {
    const upstream = new Upstream();
    upstream.answers = { '192.0.2.53': reply('REFUSED'), '192.0.2.54': reply('REFUSED') };
    assert.equal((await upstream.forwarder().resolve(asking('x.example'))).rcode, 'REFUSED');
  });

  it('logs that there is no upstream server', async () => {
    const upstream = new Upstream();
    upstream.servers = [];
    assert.equal((await upstream.forwarder().resolve(asking('x.example'))).rcode, 'SERVFAIL');
    assert.match(upstream.log.of('warn')[0]?.message ?? '', /--dns-upstream/);
  });

  it('keeps at most its limit of queries in flight', async () => {
    const upstream = new Upstream();
    const forwarder = upstream.forwarder({ inFlight: 2, waiting: 4 });
    const names = ['a', 'b', 'c', 'a', 'b', 'a'];
    const asked = names.map((name) => forwarder.resolve(asking(`${name}.example`)));
    await upstream.clock.settle();
    assert.equal(upstream.asked.length, 2);
    assert.equal((await asked[2])?.rcode, 'SERVFAIL');
    assert.equal((await asked[5])?.rcode, 'SERVFAIL');
    await upstream.clock.advance(5_000);
    await Promise.all(asked);
    upstream.answers['192.0.2.53'] = reply('NOERROR', [a(1)]);
    assert.equal((await forwarder.resolve(asking('c.example'))).rcode, 'NOERROR');
  });
});

describe('the cache', () => {
  const limits = { entries: 3, bytes: 1000 };
  const kept = (answer: Reply) => {
    const clock = new FakeClock();
    const cache = new AnswerCache(clock, limits);
    cache.set('x', answer);
    return { clock, cache };
  };
  for (const [what, answer, seconds] of [
    ['an answer for the shortest TTL of its records', reply('NOERROR', [a(30), a(10)]), 10],
    ['no answer for longer than an hour', reply('NOERROR', [a(1_000_000)]), 3600],
    ['NXDOMAIN for the time that its zone gives', reply('NXDOMAIN', [], [soa(60, 20)]), 20],
    ['an empty answer no longer than the TTL of the SOA', reply('NOERROR', [], [soa(15, 20)]), 15],
    ['no denial for longer than five minutes', reply('NXDOMAIN', [], [soa(86_400, 86_400)]), 300],
    ['no denial without SOA', reply('NXDOMAIN'), 0],
    ['no failure', reply('SERVFAIL', [a(60)]), 0],
    ['nothing with a TTL of 0', reply('NOERROR', [a(0), a(60)]), 0],
  ] as const) {
    it(`keeps ${what}`, async () => {
      const { clock, cache } = kept(answer);
      if (seconds === 0) return assert.equal(cache.get('x'), undefined);
      await clock.advance(seconds * 1000 - 1);
      assert.equal(cache.get('x')?.rcode, answer.rcode);
      await clock.advance(1);
      assert.equal(cache.get('x'), undefined);
      assert.equal(cache.size, 0);
    });
  }

  it('drops the least recently used answer when it is full', () => {
    const cache = new AnswerCache(new FakeClock(), limits);
    for (const key of ['a', 'b', 'c']) cache.set(key, reply('NOERROR', [a(60)]));
    cache.get('a');
    cache.set('d', reply('NOERROR', [a(60)]));
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].filter((key) => cache.get(key)),
      ['a', 'c', 'd'],
    );
  });

  it('keeps at most its limit of bytes', () => {
    const cache = new AnswerCache(new FakeClock(), { entries: 100, bytes: 1000 });
    const long = (size: number) =>
      reply('NOERROR', [{ type: 'TXT', name: 'x', ttl: 60, data: Buffer.alloc(size) }]);
    for (let n = 0; n < 50; n++) cache.set(`${n}`, long(200));
    assert.equal(cache.size, 4);
    cache.set(
      'big',
      reply(
        'NOERROR',
        Array.from({ length: 50 }, () => a(60)),
      ),
    );
    assert.equal(cache.get('big'), undefined);
    assert.equal(cache.size, 4);
  });
});
