import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, sharedName } from '../../walks/master-kills/check-history.ts';
import type { History, SeenEvent, WriteRecord } from '../../walks/master-kills/history.ts';

const written = (write: Partial<WriteRecord>): WriteRecord => ({
  ...{ verb: 'create', name: 'a', sentAt: 1, answeredAt: 2, outcome: 'acknowledged' },
  ...write,
});

const writes: readonly WriteRecord[] = [
  written({ value: 'a1', revision: 10 }),
  written({ verb: 'update', value: 'a2', basedOn: 10, sentAt: 3, answeredAt: 4, revision: 12 }),
  written({ verb: 'delete', basedOn: 12, sentAt: 5, answeredAt: 6 }),
  written({ name: 'b', value: 'b1', sentAt: 3, answeredAt: 9, outcome: 'unknown' }),
];
const events: readonly SeenEvent[] = [
  { type: 'ADDED', name: 'a', value: 'a1', revision: 10 },
  { type: 'MODIFIED', name: 'a', value: 'a2', revision: 12 },
  { type: 'DELETED', name: 'a', value: 'a2', revision: 15 },
  { type: 'BOOKMARK', name: '', value: '', revision: 15 },
  { type: 'ADDED', name: 'b', value: 'b1', revision: 17 },
];
const correct: History = {
  writes,
  reads: [
    { name: 'a', sentAt: 4.5, answeredAt: 5, revision: 12 },
    { name: 'a', sentAt: 7, answeredAt: 8, revision: undefined },
  ],
  sights: ['first', 'second'].map((watcher) => ({ watcher, from: 9, events })),
  end: 17,
  lists: [new Map([['b', 'b1']])],
};
const seen = (changed: readonly SeenEvent[]): History => ({
  ...correct,
  sights: [{ watcher: 'first', from: 9, events: changed }, ...correct.sights.slice(1)],
});

test('a history has no fault if every acknowledged write has its event and a write with unknown outcome took effect', () => {
  assert.deepEqual(faultsOf(correct), []);
});

test('an event that a watch did not deliver is reported as missed, and a repeated event as repeated', () => {
  assert.deepEqual(faultsOf(seen(events.filter(({ revision }) => revision !== 12))), [
    'first: missed: MODIFIED a a2 at 12',
  ]);
  const [first] = events;
  assert.ok(first);
  assert.deepEqual(faultsOf(seen([first, ...events])), [
    'first: repeated or late: ADDED a a1 at 10, after revision 10',
  ]);
});

test('an event after a bookmark of a higher revision is late', () => {
  const early = events.map((event) => (event.type === 'BOOKMARK' ? { ...event, revision: 20 } : event));
  assert.deepEqual(faultsOf(seen(early)), ['first: repeated or late: ADDED b b1 at 17, after revision 20']);
});

test('an acknowledged write or deletion without an event at its revision is reported as lost', () => {
  const without = (revision: number): History => ({
    ...correct,
    sights: correct.sights.map((sight) => ({
      ...sight,
      events: events.filter((event) => event.type === 'BOOKMARK' || event.revision !== revision),
    })),
  });
  assert.ok(faultsOf(without(12)).includes('acknowledged write lost: update a a2 at 12'));
  assert.ok(faultsOf(without(15)).includes('acknowledged write lost: delete a at ?'));
  assert.deepEqual(faultsOf({ ...without(17), lists: [new Map()] }), [], 'an unknown write may be lost');
});

test('a write that took effect twice and a refused write that took effect are faults', () => {
  const again = (revision: number): SeenEvent => ({ type: 'ADDED', name: 'b', value: 'b1', revision });
  const twice = {
    ...correct,
    sights: [{ watcher: 'first', from: 9, events: [...events, again(18)] }],
    end: 18,
  };
  assert.ok(faultsOf(twice).includes('made twice: ADDED b b1 at 18'));
  const refused = writes.map((write) =>
    write.name === 'b' ? { ...write, outcome: 'refused' as const } : write,
  );
  assert.deepEqual(faultsOf({ ...correct, writes: refused }), [
    'never sent, or refused: ADDED b b1 at 17',
    'refused without another writer: create b b1',
  ]);
});

test('an update that was applied to another revision than the required one is a fault', () => {
  const shared = (n: number, basedOn: number, revision: number): WriteRecord =>
    written({
      verb: 'update',
      name: sharedName,
      value: `s${n}`,
      basedOn,
      revision,
      sentAt: n,
      answeredAt: 99,
    });
  const lost: History = {
    ...{ reads: [], end: 30, lists: [new Map([[sharedName, 's3']])] },
    writes: [written({ name: sharedName, value: 's1', revision: 20 }), shared(2, 20, 21), shared(3, 20, 22)],
    sights: [
      {
        ...{ watcher: 'first', from: 9 },
        events: [1, 2, 3].map((n) => ({
          ...{ type: n === 1 ? ('ADDED' as const) : ('MODIFIED' as const), name: sharedName },
          ...{ value: `s${n}`, revision: 19 + n },
        })),
      },
    ],
  };
  assert.deepEqual(faultsOf(lost), [
    'MODIFIED shared s3 at 22 follows MODIFIED shared s2 at 21, required: 20',
  ]);
});

test('a read that lacks an earlier acknowledged write is stale', () => {
  const reading = (revision: number | undefined, sentAt: number) =>
    faultsOf({ ...correct, reads: [{ name: 'a', sentAt, answeredAt: sentAt, revision }] });
  assert.deepEqual(reading(10, 4.5), ['stale read: a at 10, acknowledged before: 12']);
  assert.deepEqual(reading(undefined, 4.5), ['stale read: a at none, acknowledged before: 12']);
  assert.deepEqual(reading(12, 7), ['stale read: a was deleted, and is read at 12']);
  assert.deepEqual(reading(undefined, 5.5), [], 'the deletion is under way');
});

test('a write that was sent after another was acknowledged has the higher revision', () => {
  const late = writes.map((write) =>
    write.value === 'a1' ? { ...write, sentAt: 4.5, answeredAt: 5 } : write,
  );
  assert.deepEqual(faultsOf({ ...correct, writes: late }), [
    'create a a1 has a lower revision than update a a2, which was answered before',
  ]);
});

test('the fault of a list that contradicts the last events names the object', () => {
  assert.deepEqual(faultsOf({ ...correct, lists: [...correct.lists, new Map([['a', 'a2']])] }), [
    'list 1 lacks b b1',
    'list 1 has a a2, of which there was no event',
  ]);
});
