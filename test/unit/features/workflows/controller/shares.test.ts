/** Share of a scarce resource that one namespace may hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roomFor } from '../../../../../src/base/fair-share.ts';
import { Shares } from '../../../../../src/features/workflows/controller/shares.ts';

test('one namespace has at most half of the places, and the last quarter is for namespaces with few places', () => {
  const all = 100;
  const roomOf = (taken: number, own: number) => roomFor(all, taken, own);
  assert.deepEqual([roomOf(0, 0), roomOf(40, 40), roomOf(50, 50)], [50, 10, 0]);
  assert.deepEqual([roomOf(50, 0), roomOf(70, 20), roomOf(75, 25)], [25, 5, 0]);
  assert.deepEqual(
    [roomOf(75, 0), roomOf(76, 1), roomOf(78, 3), roomOf(99, 0), roomOf(100, 0)],
    [3, 2, 0, 1, 0],
  );
});

test('a few namespaces cannot use up all places with any number of calls', () => {
  const shares = new Shares<string>(32);
  const taken = (namespace: string) =>
    Array.from({ length: 100 }, (_, i) => shares.enter(namespace, `${namespace}/${i}`)).filter(Boolean)
      .length;
  assert.deepEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map(taken), [16, 8, 1, 1, 1, 1, 1, 1, 1]);
});

test('calls beyond the share of their namespace are rejected, and notified in order as others end', () => {
  const shares = new Shares<string>(4);
  const enter = (...names: string[]) => names.map((name) => shares.enter('a', name));
  assert.deepEqual(enter('1', '2', '3', '4', '3'), [true, true, false, false, false]);
  assert.equal(shares.leave('a'), '3');
  assert.deepEqual(enter('3', '5'), [true, false]);
  assert.equal(shares.leave('a'), '4');
  assert.deepEqual(enter('4'), [true]);
  assert.equal(shares.leave('a'), '5');
  assert.equal(shares.leave('a'), undefined);
});

test('a rejected call that has got a place or was abandoned since is not notified again', () => {
  const shares = new Shares<string>(2);
  assert.deepEqual(
    [shares.enter('a', '1'), shares.enter('a', '2'), shares.enter('a', '3')],
    [true, false, false],
  );
  assert.equal(shares.leave('a'), '2');
  assert.deepEqual([shares.enter('a', '4'), shares.enter('a', '2')], [true, false]);
  shares.forget('a', '3');
  assert.equal(shares.leave('a'), '2');
  assert.equal(shares.enter('a', '2'), true);
  assert.equal(shares.leave('a'), undefined);
});

test('the queues take turns, and a namespace that has its share already is skipped', () => {
  const shares = new Shares<string>(8);
  const fill = (namespace: string) => {
    for (let i = 0; i < 8; i++) shares.enter(namespace, `${namespace}${i}`);
  };
  for (const namespace of ['a', 'b', 'c', 'd', 'e']) fill(namespace);
  // Namespace a has four of eight, b has two, and c and d have the last ones.
  assert.equal(shares.isFree('a'), false);
  assert.equal(shares.leave('a'), 'e0');
  assert.equal(shares.enter('e', 'e0'), true);
  assert.deepEqual([shares.leave('e'), shares.leave('d')], ['e1', 'd1']);
});

test('the next place is assigned to the other of two queues, and empty queues are removed', () => {
  const shares = new Shares<string>(32);
  for (let i = 0; i < 12; i++) assert.ok(shares.enter('a', `a${i}`) && shares.enter('b', `b${i}`));
  for (const name of ['a12', 'a13', 'b12', 'b13']) assert.equal(shares.enter(name.charAt(0), name), false);
  const next = (namespace: string) => {
    const told = shares.leave(namespace) ?? '';
    assert.equal(shares.enter(told.charAt(0), told), true);
    return told;
  };
  assert.deepEqual(['a', 'b', 'a', 'b'].map(next), ['a12', 'b12', 'a13', 'b13']);
  assert.equal(shares.leave('a'), undefined);
  assert.deepEqual([shares.isFree('a'), shares.isFree('b')], [true, true]);
});

test('a namespace with waiting calls has no free place, although there is room', () => {
  const shares = new Shares<string>(2);
  assert.deepEqual([shares.enter('a', '1'), shares.enter('a', '2')], [true, false]);
  assert.equal(shares.enter('a', '3'), false);
  shares.forget('a', '2');
  shares.forget('a', '3');
  assert.equal(shares.isFree('a'), false, 'the queue is empty, and there is no room');
  for (const name of ['2', '3']) shares.enter('a', name);
  assert.equal(shares.leave('a'), '2');
  assert.equal(shares.isFree('a'), false, '3 waits');
  assert.equal(shares.isFree('b'), true);
  shares.forget('a', '3');
  assert.equal(shares.isFree('a'), true);
});

test('a queue ends when its last call was notified, even if that call does not return', () => {
  const shares = new Shares<string>(2);
  assert.deepEqual([shares.enter('a', '1'), shares.enter('a', '2')], [true, false]);
  assert.equal(shares.leave('a'), '2');
  assert.equal(shares.isFree('a'), true);
});

test('each call that ends releases a place', () => {
  const shares = new Shares<string>(8);
  const fill = () => [1, 2, 3, 4, 5].map((n) => shares.enter('a', String(n)));
  assert.deepEqual(fill(), [true, true, true, true, false]);
  shares.forget('a', '5');
  for (let i = 0; i < 4; i++) assert.equal(shares.leave('a'), undefined);
  assert.deepEqual(fill(), [true, true, true, true, false]);
});
