/** Updates of a list of conditions by one condition. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  findCondition,
  timedCondition,
  transitionTime,
  withCondition,
  withoutCondition,
  withReplaced,
} from '../../../src/apimachinery/conditions.ts';
import { at } from '../controllers/objects.ts';

const other = { type: 'Other', status: 'True' as const };
const said = (status: 'True' | 'False', reason: string, seconds: number, message = 'm') => ({
  type: 'Ready',
  status,
  reason,
  message,
  lastTransitionTime: at(seconds),
});

it('a new condition is added at the end', () => {
  assert.deepEqual(withCondition([other], said('True', 'A', 1)), [other, said('True', 'A', 1)]);
});
it('a condition with the same status and reason stays unchanged, also with another message', () => {
  assert.deepEqual(withCondition([said('True', 'A', 1), other], said('True', 'A', 2, 'n')), [
    said('True', 'A', 1),
    other,
  ]);
});
it('a condition with another reason replaces it, and keeps the transition time', () => {
  assert.deepEqual(withCondition([said('True', 'A', 1), other], said('True', 'B', 2)), [
    said('True', 'B', 1),
    other,
  ]);
});
it('a condition with another status replaces it with a new transition time, even with the same reason', () => {
  assert.deepEqual(withCondition([other, said('True', 'A', 1)], said('False', 'A', 2)), [
    other,
    said('False', 'A', 2),
  ]);
});
it('a condition is found and removed by its type', () => {
  const both = [other, said('True', 'A', 1)];
  assert.equal(findCondition(both, 'Ready'), both[1]);
  assert.equal(findCondition(undefined, 'Ready'), undefined);
  assert.deepEqual(withoutCondition(both, 'Ready'), [other]);
});
it('the transition time stays while the status stays, and is now otherwise', () => {
  const before = said('True', 'A', 1);
  assert.equal(transitionTime(before, 'True', at(2)), at(1));
  assert.equal(transitionTime(before, 'False', at(2)), at(2));
  assert.equal(transitionTime(undefined, 'True', at(2)), at(2));
  assert.equal(transitionTime(other, 'True', at(2)), at(2), 'written without a time');
});
it('a timed condition has the fields that are given, and the time of its status', () => {
  const { lastTransitionTime: _, ...now } = said('True', 'B', 2, 'n');
  assert.deepEqual(timedCondition([other, said('True', 'A', 1)], now, at(2)), said('True', 'B', 1, 'n'));
  assert.deepEqual(timedCondition([said('False', 'A', 1)], now, at(2)), said('True', 'B', 2, 'n'));
});
it('a replaced condition keeps its position in the list, and a new condition is last', () => {
  const next = said('True', 'A', 3);
  assert.deepEqual(withReplaced([said('True', 'A', 1), other], next), [next, other]);
  assert.deepEqual(withReplaced([other], next), [other, next]);
});
