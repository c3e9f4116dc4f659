import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { WorkflowHistoryEntry } from '../../../../../src/features/workflows/api/workflow-history-entry.ts';
import { chunksOf, entriesOf } from '../../../../../src/features/workflows/controller/history-plan.ts';

const time = Date.UTC(2026, 0, 1);
const entries = (count: number): WorkflowHistoryEntry[] =>
  Array.from({ length: count }, (_, index) => ({ id: index + 1, time: 't', type: 'TaskScheduled' }));

it("an entry has the fields of the engine's event", () => {
  const detail = { error: 'E' };
  const [first, second] = entriesOf(
    [
      { id: 1, time, type: 'TaskFailed', state: 'A', way: '0-0', detail },
      { id: 2, time, type: 'PassStateExited', output: null },
    ],
    [],
  );
  assert.deepEqual(first, {
    id: 1,
    time: '2026-01-01T00:00:00.000Z',
    type: 'TaskFailed',
    state: 'A',
    task: '0-0',
    detail,
  });
  assert.equal(second?.output, 'null');
});

it('a long input is cut, never in the middle of a character', () => {
  const [cut, whole, pair] = entriesOf(
    [
      { id: 1, time, type: 'TaskScheduled', input: 'a'.repeat(4095) },
      { id: 2, time, type: 'TaskScheduled', input: 'a'.repeat(4094) },
      { id: 3, time, type: 'TaskScheduled', input: `${'a'.repeat(4094)}😀` },
    ],
    [],
  );
  assert.equal(cut?.input, `"${'a'.repeat(4095)}…`);
  assert.equal(whole?.input, `"${'a'.repeat(4094)}"`);
  assert.equal(pair?.input, `"${'a'.repeat(4094)}…`);
});

it('many long inputs together are shortened further', () => {
  const many = entriesOf(
    Array.from({ length: 300 }, (_, index) => ({
      id: index,
      time,
      type: 'TaskScheduled',
      input: 'a'.repeat(5000),
    })),
    [],
  );
  assert.equal(many[0]?.input?.length, 4097);
  assert.equal(many.at(-1)?.input?.length, 257);
  const [later] = entriesOf([{ id: 1, time, type: 'TaskScheduled', input: 'a'.repeat(5000) }], many);
  assert.equal(later?.input?.length, 257);
});

it('fifty entries at a time are moved, and the last ones of an ended run are kept', () => {
  const sizes = (count: number, hasEnded: boolean) => {
    const { chunks, rest } = chunksOf(entries(count), hasEnded);
    return [chunks.map((chunk) => [chunk[0]?.id, chunk.length]), rest.length];
  };
  assert.deepEqual(sizes(49, false), [[], 49]);
  assert.deepEqual(sizes(50, false), [[[1, 50]], 0]);
  assert.deepEqual(sizes(120, false), [
    [
      [1, 50],
      [51, 50],
    ],
    20,
  ]);
  assert.deepEqual(sizes(50, true), [[], 50]);
  assert.deepEqual(sizes(51, true), [[[1, 50]], 1]);
  assert.deepEqual(sizes(100, true), [[[1, 50]], 50]);
});

it("an entry has no field that the engine's event lacks", () => {
  const [entry] = entriesOf([{ id: 1, time, type: 'ExecutionStarted' }], []);
  assert.deepEqual(Object.keys(entry ?? {}), ['id', 'time', 'type']);
});

it('all entries of a status have 128 KiB together, and each 256 characters at least', () => {
  const before = (characters: number): WorkflowHistoryEntry[] => [
    { ...entries(1)[0], input: 'a'.repeat(characters - 10), output: 'b'.repeat(10) } as WorkflowHistoryEntry,
  ];
  const kept = (left: number) => {
    const [entry] = entriesOf(
      [{ id: 1, time, type: 'TaskScheduled', output: 'a'.repeat(5000) }],
      before(128 * 1024 - left),
    );
    return (entry?.output?.length ?? 0) - 1;
  };
  assert.deepEqual(
    [kept(5000), kept(4096), kept(4095), kept(257), kept(256), kept(255), kept(0)],
    [...[4096, 4096, 4095, 257, 256, 256, 256]],
  );
  const two = entriesOf(
    [
      { id: 1, time, type: 'TaskScheduled', input: 'a'.repeat(998), output: 'b'.repeat(998) },
      { id: 2, time, type: 'TaskScheduled', input: 'a'.repeat(5000) },
    ],
    before(128 * 1024 - 4000),
  );
  assert.equal(two[1]?.input?.length, 2001, 'what an entry takes is not there for the next');
});

it('entries without input and output do not use the common limit', () => {
  const [entry] = entriesOf(
    [{ id: 1, time, type: 'TaskScheduled', input: 'a'.repeat(5000) }],
    entries(20_000),
  );
  assert.equal(entry?.input?.length, 4097);
});

it('a character of two halves that fits is kept whole', () => {
  const [entry] = entriesOf([{ id: 1, time, type: 'TaskScheduled', input: `${'a'.repeat(4093)}😀b` }], []);
  assert.equal(entry?.input, `"${'a'.repeat(4093)}😀…`);
});
