/** Owners of the claims of a StatefulSet. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OwnerReference } from '../../../../../src/apimachinery/meta.ts';
import {
  goesWithPod,
  planOwners,
} from '../../../../../src/controllers/workloads/stateful/claim-owners-plan.ts';
import { ownedBy } from '../../objects.ts';
import { member, statefulSet, withData } from './stateful-objects.ts';

const ofSet = ownedBy('StatefulSet', 'web');
const ofPod: OwnerReference = { ...ownedBy('Pod', 'web-0'), apiVersion: 'v1' };
const other = { ...ownedBy('Thing', 'x'), controller: false };
const another = ownedBy('Thing', 'x');
const before = (owner: OwnerReference) => ({ ...owner, uid: 'before' });
const watching = (owner: OwnerReference) => ({ ...owner, controller: false });

const planned = (
  owners: OwnerReference[],
  whenDeleted: 'Retain' | 'Delete',
  whenScaled: 'Retain' | 'Delete',
  surplus = false,
) => {
  const set = statefulSet(1, withData({ whenDeleted, whenScaled }));
  const plan = planOwners(owners, set, { pod: member(0), surplus });
  return plan && [plan.owners, plan.conflict];
};

describe('the owners of a claim', () => {
  for (const [whenDeleted, whenScaled, surplus, wanted] of [
    ['Retain', 'Retain', false, []],
    ['Retain', 'Retain', true, []],
    ['Delete', 'Retain', false, [ofSet]],
    ['Delete', 'Retain', true, [ofSet]],
    ['Retain', 'Delete', false, []],
    ['Retain', 'Delete', true, [ofPod]],
    ['Delete', 'Delete', false, [ofSet]],
    ['Delete', 'Delete', true, [ofPod]],
  ] as const)
    it(`follow whenDeleted ${whenDeleted} and whenScaled ${whenScaled}${surplus ? ', for an excess pod' : ''}`, () => {
      const rest = [[], [ofSet], [ofPod], [ofSet, ofPod]];
      for (const owners of rest) {
        const same =
          owners.length === wanted.length &&
          owners.every((one) => (wanted as readonly OwnerReference[]).includes(one));
        const plan = planned([other, ...owners], whenDeleted, whenScaled, surplus);
        assert.deepEqual(plan, same ? undefined : [[other, ...wanted], false]);
      }
    });
});

it('an owner that is not a controller becomes one', () => {
  assert.deepEqual(planned([watching(ofSet)], 'Delete', 'Retain'), [[ofSet], false]);
});

it('a claim of an earlier set or pod of the same name is not changed', () => {
  for (const owner of [ofSet, ofPod])
    assert.equal(planned([before(owner)], 'Delete', 'Delete', true), undefined);
});

it('an owner of another kind with the name of the set or pod is another owner', () => {
  for (const owner of [
    { ...watching(ofSet), apiVersion: 'example.com/v1', uid: 'x' },
    { ...watching(ofSet), kind: 'Thing', uid: 'x' },
    { ...watching(ofSet), name: 'webs', uid: 'x' },
  ])
    assert.deepEqual(planned([owner], 'Delete', 'Retain'), [[owner, ofSet], false]);
});

it('a claim is deleted with a pod that owns it, if claims are deleted then', () => {
  const goes = (whenScaled: 'Retain' | 'Delete', ...owners: OwnerReference[]) =>
    goesWithPod(owners, statefulSet(1, withData({ whenScaled })), 'web-0');
  assert.deepEqual(
    [goes('Delete', other, ofPod), goes('Delete', other), goes('Delete'), goes('Retain', ofPod)],
    [true, false, false, false],
  );
});

it('the owner reference of another controller is kept', () => {
  assert.equal(planned([another], 'Delete', 'Retain'), undefined);
  assert.deepEqual(planned([another, ofSet], 'Delete', 'Retain'), [[another], true]);
  assert.deepEqual(planned([another, ofSet], 'Retain', 'Retain'), [[another], false]);
});
