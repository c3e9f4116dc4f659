/** The request and the answer of a join: what is read, and what is rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJoinAnswer, readJoinRequest } from '../../../src/masters/join-messages.ts';
import { isMasterName, isPeerUrl, peerUrlOf } from '../../../src/masters/member-names.ts';

const request = { name: 'm2', peerUrl: 'https://192.0.2.2:2380', settings: { port: 1 } };
const ids = { clusterId: '1f', memberId: 'a0' };

test('a complete request and a complete answer are parsed, without unknown fields', () => {
  assert.deepEqual(readJoinRequest(JSON.stringify({ ...request, more: 1 })), request);
  const again = { ...request, earlier: ids };
  assert.deepEqual(readJoinRequest(JSON.stringify(again)), again);
  const isMember = { outcome: 'is-member', initialCluster: 'a=b' };
  assert.deepEqual(readJoinAnswer(JSON.stringify({ ...isMember, x: 1 })), isMember);
  const added = {
    ...{ outcome: 'added', initialCluster: 'a=b', ...ids },
    authority: { key: 'k', certificate: 'c' },
  };
  assert.deepEqual(readJoinAnswer(JSON.stringify({ ...added, x: 1 })), added);
});

const broken: [text: string, why: RegExp][] = [
  ['', /expected JSON/],
  ['[]', /expected an object/],
  [JSON.stringify({ ...request, name: 'a,b=c' }), /name: expected a host name/],
  [JSON.stringify({ ...request, peerUrl: 'https://192.0.2.2:2380,x=https://192.0.2.9:1' }), /peerUrl: /],
  [JSON.stringify({ ...request, settings: null }), /settings: expected an object/],
  [JSON.stringify({ ...request, earlier: { clusterId: 'x', memberId: 'a' } }), /earlier: expected two ids/],
];
for (const [text, why] of broken) {
  test(`a request is rejected: ${why.source} ${text.slice(0, 60)}`, () => {
    assert.throws(() => readJoinRequest(text), why);
  });
}

test('an answer without the keys is rejected', () => {
  for (const text of [
    '{}',
    '{"outcome":"added"}',
    '"added"',
    JSON.stringify({ ...ids, outcome: 'added', initialCluster: 'a=b' }),
  ])
    assert.throws(() => readJoinAnswer(text), /expected an object|not one of a master/);
});

test('names are host names in lowercase letters, and URLs have an address and a port', () => {
  for (const name of ['m1', 'node-1.example.com', '0']) assert.equal(isMasterName(name), true, name);
  for (const name of ['', 'M1', 'a b', '-a', 'a-', 'a=b', 7]) assert.equal(isMasterName(name), false);
  for (const url of ['https://192.0.2.1:2380', 'https://[2001:db8::1]:2380'])
    assert.equal(isPeerUrl(url), true, url);
  for (const url of ['http://192.0.2.1:1', 'https://name:1', 'https://192.0.2.1', 'https://u@192.0.2.1:1', 1])
    assert.equal(isPeerUrl(url), false, String(url));
  assert.equal(peerUrlOf('2001:db8::1', 2380), 'https://[2001:db8::1]:2380');
  assert.equal(peerUrlOf('192.0.2.1', 1), 'https://192.0.2.1:1');
});
