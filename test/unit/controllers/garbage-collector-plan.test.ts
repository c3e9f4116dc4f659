import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import {
  type CollectorAction,
  type OwnerState,
  planCollection,
} from '../../../src/controllers/garbage-collector-plan.ts';
import { at, meta, ownedBy } from './objects.ts';

const owner = (name: string, state: OwnerState) => ({ reference: ownedBy('ReplicaSet', name), state });
const object = (finalizers: string[] = [], deleting = false): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: meta('one', { finalizers, ...(deleting && { deletionTimestamp: at(1) }) }),
});
const dependent = (blockOwnerDeletion: boolean): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: meta('child', { ownerReferences: [{ ...ownedBy('Pod', 'one'), blockOwnerDeletion }] }),
});

describe('planCollection', () => {
  const none: CollectorAction = { type: 'none' };
  const remove = (policy: 'Foreground' | 'Background' | 'Orphan'): CollectorAction => ({
    type: 'delete',
    policy,
  });
  const table: [string, KubeObject, ReturnType<typeof owner>[], KubeObject[], CollectorAction][] = [
    ['no owners', object(), [], [], none],
    ['its owner is there', object(), [owner('a', 'present')], [], none],
    ['its owner is gone', object(), [owner('a', 'absent')], [], remove('Background')],
    ['all owners are gone', object(), [owner('a', 'absent'), owner('b', 'absent')], [], remove('Background')],
    [
      'one owner stays',
      object(),
      [owner('a', 'present'), owner('b', 'absent'), owner('c', 'waiting')],
      [],
      { type: 'dropOwners', uids: ['uid-b', 'uid-c'] },
    ],
    ['its owner waits, it has nothing', object(), [owner('a', 'waiting')], [], remove('Background')],
    [
      'its owner waits for its dependents too',
      object(),
      [owner('a', 'waiting')],
      [dependent(true)],
      remove('Foreground'),
    ],
    ['it is to be orphaned from', object(['orphan']), [owner('a', 'absent')], [], remove('Orphan')],
    ['it is going already', object([], true), [owner('a', 'absent')], [], none],
    [
      'going, orphans its dependents',
      object(['orphan'], true),
      [],
      [dependent(true)],
      { type: 'orphanDependents' },
    ],
    [
      'going, waits',
      object(['foregroundDeletion'], true),
      [],
      [dependent(true)],
      { type: 'deleteDependents' },
    ],
    [
      'going, waits only for those that block it',
      object(['foregroundDeletion'], true),
      [],
      [dependent(false)],
      { type: 'removeFinalizer', finalizer: 'foregroundDeletion' },
    ],
    ['going, held by others', object(['example.com/mine'], true), [], [], none],
  ];
  for (const [name, one, owners, dependents, expected] of table)
    it(name, () => assert.deepEqual(planCollection(one, owners, dependents), expected));
});
