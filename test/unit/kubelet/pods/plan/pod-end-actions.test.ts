/** Actions for a pod that ends, is deleted, or is no longer on the API server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { computeOrphanActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import {
  type ActionCase,
  actionCases,
  exited,
  makeContainer,
  makeMemory,
  makePod,
  makeSandbox,
  now,
  observed,
  seconds,
  short,
} from '../../builders.ts';

const side = { name: 'side', image: 'side:1' };
const two = [{ name: 'main', image: 'app:1' }, side];
const deleted = (grace: number) => ({
  deletionTimestamp: '2026-01-01T12:00:00Z',
  deletionGracePeriodSeconds: grace,
});

const cases: readonly ActionCase[] = [
  {
    name: 'a success ends a pod with OnFailure, and its sandbox is removed',
    pod: makePod({ restartPolicy: 'OnFailure' }),
    objects: [makeSandbox(), exited(0)],
    actions: ['removeSandbox sandbox-0'],
  },
  {
    name: 'a failure ends a pod with Never, and its sandbox is removed',
    pod: makePod({ restartPolicy: 'Never' }),
    objects: [makeSandbox(), exited(2)],
    actions: ['removeSandbox sandbox-0'],
  },
  {
    name: 'a pod that was reported as ended stays ended without sandbox and containers',
    pod: makePod({}, {}, { phase: 'Failed' }),
    actions: [],
  },
  {
    name: 'a running container of a pod that was reported as ended is terminated',
    pod: makePod({}, {}, { phase: 'Failed' }),
    objects: [makeSandbox(), makeContainer()],
    actions: ['terminate main main-0: the pod has ended'],
    requeueAfter: seconds(30),
  },
  {
    name: 'at the end of a pod the newest container of each name is kept for its log',
    pod: makePod({ restartPolicy: 'Never' }),
    objects: [makeSandbox(), exited(2), exited(2, { attempt: 1 }), exited(0, side)],
    actions: ['removeSandbox sandbox-0', 'removeContainer main-0'],
  },
  {
    name: 'deletion terminates all containers',
    pod: makePod({ containers: two }, deleted(5)),
    objects: [makeSandbox(), makeContainer(), makeContainer(side)],
    actions: ['terminate main main-0: the pod is deleted', 'terminate side side-0: the pod is deleted'],
    requeueAfter: seconds(5),
  },
  {
    name: 'deletion waits for the grace period',
    pod: makePod({}, deleted(5)),
    objects: [makeSandbox(), makeContainer()],
    memory: { stopping: new Map([['main-0', now - seconds(2)]]) },
    actions: [],
    requeueAfter: seconds(3),
  },
  {
    name: 'deletion waits for the last millisecond of the grace period',
    pod: makePod({}, deleted(5)),
    objects: [makeSandbox(), makeContainer()],
    memory: { stopping: new Map([['main-0', now - seconds(5) + 1]]) },
    actions: [],
    requeueAfter: 1,
  },
  {
    name: "deletion without a grace period uses that of the pod's spec",
    pod: makePod({ terminationGracePeriodSeconds: 7 }, { deletionTimestamp: '2026-01-01T12:00:00Z' }),
    objects: [makeSandbox(), makeContainer()],
    actions: ['terminate main main-0: the pod is deleted'],
    requeueAfter: seconds(7),
  },
  {
    name: 'deletion kills after the grace period, also if it was shortened meanwhile',
    pod: makePod({}, deleted(1)),
    objects: [makeSandbox(), makeContainer()],
    memory: { stopping: new Map([['main-0', now - seconds(2)]]) },
    actions: ['kill main main-0'],
  },
  {
    name: 'deletion with a grace period of 0 kills at once',
    pod: makePod({}, deleted(0)),
    objects: [makeSandbox(), makeContainer()],
    actions: ['kill main main-0'],
  },
  {
    name: 'deletion ends with everything removed and the object released',
    pod: makePod({}, deleted(5)),
    objects: [makeSandbox(), exited(0)],
    actions: ['removeContainer main-0', 'removeSandbox sandbox-0', 'removePodFiles', 'confirmDeletion'],
  },
  {
    name: 'deletion of a pod without sandbox and containers is confirmed at once',
    pod: makePod({}, deleted(5)),
    actions: ['removePodFiles', 'confirmDeletion'],
  },
  {
    name: 'deletion is confirmed once',
    pod: makePod({}, deleted(5)),
    memory: { reportedGone: true },
    actions: [],
  },
];

describe('a pod that ends', () => actionCases(cases));

describe('containers of a pod that the API server does not have', () => {
  const running = observed(makeSandbox(), makeContainer({ gracePeriodSeconds: 7 }));

  it('are stopped within the grace period recorded on the container', () => {
    const plan = computeOrphanActions(running, makeMemory(), now);
    assert.deepEqual(plan.actions.map(short), ['terminate main main-0: the pod is gone']);
    assert.equal(plan.requeueAfter, seconds(7));
  });

  it('are stopped within the grace period of the latest deletion', () => {
    const plan = computeOrphanActions(running, makeMemory(), now, 0);
    assert.deepEqual(plan.actions.map(short), ['kill main main-0']);
  });

  it('are removed with the sandbox and files once they have ended, and only once', () => {
    const seen = observed(makeSandbox(), exited(0));
    assert.deepEqual(computeOrphanActions(seen, makeMemory(), now).actions.map(short), [
      'removeContainer main-0',
      'removeSandbox sandbox-0',
      'removePodFiles',
    ]);
    assert.deepEqual(computeOrphanActions(observed(), makeMemory({ reportedGone: true }), now).actions, []);
  });

  it('keep the files of the pod while one of them runs', () => {
    const seen = observed(makeSandbox(), exited(0, side), makeContainer());
    const stopping = makeMemory({ stopping: new Map([['main-0', now]]) });
    assert.deepEqual(computeOrphanActions(seen, stopping, now).actions, []);
  });
});
