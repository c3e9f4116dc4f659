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

test('the next one is due an interval after the newest, whatever the order of the names', () => {
  assert.equal(dueInMs([third, ...others, first, second], at('29T15:00:00'), day), 18 * 3_600_000);
  assert.ok(dueInMs([first], at('29T15:00:00'), day) <= 0, 'it was missed');
});

test('a clock that was set back delays a backup by an interval at most', () => {
  assert.equal(dueInMs([third], at('01T00:00:00'), day), day);
});

test('the oldest backups are removed, and nothing else', () => {
  const names = [third, first, ...others, second];
  assert.deepEqual(outdatedNames(names, 2), [first]);
  assert.deepEqual(outdatedNames(names, 1), [first, second]);
  assert.deepEqual(outdatedNames(names, 3), []);
  assert.deepEqual(outdatedNames(names, 10), []);
});
