/** Body of an answer with a collection: one piece if it is small, otherwise pieces over several turns. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { type Collection, respondCollection } from '../../../../src/apiserver/encoding/collection-body.ts';
import type { RequestScope } from '../../../../src/apiserver/request/request-scope.ts';
import { WholeAnswer } from '../../../../src/apiserver/transport/whole-answer.ts';

const KiB = 1024;
const head = { kind: 'ConfigMapList', metadata: { resourceVersion: '7' } };
const start = '{"kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[';

let turns: number;
let client: AbortController;
beforeEach(() => {
  turns = 0;
  client = new AbortController();
});

function respond<T>(collection: Pick<Collection<T>, 'items' | 'render'> & Partial<Collection<T>>) {
  const scope = {
    headers: { 'audit-id': 'a' },
    signal: client.signal,
    server: {
      turns: {
        async next(signal?: AbortSignal) {
          turns++;
          signal?.throwIfAborted();
        },
      },
    },
  } as unknown as RequestScope;
  return respondCollection(scope, { head, field: 'items', weigh: () => 0, ...collection });
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
/** Answers with `count` objects, each of `bytes` bytes of JSON and of the weight `weight`. */
const answer = (count: number, bytes: number, weight = 0) =>
  respond({
    items: numbers(count),
    render: () => Buffer.from(`"${'x'.repeat(bytes - 2)}"`),
    weigh: () => weight,
  });
const contents = async (response: Response) =>
  JSON.parse(await response.text()) as { readonly items: readonly unknown[] };

test('the body is its head and its members in their order, as text or as bytes', async () => {
  for (const [items, list] of [
    [[], ''],
    [[1], '"ä1"'],
    [[1, 2], '"ä1",2'],
    [[2, 1], '2,"ä1"'],
    [[2, 2, 1, 1, 2], '2,2,"ä1","ä1",2'],
  ] as const) {
    const render = (item: number) => (item === 1 ? '"ä1"' : Buffer.from('2'));
    const response = await respond({ items, render });
    assert.deepEqual(
      [response.status, response.headers.get('content-type'), response.headers.get('audit-id')],
      [200, 'application/json', 'a'],
    );
    assert.equal(response.headers.get('connection'), null);
    assert.equal(await response.text(), `${start}${list}]}\n`);
  }
  const rows = await respond({ items: [1], field: 'rows', render: () => '{}' });
  assert.equal(await rows.text(), `${start.replace('items', 'rows')}{}]}\n`);
});

describe('the encoding of a collection takes', () => {
  for (const [what, count, bytes, weight, expected, whole] of [
    ['no turn for 25 members', 25, 2, 0, 0, true],
    ['a turn for 26 members', 26, 2, 0, 1, true],
    ['one turn for 250 members', 250, 2, 0, 1, true],
    ['two turns for 251 members', 251, 2, 0, 2, true],
    ['two turns for three members of 64 KiB', 3, 2, 64 * KiB, 2, true],
    ['one turn for three members of 32 KiB', 3, 2, 32 * KiB, 1, true],
    ['two turns for three written members of 64 KiB', 3, 64 * KiB, 0, 2, false],
  ] as const)
    test(what, async () => {
      const response = await answer(count, bytes, weight);
      assert.equal(response instanceof WholeAnswer, whole);
      assert.equal((await contents(response)).items.length, count);
      assert.equal(turns, expected);
    });

  test('there is no piece before the first read, and no piece after the reader has left', async () => {
    const response = await answer(10, 64 * KiB);
    assert.equal(turns, 0);
    await response.body?.cancel();
    assert.ok(turns <= 1);
    client.abort(new Error('gone'));
    await assert.rejects(answer(26, 2), /gone/);
    await assert.rejects(answer(2, 2, 64 * KiB), /gone/);
  });
});

describe('the body is sent in pieces', () => {
  /** Answer whose first turn writes `bytes` bytes, including the head. */
  const beginning = (bytes: number, count: number) => answer(count, bytes - start.length, 64 * KiB);

  test('a piece is sent when 64 KiB are ready and more data follows', async () => {
    for (const [bytes, whole, before] of [
      // Two turns write too little for the first piece, so that a third turn comes before the piece.
      [32 * KiB, false, 2],
      [64 * KiB - 1, false, 1],
      [64 * KiB, false, 0],
    ] as const) {
      turns = 0;
      const response = await beginning(bytes, 4);
      assert.deepEqual([response instanceof WholeAnswer, turns], [whole, before], `${bytes}`);
      assert.equal((await contents(response)).items.length, 4);
    }
    // An answer that is complete after the last object is sent whole, however large it is.
    const last = await beginning(200 * KiB, 1);
    assert.ok(last instanceof WholeAnswer);
  });

  test('one piece is sent per turn, with the usual headers of an answer', async () => {
    const response = await answer(3, 100 * KiB);
    assert.deepEqual(
      [response.status, response.headers.get('content-type'), response.headers.get('audit-id')],
      [200, 'application/json', 'a'],
    );
    const sizes: number[] = [];
    for await (const piece of response.body ?? []) sizes.push(piece.length);
    assert.deepEqual(sizes, [start.length + 100 * KiB, 1 + 100 * KiB, 1 + 100 * KiB + ']}\n'.length]);
  });

  test('a body of more than 256 KiB closes its connection afterwards', async () => {
    for (const [bytes, count, connection] of [
      [64 * KiB, 3, null],
      [64 * KiB, 4, null],
      [64 * KiB + 1, 4, 'close'],
      [64 * KiB, 5, 'close'],
      [100 * KiB, 2, null],
      [64 * KiB, 1000, 'close'],
    ] as const) {
      const response = await beginning(bytes, count);
      assert.equal(response.headers.get('connection'), connection, `${count} of ${bytes}`);
      await response.body?.cancel();
    }
    // The size of an object is known from the bytes that were written.
    for (const [count, connection] of [
      [6, null],
      [7, 'close'],
    ] as const) {
      const response = await answer(count, 40 * KiB);
      assert.equal(response.headers.get('connection'), connection);
      await response.body?.cancel();
    }
  });
});
