import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ListPieces } from '../../../../src/dashboard/app/cluster/plan/list-pieces.ts';

/** Reads a text in pieces of this length; returns the objects, the start, and the answer without objects. */
function read(text: string, pieceLength: number, member = 'items') {
  const pieces = new ListPieces(member);
  const objects: unknown[] = [];
  let head: unknown;
  for (let at = 0; at < text.length; at += pieceLength)
    for (const piece of pieces.push(text.slice(at, at + pieceLength))) {
      head ??= JSON.parse(pieces.head());
      objects.push(JSON.parse(piece));
    }
  return { objects, head, envelope: JSON.parse(pieces.end()) };
}

const hostile = {
  metadata: { name: 'a]}"\\', labels: { items: '"items":[{' } },
  items: [{ items: [1, [2]] }],
  data: { 'x"': '\\"}', emoji: '😀', list: '[[' },
};

describe('the pieces of a list', () => {
  const list = {
    kind: 'PodList',
    metadata: { resourceVersion: '7', note: '"items":[' },
    items: [hostile, {}, { deep: [[{ a: [] }]] }],
    more: [{ items: [] }],
  };
  for (const [form, text] of [
    ['compact', JSON.stringify(list)],
    ['indented', JSON.stringify(list, null, 2)],
  ] as const)
    for (const length of [1, 2, 3, 7, 64, 100_000])
      it(`are the objects of a ${form} answer that arrives in pieces of ${length}`, () => {
        const { objects, head, envelope } = read(text, length);
        assert.deepEqual(objects, list.items);
        assert.deepEqual(envelope, { ...list, items: [] });
        assert.deepEqual(head, { kind: list.kind, metadata: list.metadata, items: [] });
      });

  it('are found in the field with the given name', () => {
    const table = { columnDefinitions: [{ name: 'Name' }], rows: [{ cells: ['a', 1] }] };
    const { objects, head } = read(JSON.stringify(table), 5, 'rows');
    assert.deepEqual(objects, table.rows);
    assert.deepEqual(head, { ...table, rows: [] });
  });

  for (const [what, items] of [
    ['is absent', undefined],
    ['has the value null', null],
    ['has no objects', []],
  ] as const)
    it(`do not exist in an answer whose field ${what}`, () => {
      const answer = { metadata: {}, items };
      const { objects, envelope } = read(JSON.stringify(answer), 4);
      assert.deepEqual([objects, envelope], [[], JSON.parse(JSON.stringify(answer))]);
    });

  it('leave invalid JSON if the answer was cut', () => {
    const text = JSON.stringify(list);
    for (const length of [5, 60, text.length - 1]) {
      const pieces = new ListPieces('items');
      pieces.push(text.slice(0, length));
      assert.throws(() => JSON.parse(pieces.end()), SyntaxError, `cut at ${length}`);
    }
  });
});
