/** Answers of etcd's Cluster service, as etcd encodes them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WireWriter } from '../../../src/apimachinery/protobuf/writer.ts';
import { readHasLeader, readMembership } from '../../../src/storage/etcd-members.ts';

interface Encoded {
  readonly field: number;
  readonly id: bigint;
  readonly name: string;
  readonly url: string;
  readonly learner?: boolean;
}

function encode(members: readonly Encoded[]): Buffer {
  const writer = new WireWriter();
  const header = writer.begin(1);
  writer.varint(1, 0xcafen);
  writer.varint(2, 0xf00000000000000fn);
  writer.varint(3, 7);
  writer.end(header);
  for (const { field, id, name, url, learner } of members) {
    const start = writer.begin(field);
    writer.varint(1, id);
    writer.string(2, name);
    writer.string(3, url);
    writer.string(4, 'unix://client:0');
    if (learner) writer.varint(5, 1);
    writer.end(start);
  }
  return writer.finish();
}

const first = { field: 2, id: 0xf00000000000000fn, name: 'm1', url: 'https://192.0.2.1:2380' };

test('members are read with ids as hexadecimal digits, and learners are distinguished from voters', () => {
  const second = { field: 2, id: 2n, name: 'm2', url: 'https://192.0.2.2:2380', learner: true };
  assert.deepEqual(readMembership(encode([first, second])), {
    clusterId: 'cafe',
    ownId: 'f00000000000000f',
    members: [
      { id: 'f00000000000000f', name: 'm1', peerUrl: 'https://192.0.2.1:2380', isLearner: false },
      { id: '2', name: 'm2', peerUrl: 'https://192.0.2.2:2380', isLearner: true },
    ],
  });
});

test('the answer to an addition, which has the new member twice, is read with each member once', () => {
  const added = { field: 2, id: 2n, name: '', url: 'https://192.0.2.2:2380', learner: true };
  const { members } = readMembership(encode([added, { ...first, field: 3 }, { ...added, field: 3 }]));
  assert.deepEqual(
    members.map(({ id }) => id),
    ['f00000000000000f', '2'],
  );
});

test('a member has a leader if its status names one', () => {
  const status = (leader?: bigint) => {
    const writer = new WireWriter();
    writer.string(2, '3.7.3');
    writer.varint(3, 20_480);
    if (leader !== undefined) writer.varint(4, leader);
    writer.varint(5, 9);
    return readHasLeader(writer.finish());
  };
  assert.deepEqual([status(0xf00000000000000fn), status(0n), status()], [true, false, false]);
});
