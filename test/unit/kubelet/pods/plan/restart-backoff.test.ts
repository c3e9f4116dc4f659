/** Backoff before a failed action is retried. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  crashesOf,
  nextFailure,
  restartAt,
  restartDelayMs,
} from '../../../../../src/kubelet/pods/plan/restart-backoff.ts';
import type { ContainerState } from '../../../../../src/kubelet/runtime/runtime.ts';
import { exited, now, seconds } from '../../builders.ts';

it('the back-off doubles from ten seconds to five minutes', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7, 1000].map(restartDelayMs), [
    0,
    ...[10, 20, 40, 80, 160, 300, 300, 300].map(seconds),
  ]);
});

describe('the back-off of a failed action', () => {
  it('grows for repeated failures with one reason, and starts again for another reason', () => {
    const waits: number[] = [];
    let last: ReturnType<typeof nextFailure> | undefined;
    for (const reason of ['ErrImagePull', 'ErrImagePull', 'ErrImagePull', 'CreateContainerError']) {
      last = nextFailure(last, reason, `${reason} happened`, now);
      waits.push(last.retryAt - now);
    }
    assert.deepEqual(waits, [10, 20, 40, 10].map(seconds));
    assert.deepEqual(last, {
      reason: 'CreateContainerError',
      message: 'CreateContainerError happened',
      count: 1,
      failedAt: now,
      retryAt: now + seconds(10),
    });
  });
});

describe('a container that has ended', () => {
  const ran = (ms: number, more: Partial<ContainerState> = {}) =>
    exited(1, { crashes: 3, createdAt: now - ms - 1, startedAt: now - ms, finishedAt: now, ...more });

  it('has no back-off after a run of ten minutes', () => {
    assert.equal(crashesOf(ran(seconds(600) - 1)), 3);
    assert.equal(crashesOf(ran(seconds(600))), 0);
  });

  it('keeps its back-off if the length of its run is unknown', () => {
    for (const unknown of [{ startedAt: undefined }, { finishedAt: undefined }]) {
      assert.equal(crashesOf(ran(seconds(6000), unknown)), 3);
    }
  });

  it('restarts after a back-off from its end, or from its creation if the end is unknown', () => {
    assert.equal(restartAt(ran(seconds(1))), now + seconds(40));
    assert.equal(restartAt(ran(seconds(1), { crashes: 0 })), now);
    const unknown = { finishedAt: undefined, createdAt: now - seconds(50) };
    assert.equal(restartAt(ran(seconds(1), unknown)), now - seconds(10));
  });
});
