/** Conditions under which a stage starts an additional test process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProcessorRoom } from '../../runner/processor-room.ts';

const plenty = 16 * 2 ** 30;

/** A machine of two processors of which `busy` are busy, measured each second until `seconds`. */
function measured(busy: number, seconds = 6, room = new ProcessorRoom(2)): ProcessorRoom {
  for (let at = 0; at <= seconds; at++) room.add({ at, busy: 100 + busy * at });
  return room;
}

test('one more process has room if three tenths of the processors were idle for five seconds', () => {
  assert.equal(measured(1.4).isThere(6, plenty), true);
  assert.equal(measured(1.5).isThere(6, plenty), false);
  assert.equal(measured(0).isThere(6, plenty), true);
});

test('there is no room before five seconds were measured, and none by old measurements', () => {
  assert.equal(new ProcessorRoom(2).isThere(0, plenty), false);
  assert.equal(measured(0, 4).isThere(4, plenty), false);
  assert.equal(measured(0, 5).isThere(5, plenty), true);
  assert.equal(measured(0).isThere(20, plenty), false);
});

test('the load of a process that has just started is measured before another one follows', () => {
  const room = measured(0);
  room.started(6);
  for (let at = 7; at <= 10; at++) room.add({ at, busy: 100 });
  assert.equal(room.isThere(10, plenty), false);
  room.add({ at: 11, busy: 100 });
  assert.equal(room.isThere(11, plenty), true);
});

test('processors that were idle for a shorter time give no room, and an earlier busy time does not matter', () => {
  const room = measured(2, 10);
  room.add({ at: 11, busy: 120 });
  assert.equal(room.isThere(11, plenty), false);
  for (let at = 12; at <= 15; at++) room.add({ at, busy: 120 });
  assert.equal(room.isThere(15, plenty), true);
});

test('a machine that is short of memory has no room', () => {
  assert.equal(measured(0).isThere(6, 2 * 2 ** 30), false);
});
