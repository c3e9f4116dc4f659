import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode, encode } from 'dns-packet';
import { createClusterZone } from '../../../src/cluster-dns/cluster-zone.ts';
import { DnsCounts } from '../../../src/cluster-dns/dns-counts.ts';
import type { Forwarder } from '../../../src/cluster-dns/forwarder.ts';
import type { Reply } from '../../../src/cluster-dns/packet.ts';
import { createResponder } from '../../../src/cluster-dns/responder.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { samplesOf } from '../../fixtures/samples-of.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { makeShop } from './objects.ts';

const forwarded: Reply = {
  rcode: 'NOERROR',
  authoritative: false,
  answers: [{ type: 'A', name: 'www.example', ttl: 60, data: '192.0.2.80' }],
  authorities: [],
  additionals: [],
};

function responderOf({ complete = true, answer = forwarded } = {}, counts = new DnsCounts(new FakeClock())) {
  const zone = createClusterZone({
    informers: makeShop(),
    domain: 'cluster.local',
    nameServer: '10.96.0.10',
    networks: [],
    hostAddresses: () => undefined,
  });
  const forwarder: Pick<Forwarder, 'resolve'> = { resolve: async () => answer };
  const random = new SeededRandom(3);
  const partly = Object.defineProperty(zone, 'complete', { get: () => complete });
  return createResponder({
    zone: partly,
    forwarder,
    random: () => random.next(),
    clock: new FakeClock(),
    counts,
  });
}

const question = (name: string) =>
  encode({ type: 'query', id: 1, flags: 256, questions: [{ name, type: 'A' }] });

async function ask(respond: ReturnType<typeof responderOf>, name: string) {
  const bytes = await respond(question(name), 'udp', '10.96.0.10');
  assert(bytes);
  const { rcode, flag_aa, answers = [] } = decode(bytes) as ReturnType<typeof decode> & { rcode: string };
  return { rcode, flag_aa, addresses: answers.map((record) => 'data' in record && record.data) };
}

describe('the responder', () => {
  const db = 'db.shop.svc.cluster.local';
  it('rotates the addresses of an answer', async () => {
    const respond = responderOf();
    const firsts = new Set();
    for (let n = 0; n < 50; n++) {
      const { addresses, flag_aa } = await ask(respond, db);
      assert.deepEqual(addresses.toSorted(), ['10.244.0.5', '10.244.0.6', '10.244.0.7']);
      assert.equal(flag_aa, true);
      firsts.add(addresses[0]);
    }
    assert.equal(firsts.size, 3);
  });

  it('does not answer NXDOMAIN before all names are loaded', async () => {
    const respond = responderOf({ complete: false });
    for (const name of [db, 'none.shop.svc.cluster.local', 'cluster.local']) {
      assert.equal((await ask(respond, name)).rcode, 'SERVFAIL', name);
    }
    assert.deepEqual((await ask(respond, 'www.example')).addresses, ['192.0.2.80']);
  });

  it('completes the answer for an alias of an outside name', async () => {
    const { addresses, flag_aa } = await ask(responderOf(), 'away.shop.svc.cluster.local');
    assert.deepEqual(addresses, ['www.example', '192.0.2.80']);
    assert.equal(flag_aa, false);
  });

  it('answers SERVFAIL for a record that cannot be encoded', async () => {
    const answer = { ...forwarded, answers: [{ type: 'TXT', name: 'x', ttl: 1, data: [1] } as never] };
    assert.equal((await ask(responderOf({ answer }), 'www.example')).rcode, 'SERVFAIL');
  });
});

describe('the counters of queries', () => {
  const from = 'server="dns://10.96.0.10:53",zone=".",view=""';

  it('count by type, protocol and answer', async () => {
    const counts = new DnsCounts(new FakeClock());
    const respond = responderOf({}, counts);
    await ask(respond, 'db.shop.svc.cluster.local');
    await ask(respond, 'www.example');
    await ask(respond, 'none.shop.svc.cluster.local');
    const strange = { type: 'query', id: 1, flags: 256, questions: [{ name: 'a', type: 'UNKNOWN_4711' }] };
    const bytes = encode(strange as never);
    await respond(bytes, 'tcp', '10.96.0.10');
    const twoQuestions = question('a');
    twoQuestions.writeUInt16BE(2, 4);
    await respond(twoQuestions, 'tcp', '10.96.0.10');
    const told = samplesOf(counts.families());
    const requests = (more: string) => told.get(`coredns_dns_requests_total{${from},${more}}`);
    assert.equal(requests('proto="udp",family="1",type="A"'), 3);
    assert.equal(requests('proto="tcp",family="1",type="other"'), 2);
    const responses = (more: string) => told.get(`coredns_dns_responses_total{${from},${more}}`);
    assert.equal(responses('proto="udp",rcode="NOERROR"'), 2);
    assert.equal(responses('proto="udp",rcode="NXDOMAIN"'), 1);
    assert.equal(responses('proto="tcp",rcode="FORMERR"'), 1);
    assert.equal(told.get(`coredns_dns_request_duration_seconds_count{${from},proto="udp"}`), 3);
    assert.equal(
      told.get(`coredns_dns_request_size_bytes_sum{${from},proto="tcp"}`),
      bytes.length + twoQuestions.length,
    );
  });
});
