import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type NodeAnswer, parseNodeAnswer } from '../../../src/doctor/node-answer.ts';

const answer: NodeAnswer = {
  time: 1_800_000_000_000,
  findings: [
    { check: 'a', severity: 'ok', found: 'fine' },
    { check: 'b', severity: 'fault', found: 'bad', why: 'because', mend: 'true' },
  ],
  peers: [
    { node: 'n2', address: '192.0.2.2', agent: { problem: 'no answer' } },
    { node: 'n3', address: '192.0.2.3', agent: {}, overlay: {}, large: { bytes: 1450, problem: 'lost' } },
  ],
  underlay: { name: 'eth0', mtu: 1500 },
  drops: [{ table: 'inet cut', chain: 'in', handle: 2, rule: 'ip saddr 192.0.2.1 drop' }],
};

describe('the answer of an agent', () => {
  it('is read back as sent', () => assert.deepEqual(parseNodeAnswer(JSON.stringify(answer)), answer));

  it('of another form is refused', () => {
    for (const text of ['[]', 'null', '{}', '"x"', '{"time":"now"}'])
      assert.throws(() => parseNodeAnswer(text), /its answer has an unknown form/);
    assert.throws(() => parseNodeAnswer('<html>'), SyntaxError);
  });

  it('drops items that this version does not know', () => {
    const newer = {
      time: 1,
      findings: [{ check: 'a', severity: 'catastrophe', found: 'x' }, 7, { severity: 'ok' }],
      peers: [{ node: 'n2' }, { node: 'n2', address: 'x', agent: {}, large: { bytes: 'many' } }],
      underlay: { name: 'eth0' },
      drops: [{ table: 'a', chain: 'b', handle: 'c', rule: 'd' }],
    };
    assert.deepEqual(parseNodeAnswer(JSON.stringify(newer)), {
      ...{ time: 1, findings: [], drops: [] },
      peers: [{ node: 'n2', address: 'x', agent: {} }],
    });
  });

  it('cannot write control characters to a terminal', () => {
    const evil = { time: 1, findings: [{ check: 'a', severity: 'ok', found: 'x\u001b[2J\ny\u009b' }] };
    assert.equal(parseNodeAnswer(JSON.stringify(evil)).findings[0]?.found, 'x [2J y ');
  });

  it('is cut if it has more items than a node can have', () => {
    const findings = Array.from({ length: 5000 }, () => ({ check: 'a', severity: 'ok', found: 'x' }));
    assert.equal(parseNodeAnswer(JSON.stringify({ time: 1, findings })).findings.length, 1000);
  });
});
