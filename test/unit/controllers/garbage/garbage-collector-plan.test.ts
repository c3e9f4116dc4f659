import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deepCopy } from '../../../../src/apimachinery/equality.ts';
import { isTerminating, type KubeObject } from '../../../../src/apimachinery/meta.ts';
import {
  type CollectorAction,
  type OwnerState,
  ownersInCycle,
  planCollection,
  waitsForDependents,
} from '../../../../src/controllers/garbage/garbage-collector-plan.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { at, meta, ownedBy } from '../objects.ts';

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
    ['its owner exists', object(), [owner('a', 'present')], [], none],
    ['its owner does not exist', object(), [owner('a', 'absent')], [], remove('Background')],
    ['no owner exists', object(), [owner('a', 'absent'), owner('b', 'absent')], [], remove('Background')],
    [
      'one of two owners exists',
      object(),
      [owner('a', 'present'), owner('b', 'absent'), owner('c', 'waiting')],
      [],
      { type: 'dropOwners', uids: ['uid-b', 'uid-c'] },
    ],
    [
      'its owner waits for it, and it has no dependents',
      object(),
      [owner('a', 'waiting')],
      [],
      remove('Background'),
    ],
    [
      'its owner waits for it, and it has dependents',
      object(),
      [owner('a', 'waiting')],
      [dependent(true)],
      remove('Foreground'),
    ],
    [
      'one owner waits for it and another does not exist',
      object(),
      [owner('a', 'waiting'), owner('b', 'absent')],
      [dependent(true)],
      remove('Foreground'),
    ],
    [
      'its owner does not exist, and it has dependents',
      object(),
      [owner('a', 'absent')],
      [dependent(true)],
      remove('Background'),
    ],
    [
      'it has the finalizer foregroundDeletion',
      object(['foregroundDeletion']),
      [owner('a', 'absent')],
      [],
      remove('Foreground'),
    ],
    ['it has the finalizer orphan', object(['orphan']), [owner('a', 'absent')], [], remove('Orphan')],
    ['it is being deleted', object([], true), [owner('a', 'absent')], [], none],
    [
      'it is being deleted and orphans its dependents',
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
      'it is being deleted and waits only for dependents that block it',
      object(['foregroundDeletion'], true),
      [],
      [dependent(false)],
      { type: 'removeFinalizer', finalizer: 'foregroundDeletion' },
    ],
    ['it is being deleted with finalizers of others', object(['example.com/mine'], true), [], [], none],
  ];
  for (const [name, one, owners, dependents, expected] of table)
    it(name, () => assert.deepEqual(planCollection(one, owners, dependents, []), expected));
});

describe('waitsForDependents', () => {
  for (const [finalizers, deleting, expected] of [
    [['foregroundDeletion'], true, true],
    [['orphan'], true, false],
    [[], true, false],
    [['foregroundDeletion'], false, false],
  ] as const)
    it(`is ${expected} with ${finalizers.join() || 'no finalizer'}, ${deleting ? 'deleted' : 'not deleted'}`, () =>
      assert.equal(waitsForDependents(object([...finalizers], deleting)), expected));
});

describe('ownersInCycle', () => {
  it('are empty for an object without owners', () => {
    assert.deepEqual(
      ownersInCycle(object(['foregroundDeletion'], true), () => []),
      [],
    );
  });

  interface Link {
    readonly of: string;
    readonly owner: string;
    readonly blocks?: boolean;
  }
  const waiting = (name: string) =>
    meta(name, { deletionTimestamp: at(1), finalizers: ['foregroundDeletion'] });
  /** Returns the owners in a cycle with the first object; all objects wait except `notWaiting`. */
  const circle = (links: readonly Link[], notWaiting: readonly string[] = []) => {
    const all = [...new Set(links.flatMap(({ of, owner }) => [of, owner]))].map((name): KubeObject => {
      const owners = links.filter(({ of }) => of === name);
      const ownerReferences = owners.map(({ owner, blocks = true }) => ({
        ...ownedBy('Pod', owner),
        blockOwnerDeletion: blocks,
      }));
      const base = notWaiting.includes(name) ? meta(name) : waiting(name);
      return { apiVersion: 'v1', kind: 'Pod', metadata: { ...base, ownerReferences } };
    });
    const dependentsOf = (one: KubeObject) =>
      all.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === one.metadata.uid));
    return all[0] && ownersInCycle(all[0], dependentsOf);
  };
  const ba = { of: 'b', owner: 'a' };
  const ab = { of: 'a', owner: 'b' };
  const table: [string, Link[], string[], string[]][] = [
    ['two objects that block each other', [ab, ba], [], ['uid-b']],
    ['through a third', [{ of: 'a', owner: 'c' }, ba, { of: 'c', owner: 'b' }], [], ['uid-c']],
    ['an owner outside of the cycle', [ab, { of: 'a', owner: 'x' }, ba], [], ['uid-b']],
    ['a dependent that does not block it', [ab, { ...ba, blocks: false }], [], []],
    ['an owner that it does not block', [{ ...ab, blocks: false }, ba], [], []],
    ['a dependent that is not being deleted', [ab, ba], ['b'], []],
    ['an object that is not being deleted', [ab, ba], ['a'], []],
    ['a chain', [ab, { of: 'b', owner: 'c' }], [], []],
  ];
  for (const [name, links, notWaiting, expected] of table)
    it(name, () => assert.deepEqual(circle(links, notWaiting), expected));
});

/** Objects of one server; the garbage collector's decisions are carried out on them in a random order. */
class Graph {
  objects = new Map<string, KubeObject>();
  /** Removed objects, in the order of their removal. */
  readonly gone: string[] = [];

  add(name: string, owners: readonly { name: string; blocks: boolean }[]): void {
    const ownerReferences = owners.map((of) => ({
      ...ownedBy('Pod', of.name),
      blockOwnerDeletion: of.blocks,
    }));
    this.objects.set(`uid-${name}`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: meta(name, { ownerReferences }),
    });
  }

  dependentsOf = (one: KubeObject) =>
    [...this.objects.values()].filter(({ metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.uid === one.metadata.uid),
    );

  delete(uid: string, policy: 'Foreground' | 'Background' | 'Orphan'): void {
    this.#change(uid, ({ metadata }) => {
      metadata.deletionTimestamp ??= at(1);
      const finalizer = { Foreground: ['foregroundDeletion'], Background: [], Orphan: ['orphan'] }[policy];
      metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), ...finalizer])];
    });
  }

  /** Carries out one decision; returns false if no object needs any. */
  step(random: SeededRandom): boolean {
    const order = [...this.objects.values()].toSorted(() => random.below(3) - 1);
    return order.some((object) => this.#collect(object));
  }

  #collect(object: KubeObject): boolean {
    const { uid, ownerReferences = [] } = object.metadata;
    const owners = ownerReferences.map((reference) => {
      const owner = this.objects.get(reference.uid);
      const state = owner ? (waitsForDependents(owner) ? 'waiting' : 'present') : 'absent';
      return { reference, state } as const;
    });
    const dependents = this.dependentsOf(object);
    const action = planCollection(object, owners, dependents, ownersInCycle(object, this.dependentsOf));
    switch (action.type) {
      case 'none':
        return false;
      case 'delete':
        this.delete(uid, action.policy);
        return true;
      case 'dropOwners':
        this.#dropOwners(uid, action.uids);
        return true;
      case 'unblockOwners':
        this.#change(uid, ({ metadata }) => {
          for (const reference of metadata.ownerReferences ?? [])
            if (action.uids.includes(reference.uid)) reference.blockOwnerDeletion = false;
        });
        return true;
      case 'deleteDependents':
        // The dependents are collected on their own: their owner waits.
        return false;
      case 'orphanDependents':
        for (const dependent of dependents) this.#dropOwners(dependent.metadata.uid, [uid]);
        this.#removeFinalizer(uid, 'orphan');
        return true;
      case 'removeFinalizer':
        this.#removeFinalizer(uid, action.finalizer);
        return true;
    }
  }

  #dropOwners(uid: string, owners: readonly string[]): void {
    this.#change(uid, ({ metadata }) => {
      metadata.ownerReferences =
        metadata.ownerReferences?.filter((owner) => !owners.includes(owner.uid)) ?? [];
    });
  }

  #removeFinalizer(uid: string, finalizer: string): void {
    this.#change(uid, ({ metadata }) => {
      metadata.finalizers = metadata.finalizers?.filter((name) => name !== finalizer) ?? [];
    });
  }

  #change(uid: string, change: (object: KubeObject) => void): void {
    const object = this.objects.get(uid);
    if (!object) return;
    const next = deepCopy(object);
    change(next);
    this.objects.set(uid, next);
    if (!isTerminating(next) || next.metadata.finalizers?.length) return;
    this.objects.delete(uid);
    this.gone.push(uid);
  }
}

describe('the garbage collector', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const settle = (graph: Graph, random: SeededRandom) => {
    for (let round = 0; graph.step(random); round++) assert.ok(round < 1000, 'it comes to rest');
  };

  it('completes every deletion for any graph of owners', () => {
    for (let seed = 1; seed <= 400; seed++) {
      const random = new SeededRandom(seed);
      const graph = new Graph();
      for (const name of names) {
        const owners = names.filter(() => random.below(4) === 0);
        graph.add(
          name,
          owners.map((owner) => ({ name: owner, blocks: random.below(3) > 0 })),
        );
      }
      for (const name of names)
        if (random.below(3) === 0)
          graph.delete(
            `uid-${name}`,
            (['Foreground', 'Background', 'Orphan'] as const)[random.below(3)] ?? 'Foreground',
          );
      settle(graph, random);
      const stuck = [...graph.objects.values()].filter(isTerminating).map(({ metadata }) => metadata.name);
      assert.deepEqual(stuck, [], `seed ${seed}`);
    }
  });

  it('keeps the order of a chain that is deleted in the foreground, also during other deletions', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = new SeededRandom(seed);
      const graph = new Graph();
      for (const [index, name] of names.entries()) {
        const owner = names[index - 1];
        graph.add(name, owner === undefined ? [] : [{ name: owner, blocks: true }]);
      }
      for (const name of names)
        if (name === 'a' || random.below(2) === 0) graph.delete(`uid-${name}`, 'Foreground');
      settle(graph, random);
      assert.deepEqual(graph.gone, names.map((name) => `uid-${name}`).toReversed(), `seed ${seed}`);
    }
  });
});
