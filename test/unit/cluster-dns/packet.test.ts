import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode, encode, type Packet } from 'dns-packet';
import {
  type DnsRecord,
  datagramLimit,
  type Query,
  questionAbout,
  type Reply,
  readQuery,
  readReply,
  streamLimit,
  writeQuestion,
  writeRefusal,
  writeReply,
} from '../../../src/cluster-dns/packet.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const recursionDesired = 256;

const message = (more: Packet = {}) =>
  encode({
    type: 'query',
    id: 4711,
    flags: recursionDesired,
    questions: [{ name: 'Web.Example', type: 'A' }],
    ...more,
  });

const opt = (udpPayloadSize: number, ednsVersion = 0): Packet => ({
  additionals: [
    {
      type: 'OPT',
      name: '.',
      udpPayloadSize,
      ednsVersion,
      extendedRcode: 0,
      flags: 0,
      flag_do: false,
      options: [],
    },
  ],
});

function query(more: Packet = {}): Query {
  const reading = readQuery(message(more));
  assert(reading && !('refusal' in reading));
  return reading.query;
}

const addresses = (count: number, name = 'Web.Example'): DnsRecord[] =>
  Array.from({ length: count }, (_, n) => ({ type: 'A', name, ttl: 5, data: `192.0.2.${n}` }));

const reply = (more: Partial<Reply> = {}): Reply => ({
  rcode: 'NOERROR',
  authoritative: true,
  answers: [],
  authorities: [],
  additionals: [],
  ...more,
});

describe('a question', () => {
  it('is read with its name in the original case', () => {
    const { id, name, type, recursionDesired, edns } = query();
    assert.deepEqual([id, name, type, recursionDesired, edns], [4711, 'Web.Example', 'A', true, undefined]);
    assert.deepEqual(query(opt(4096)).edns, { payload: 4096, dnssec: false });
  });

  const changed = (change: (bytes: Buffer) => void, more?: Packet) => {
    const bytes = Buffer.from(message(more));
    change(bytes);
    return bytes;
  };
  for (const [what, bytes, rcode] of [
    ['is an answer', changed((b) => b.writeUInt8(0x81, 2)), undefined],
    ['is shorter than a header', message().subarray(0, 11), undefined],
    ['has opcode 2', changed((b) => b.writeUInt8(0x11, 2)), 'NOTIMP'],
    ['has no question', message({ questions: [] }), 'FORMERR'],
    [
      'has two questions',
      message({
        questions: [
          { name: 'a', type: 'A' },
          { name: 'b', type: 'A' },
        ],
      }),
      'FORMERR',
    ],
    ['has a count above its number of questions', changed((b) => b.writeUInt16BE(9, 10)), 'FORMERR'],
    ['ends within its name', message().subarray(0, 16), 'FORMERR'],
    ['has a name that is a pointer', changed((b) => b.writeUInt16BE(0xc00c, 12)), 'FORMERR'],
    [
      'is of class CHAOS',
      message({ questions: [{ name: 'version.bind', type: 'TXT', class: 'CH' }] }),
      'REFUSED',
    ],
    ['has another version of EDNS', message(opt(1232, 1)), 'BADVERS'],
    [
      'has two EDNS records',
      message({ additionals: [...(opt(1).additionals ?? []), ...(opt(1).additionals ?? [])] }),
      'FORMERR',
    ],
  ] as const) {
    it(`that ${what} gets ${rcode ?? 'no answer'}`, () => {
      const reading = readQuery(bytes);
      if (rcode === undefined) return assert.equal(reading, undefined);
      assert(reading && 'refusal' in reading);
      assert.equal(reading.refusal, rcode);
      const answer = decode(writeRefusal(reading));
      assert.equal(answer.id, 4711);
      assert.equal(answer.flag_qr, true);
    });
  }
});

describe('an answer', () => {
  it('repeats the question’s name in two bytes', () => {
    const bytes = writeReply(query(), reply({ answers: addresses(2) }), 512);
    assert.equal(bytes.length, 12 + 17 + 2 * 16);
    const { answers, questions, flag_aa, flag_ra, flag_rd, flag_tc } = decode(bytes);
    assert.deepEqual(
      answers?.map((record) => 'data' in record && `${record.name} ${record.data}`),
      ['Web.Example 192.0.2.0', 'Web.Example 192.0.2.1'],
    );
    assert.deepEqual(
      questions?.map(({ name }) => name),
      ['Web.Example'],
    );
    assert.deepEqual([flag_aa, flag_ra, flag_rd, flag_tc], [true, true, true, false]);
  });

  it('contains the records that fit, and is marked as truncated if some do not', () => {
    const big = reply({ answers: addresses(200), additionals: addresses(3) });
    for (const [more, limit] of [
      [{}, 512],
      [opt(100), 512],
      [opt(1000), 1000],
      [opt(65_000), 1232],
    ] as const) {
      const asked = query(more);
      assert.equal(datagramLimit(asked), limit);
      const bytes = writeReply(asked, big, datagramLimit(asked));
      const { answers = [], additionals = [], flag_tc } = decode(bytes);
      assert.ok(bytes.length <= limit && bytes.length > limit - 16, `${bytes.length} of ${limit}`);
      assert.equal(flag_tc, true);
      assert.equal(answers.length, Math.floor((limit - 12 - 17 - (asked.edns ? 11 : 0)) / 16));
      assert.deepEqual(
        additionals.map(({ type }) => type),
        asked.edns ? ['OPT'] : [],
      );
    }
    assert.equal(decode(writeReply(query(), big, streamLimit)).answers?.length, 200);
  });

  it('leaves out additional records that do not fit, without being marked as truncated', () => {
    const { answers, additionals, flag_tc } = decode(
      writeReply(
        query(),
        reply({ answers: addresses(2), additionals: addresses(100, 'other.example') }),
        512,
      ),
    );
    assert.equal(answers?.length, 2);
    assert.equal(flag_tc, false);
    assert.ok((additionals?.length ?? 0) > 0);
  });

  it('has the upper bits of an EDNS error in its OPT record', () => {
    const reading = readQuery(message(opt(1232, 1)));
    assert(reading && 'refusal' in reading);
    const [record] = decode(writeRefusal(reading)).additionals ?? [];
    assert(record?.type === 'OPT');
    assert.equal(record.extendedRcode, 1);
  });
});

describe('an answer of another server', () => {
  const asked = query(opt(1232));
  const answer = (more: Packet = {}) =>
    encode({
      type: 'response',
      id: 7,
      questions: [{ name: 'web.EXAMPLE', type: 'A' }],
      answers: [{ type: 'A', name: 'web.example', ttl: 60, data: '192.0.2.9' }],
      ...more,
    });
  it('is accepted if it repeats the question', () => {
    const read = readReply(answer(), 7, asked.question);
    assert.equal(read?.rcode, 'NOERROR');
    assert.deepEqual(
      read?.answers.map((record) => record.data),
      ['192.0.2.9'],
    );
  });
  for (const [what, bytes] of [
    ['has another id', answer({ id: 8 })],
    ['repeats another name', answer({ questions: [{ name: 'bad.example', type: 'A' }] })],
    ['repeats another type', answer({ questions: [{ name: 'web.example', type: 'TXT' }] })],
    ['has no question', answer({ questions: [] })],
    ['is a question', answer({ type: 'query' })],
    ['is cut off', answer().subarray(0, -1)],
  ] as const) {
    it(`is not accepted if it ${what}`, () => assert.equal(readReply(bytes, 7, asked.question), undefined));
  }

  it('is requested with an id and a payload size that do not depend on the client', () => {
    const sent = decode(writeQuestion(99, asked));
    assert.equal(sent.id, 99);
    assert.deepEqual(
      sent.questions?.map(({ name, type }) => `${name} ${type}`),
      ['Web.Example A'],
    );
    const [record] = sent.additionals ?? [];
    assert(record?.type === 'OPT');
    assert.equal(record.udpPayloadSize, 1232);
  });

  it('is requested in the same way for another name', () => {
    const question = questionAbout(
      'other.example',
      query({ questions: [{ name: 'a', type: 'MX' }] }).question,
    );
    const sent = decode(writeQuestion(1, { ...asked, question }));
    assert.deepEqual(
      sent.questions?.map(({ name, type }) => `${name} ${type}`),
      ['other.example MX'],
    );
  });
});

describe('hostile bytes', () => {
  it('never cause an exception, and every question that is parsed can be answered', () => {
    const random = new SeededRandom(53);
    const good = [
      message(),
      message(opt(1232)),
      encode({
        type: 'response',
        id: 7,
        questions: [{ name: 'web.example', type: 'A' }],
        answers: [
          { type: 'CNAME', name: 'web.example', ttl: 1, data: 'other.example' },
          { type: 'TXT', name: 'other.example', ttl: 1, data: ['text'] },
          { type: 'MX', name: 'web.example', ttl: 1, data: { preference: 1, exchange: 'mail.example' } },
        ],
      }),
    ];
    const question = query().question;
    let read = 0;
    for (let round = 0; round < 20_000; round++) {
      const source = good[random.below(good.length)] ?? message();
      let bytes = Buffer.from(source);
      for (let change = random.below(6); change > 0; change--)
        bytes[random.below(bytes.length)] = random.below(256);
      if (random.below(4) === 0) bytes = bytes.subarray(0, random.below(bytes.length + 1));
      if (random.below(20) === 0)
        bytes = Buffer.from(Array.from({ length: random.below(600) }, () => random.below(256)));
      const reading = readQuery(bytes);
      if (reading && !('refusal' in reading)) {
        read++;
        const written = writeReply(reading.query, reply({ answers: addresses(3, reading.query.name) }), 512);
        assert.ok(written.length <= 512);
        decode(written);
      } else if (reading) decode(writeRefusal(reading));
      readReply(bytes, 7, question);
    }
    assert.ok(read > 1000, `${read} were questions`);
  });
});
