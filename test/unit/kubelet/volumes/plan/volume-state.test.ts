/** Tests when a pod's volumes are mounted, refreshed and retried, and when the pod waits for them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { computePodActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import {
  failedAttempt,
  planVolumes,
  type VolumeAttempt,
  type VolumeState,
  volumeState,
} from '../../../../../src/kubelet/volumes/plan/volume-state.ts';
import { makeContainer, makeMemory, makePod, makeSandbox, now, observed, short } from '../../builders.ts';

const mounted: VolumeAttempt = { basis: 'a', isMounted: true, renewAt: undefined, failure: undefined };
const state = (more: Partial<VolumeState> = {}): VolumeState => ({
  name: 'v',
  isMounted: true,
  isDue: false,
  dueAt: undefined,
  ...more,
});

describe('a volume', () => {
  for (const [title, attempt, basis, expected] of [
    ['is due before the first attempt', undefined, 'a', { isMounted: false, isDue: true }],
    ['is mounted and not due while its content is current', mounted, 'a', {}],
    ['is due when its source has changed', mounted, 'b', { isDue: true }],
    ['is not due before a token must be renewed', { ...mounted, renewAt: now + 1 }, 'a', { dueAt: now + 1 }],
    ['is due when the renewal time of a token has come', { ...mounted, renewAt: now }, 'a', { isDue: true }],
    [
      'is due 500 ms after a failure',
      failedAttempt(undefined, 'a', false, now),
      'a',
      { isMounted: false, dueAt: now + 500 },
    ],
    [
      'stays mounted when its refresh failed',
      failedAttempt(mounted, 'a', true, now),
      'a',
      { dueAt: now + 500 },
    ],
    [
      'is due when 500 ms have passed since a failure',
      failedAttempt(undefined, 'a', false, now - 500),
      'a',
      { isMounted: false, isDue: true },
    ],
    [
      'is due at once when its source has changed since a failure',
      failedAttempt(undefined, 'a', false, now),
      'b',
      { isMounted: false, isDue: true },
    ],
  ] as const) {
    it(title, () => assert.deepEqual(volumeState('v', attempt, basis, now), state(expected)));
  }

  it('is retried at growing intervals, which begin anew when its source changes', () => {
    let attempt = failedAttempt(undefined, 'a', false, now);
    const waits: number[] = [];
    for (let count = 0; count < 10; count++) {
      waits.push((attempt.failure?.retryAt ?? 0) - now);
      attempt = failedAttempt(attempt, 'a', false, now);
    }
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 122_000, 122_000]);
    assert.equal(failedAttempt(attempt, 'b', false, now).failure?.retryAt, now + 500);
  });
});

describe('the volumes of a pod', () => {
  it('are planned again when the first is due, in a minute at the latest', () => {
    const plan = (...states: VolumeState[]) => planVolumes(states, now);
    assert.deepEqual(plan(), { mount: false, isReady: true, wakeIn: undefined });
    assert.equal(plan(state(), state({ dueAt: now + 9 }), state({ dueAt: now + 5 })).wakeIn, 5);
    assert.equal(plan(state({ dueAt: now + 3_600_000 })).wakeIn, 60_000);
    assert.deepEqual(plan(state({ isDue: true }), state({ isMounted: false })), {
      mount: true,
      isReady: false,
      wakeIn: undefined,
    });
  });

  const actions = (volumes: readonly VolumeState[], found = observed(), pod = makePod()) => {
    const plan = computePodActions({ pod, observed: found, memory: makeMemory({ volumes }), now });
    return [plan.actions.map(short), plan.requeueAfter];
  };

  it('are mounted before the sandbox of the pod is created', () => {
    assert.deepEqual(actions([state({ isMounted: false, isDue: true })]), [['mountVolumes'], undefined]);
    assert.deepEqual(actions([state({ isMounted: false, dueAt: now + 7 }), state()]), [[], 7]);
    assert.deepEqual(actions([state()]), [['createSandbox 0'], undefined]);
  });
  it('are refreshed while the pod runs, and while its containers start', () => {
    const due = [state({ isDue: true })];
    assert.deepEqual(actions(due, observed(makeSandbox(), makeContainer())), [['mountVolumes'], undefined]);
    assert.deepEqual(actions(due, observed(makeSandbox())), [
      ['mountVolumes', 'start main in sandbox-0 attempt 0 crashes 0'],
      undefined,
    ]);
  });
  it('are not mounted when the pod terminates or this node does not support one of its fields', () => {
    const due = [state({ isMounted: false, isDue: true })];
    const deleted = makePod({}, { deletionTimestamp: '2026-01-01T12:00:00Z', deletionGracePeriodSeconds: 0 });
    assert.deepEqual(actions(due, observed(), deleted)[0], ['removePodFiles', 'confirmDeletion']);
    const held = makePod({ volumes: [{ name: 'v', csi: { driver: 'd' } }] });
    assert.deepEqual(actions(due, observed(), held), [[], undefined]);
  });
});
