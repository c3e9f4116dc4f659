/** Updates of a list of conditions by one condition. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  findCondition,
  withCondition,
  withoutCondition,
} from '../../../src/controller-runtime/conditions.ts';
import { at } from '../controllers/objects.ts';

const other = { type: 'Other', status: 'True' as const };
const said = (status: 'True' | 'False', reason: string, seconds: number, message = 'm') => ({
  type: 'Ready',
  status,
  reason,
  message,
  lastTransitionTime: at(seconds),
});

it('a new one comes last', () => {
  assert.deepEqual(withCondition([other], said('True', 'A', 1)), [other, said('True', 'A', 1)]);
});
it('one of the same status and reason stays as it is, whatever it says', () => {
  assert.deepEqual(withCondition([said('True', 'A', 1), other], said('True', 'A', 2, 'n')), [
    said('True', 'A', 1),
    other,
  ]);
});
it('one of another reason takes its place, and keeps the time of the status', () => {
  assert.deepEqual(withCondition([said('True', 'A', 1), other], said('True', 'B', 2)), [
    said('True', 'B', 1),
    other,
  ]);
});
it('one of another status takes its place and its time, even with the same reason', () => {
  assert.deepEqual(withCondition([other, said('True', 'A', 1)], said('False', 'A', 2)), [
    other,
    said('False', 'A', 2),
  ]);
});
it('is found by type, and taken out by type', () => {
  const both = [other, said('True', 'A', 1)];
  assert.equal(findCondition(both, 'Ready'), both[1]);
  assert.equal(findCondition(undefined, 'Ready'), undefined);
  assert.deepEqual(withoutCondition(both, 'Ready'), [other]);
});
