/** Pods that a DaemonSet creates and removes on its nodes, and its status. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planDaemons, planStatus } from '../../../../../src/controllers/workloads/daemons/daemon-set-plan.ts';
import type { Daemons } from '../../../../../src/controllers/workloads/daemons/daemons-plan.ts';
import { at, node } from '../../objects.ts';
import { daemon, daemonSet, daemons, surging } from './daemon-objects.ts';

function changes(decided: Daemons, waits: Readonly<Record<string, number>> = {}) {
  const plan = planDaemons(decided, (name) => waits[name] ?? 0);
  return {
    create: plan.create,
    remove: plan.remove.map(({ metadata }) => metadata.name),
    retryIn: plan.retryIn,
  };
}
const ending = { metadata: { deletionTimestamp: at(1) } };
const executed = node('n1', { taints: [{ key: 'a', effect: 'NoExecute' }] });
const repelling = node('n1', { taints: [{ key: 'a', effect: 'NoSchedule' }] });
const waitingFor = (name: string) => ({
  spec: {
    nodeName: undefined,
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [name] }] },
          ],
        },
      },
    },
  },
});
const ended = (name: string, on: string, phase: 'Failed' | 'Succeeded') =>
  daemon(name, on, 'new', { phase, readyAt: undefined });

describe('a DaemonSet', () => {
  const nothing = { create: [], remove: [], retryIn: undefined };

  it('gets a pod on each node that has none', () => {
    assert.deepEqual(changes(daemons(daemonSet(), ['n1', 'n2', 'n3'], daemon('a', 'n2'))), {
      ...nothing,
      create: ['n1', 'n3'],
    });
  });

  it('keeps one of several pods of a node, a bound one in preference to a waiting one, and then the oldest', () => {
    const young = { metadata: { creationTimestamp: at(5) } };
    const own = daemon('w', 'n1').metadata;
    const waiting = daemon('w', 'n1', 'new', { ...waitingFor('n1'), metadata: { creationTimestamp: at(0) } });
    const pods = [
      waiting,
      ...['b', 'a', 'y'].map((name) =>
        daemon(name, 'n1', 'new', name === 'y' ? { metadata: { ...own, name, ...young.metadata } } : {}),
      ),
    ];
    assert.deepEqual(changes(daemons(daemonSet(), ['n1'], ...pods)).remove, ['b', 'y', 'w']);
  });

  it('waits for a terminating pod, but not for an ended pod', () => {
    const { labels, ownerReferences } = daemon('a', 'n1').metadata;
    const metadata = { labels, ownerReferences, ...ending.metadata };
    assert.deepEqual(changes(daemons(daemonSet(), ['n1'], daemon('a', 'n1', 'new', { metadata }))), nothing);
    const gone = daemon('a', 'n1', 'new', { metadata, phase: 'Failed' });
    assert.deepEqual(changes(daemons(daemonSet(), ['n1'], gone)).create, ['n1']);
  });

  it('removes pods that a NoExecute taint excludes, and keeps pods that could only not be scheduled', () => {
    assert.deepEqual(changes(daemons(daemonSet(), [executed], daemon('a', 'n1'))).remove, ['a']);
    assert.deepEqual(changes(daemons(daemonSet(), [executed])), nothing);
    assert.deepEqual(changes(daemons(daemonSet(), [repelling], daemon('a', 'n1'))), nothing);
    assert.deepEqual(changes(daemons(daemonSet(), [repelling])), nothing);
  });

  it('removes pods that wait for a deleted node, and leaves bound pods to the pod garbage collector', () => {
    const pods = [daemon('lost', 'n9', 'new', waitingFor('n9')), daemon('there', 'n8')];
    assert.deepEqual(changes(daemons(daemonSet(), [], ...pods)).remove, ['lost']);
  });

  it('ignores a pod that waits for no particular node, and one that is being deleted', () => {
    const nowhere = daemon('a', 'n1', 'new', { spec: { nodeName: undefined } });
    const { labels, ownerReferences } = nowhere.metadata;
    const metadata = { labels, ownerReferences, ...ending.metadata };
    const going = daemon('b', 'n9', 'new', { ...waitingFor('n9'), metadata });
    assert.deepEqual(changes(daemons(daemonSet(), [], nowhere, going)), nothing);
  });

  it('keeps a running pod beside an older failed one', () => {
    const failed = ended('a', 'n1', 'Failed');
    assert.deepEqual(changes(daemons(daemonSet(), ['n1'], failed, daemon('b', 'n1'))).remove, ['a']);
    const waits = changes(daemons(daemonSet(), ['n1'], failed, daemon('b', 'n1')), { n1: 1 });
    assert.deepEqual(waits, { create: [], remove: [], retryIn: 1 });
  });

  it('removes ended pods, but failed pods only when they may be replaced', () => {
    const pods = [ended('f', 'n1', 'Failed'), ended('s', 'n2', 'Succeeded'), ended('g', 'n3', 'Failed')];
    const decided = daemons(daemonSet(), ['n1', 'n2', 'n3'], ...pods);
    assert.deepEqual(changes(decided, { n1: 700 }), { create: [], remove: ['g', 's'], retryIn: 700 });
    assert.deepEqual(changes(decided).remove, ['f', 'g', 's']);
    assert.deepEqual(changes(decided, { n1: 700, n3: 300 }), { create: [], remove: ['s'], retryIn: 300 });
  });

  it('keeps the oldest pod of a node if no pod may start before the old one is removed', () => {
    const later = daemon('n', 'n1', 'new', { readyAt: undefined, metadata: { creationTimestamp: at(5) } });
    const { labels, ownerReferences } = daemon('n', 'n1').metadata;
    const young = { ...later, metadata: { ...later.metadata, labels, ownerReferences } };
    assert.deepEqual(changes(daemons(daemonSet(), ['n1'], daemon('o', 'n1', 'old'), young)).remove, ['n']);
  });
});

describe('a DaemonSet that may have two pods on a node', () => {
  const set = daemonSet(surging(1));
  const removed = (...pods: Parameters<typeof daemons>[2][]) => changes(daemons(set, ['n1'], ...pods)).remove;
  const unready = { readyAt: undefined };

  it('gets a new pod on a node whose only pod terminates', () => {
    const { labels } = daemon('a', 'n1').metadata;
    const last = daemon('a', 'n1', 'new', { metadata: { labels, ...ending.metadata } });
    assert.deepEqual(changes(daemons(set, ['n1'], last)).create, ['n1']);
    assert.deepEqual(changes(daemons(set, [repelling], last)).create, []);
  });

  it('starts no pod beside a failed pod that has to stay for a while, because a pod that always fails would be recreated at once', () => {
    const failed = ended('f', 'n1', 'Failed');
    assert.deepEqual(changes(daemons(set, ['n1'], failed), { n1: 700 }), {
      create: [],
      remove: [],
      retryIn: 700,
    });
    assert.deepEqual(changes(daemons(set, ['n1'], failed)), {
      create: ['n1'],
      remove: ['f'],
      retryIn: undefined,
    });
    assert.deepEqual(changes(daemons(set, ['n1'], failed), { n1: 1 }).create, []);
    assert.deepEqual(changes(daemons(set, ['n1'], ended('s', 'n1', 'Succeeded'))).create, ['n1']);
    assert.deepEqual(
      changes(daemons(set, ['n1'], ended('s', 'n1', 'Succeeded'), failed), { n1: 1 }).create,
      [],
    );
    assert.deepEqual(changes(daemons(set, ['n1'], daemon('a', 'n1'))).create, [], 'one that runs is enough');
    assert.deepEqual(
      changes(daemons(set, ['n1']), { n1: 700 }).create,
      ['n1'],
      'a deleted pod is not awaited',
    );
  });

  it('keeps an old pod that is ready beside a new one that is not yet available', () => {
    assert.deepEqual(removed(daemon('o', 'n1', 'old'), daemon('n', 'n1', 'new', unready)), []);
    assert.deepEqual(removed(daemon('o', 'n1', 'old'), daemon('n', 'n1')), ['o']);
    assert.deepEqual(removed(daemon('o', 'n1', 'old', unready), daemon('n', 'n1', 'new', unready)), ['o']);
    const patient = daemonSet({ ...surging(1), minReadySeconds: 100 });
    const pods = [daemon('o', 'n1', 'old'), daemon('n', 'n1')];
    assert.deepEqual(changes(daemons(patient, ['n1'], ...pods)).remove, []);
    assert.deepEqual(removed(daemon('o', 'n1', 'old'), daemon('n', 'n1', 'new', { readyAt: 60 })), ['o']);
  });

  it('keeps one pod of each revision', () => {
    const pods = [
      daemon('o1', 'n1', 'old'),
      daemon('o2', 'n1', 'old'),
      daemon('n1', 'n1'),
      daemon('n2', 'n1'),
    ];
    assert.deepEqual(removed(...pods).sort(), ['n2', 'o1', 'o2']);
    assert.deepEqual(removed(daemon('o1', 'n1', 'old'), daemon('o2', 'n1', 'old')), ['o2']);
    assert.deepEqual(removed(daemon('n1', 'n1'), daemon('n2', 'n1')), ['n2']);
  });
});

describe('the status of a DaemonSet', () => {
  it('counts the nodes: desired, current, ready, available, updated and misscheduled', () => {
    const set = daemonSet({ minReadySeconds: 50 });
    const decided = daemons(
      set,
      ['n1', 'n2', 'n3', 'n4', node('n5', { taints: [{ key: 'a', effect: 'NoSchedule' }] })],
      daemon('a', 'n1'),
      daemon('b', 'n2', 'old', { readyAt: 20 }),
      daemon('c', 'n3', 'new', { readyAt: undefined }),
      daemon('e', 'n5'),
    );
    const bare = planStatus(daemons(set, [repelling])).status;
    assert.equal(bare.numberMisscheduled, 0, 'a node without a pod has none too many');
    const { status, changed, nextAvailableIn } = planStatus(decided);
    assert.deepEqual(status, {
      desiredNumberScheduled: 4,
      currentNumberScheduled: 3,
      numberReady: 2,
      numberAvailable: 1,
      numberUnavailable: 3,
      updatedNumberScheduled: 2,
      numberMisscheduled: 1,
      observedGeneration: 1,
    });
    assert.deepEqual([changed, nextAvailableIn], [true, 10_000]);
    assert.equal(planStatus({ ...decided, set: { ...set, status } }).changed, false);
  });

  it('is updated again when a new pod beside an old one becomes available, since nothing else happens then', () => {
    const set = daemonSet({ ...surging(1), minReadySeconds: 50 });
    const newer = { creationTimestamp: at(20), labels: daemon('n', 'n1').metadata.labels ?? {} };
    const beside = daemon('n', 'n1', 'new', { readyAt: 30, metadata: newer });
    const { status, nextAvailableIn } = planStatus(daemons(set, ['n1'], daemon('o', 'n1', 'old'), beside));
    assert.deepEqual([status.numberAvailable, nextAvailableIn], [1, 20_000]);
  });

  it('omits numberAvailable and numberUnavailable if they are 0', () => {
    const none = planStatus(daemons(daemonSet(), ['n1'], daemon('a', 'n1', 'new', { readyAt: undefined })));
    assert.deepEqual(
      ['numberAvailable' in JSON.parse(JSON.stringify(none.status)), none.status.numberUnavailable],
      [false, 1],
    );
    const told = JSON.parse(JSON.stringify(planStatus(daemons(daemonSet(), ['n1'])).status));
    assert.ok(!('updatedNumberScheduled' in told));
    const all = planStatus(daemons(daemonSet(), ['n1'], daemon('a', 'n1', 'new', { readyAt: 60 })));
    assert.deepEqual(
      [all.status.numberAvailable, 'numberUnavailable' in JSON.parse(JSON.stringify(all.status))],
      [1, false],
    );
  });

  it('keeps conditions of other writers, and the collision count', () => {
    const status = { ...planStatus(daemons(daemonSet(), [])).status, collisionCount: 2, conditions: [] };
    const { status: next } = planStatus(daemons({ ...daemonSet(), status }, ['n1']));
    assert.deepEqual([next.collisionCount, next.conditions, next.desiredNumberScheduled], [2, [], 1]);
  });
});
