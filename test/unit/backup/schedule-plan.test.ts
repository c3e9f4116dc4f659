import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dueInMs, outdatedNames } from '../../../src/backup/schedule-plan.ts';

const at = (time: string) => Date.parse(`2026-11-${time}Z`);
const [first, second, third] = [
  'minik8s-2026-11-27T09-00-00Z.tar.zst',
  'minik8s-2026-11-28T09-00-00Z.tar.zst.age',
  'minik8s-2026-11-29T09-00-00Z.tar.zst',
] as const;
const others = ['notes.txt', 'minik8s-2026-11-20T09-00-00Z.tar.zst.part', 'backup-scratch-1-0'];
const day = 24 * 3_600_000;

test('the first backup is due at once', () => {
  assert.ok(dueInMs([], at('29T09:00:00'), day) <= 0);
  assert.ok(dueInMs(others, at('29T09:00:00'), day) <= 0);
});

test('the next backup is due an interval after the newest, for any order of the names', () => {
  assert.equal(dueInMs([third, ...others, first, second], at('29T15:00:00'), day), 18 * 3_600_000);
  assert.ok(dueInMs([first], at('29T15:00:00'), day) <= 0, 'it was missed');
});

test('a clock that was set back does not stop the backups', () => {
  assert.ok(dueInMs([third], at('01T00:00:00'), day) <= 0);
  assert.equal(dueInMs([third, first], at('27T10:00:00'), day), 23 * 3_600_000);
});

test('a name with an impossible time is not a backup', () => {
  assert.ok(dueInMs(['minik8s-2026-99-29T09-00-00Z.tar.zst'], at('29T09:00:00'), day) <= 0);
});

test('the oldest backups are removed, and nothing else', () => {
  const names = [third, first, ...others, second];
  const now = at('29T10:00:00');
  assert.deepEqual(outdatedNames(names, now, 2), [first]);
  assert.deepEqual(outdatedNames(names, now, 1), [first, second]);
  assert.deepEqual(outdatedNames(names, now, 3), []);
  assert.deepEqual(outdatedNames(names, now, 10), []);
});

test('after the clock was set back, a new backup does not count as the oldest', () => {
  assert.deepEqual(outdatedNames([second, third, first], at('27T10:00:00'), 1), []);
});
