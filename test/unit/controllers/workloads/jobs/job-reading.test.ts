/**
 * Facts that a Job reads from its pods: the time of their end, their index, and the matching rule of its
 * policies.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from '../../../../../src/api/batch/v1/job.ts';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { ContainerStatus } from '../../../../../src/api/core/v1/types.gen.ts';
import {
  backoffAfter,
  noBackoff,
  remainingBackoff,
} from '../../../../../src/controllers/workloads/jobs/backoff-plan.ts';
import { failureVerdict } from '../../../../../src/controllers/workloads/jobs/failure-policy-plan.ts';
import {
  firstOutside,
  formatIndexSet,
  includes,
  indexSetOf,
  parseIndexSet,
  sizeOf,
  sizeOfShared,
  union,
} from '../../../../../src/controllers/workloads/jobs/index-set-plan.ts';
import {
  endingInConditions,
  withJobCondition,
} from '../../../../../src/controllers/workloads/jobs/job-conditions-plan.ts';
import {
  finishedAt,
  hasFailed,
  writtenIndexOf,
} from '../../../../../src/controllers/workloads/jobs/job-pods-plan.ts';
import { metSuccessRule } from '../../../../../src/controllers/workloads/jobs/success-policy-plan.ts';
import { at, start } from '../../objects.ts';
import { job, jobPod } from './job-world.ts';

const container = (name: string, endedAt?: number, exitCode = 0): ContainerStatus => ({
  name,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  ...(endedAt !== undefined && { state: { terminated: { exitCode, finishedAt: at(endedAt) } } }),
});
const pod = (
  status: Pod['status'],
  metadata: Partial<Pod['metadata']> = {},
  spec: Partial<Pod['spec']> = {},
): Pod => {
  const one = jobPod('a', { metadata });
  return { ...one, spec: { ...one.spec, ...spec }, status };
};

describe('a pod ended', () => {
  const notReady = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: at(7) }];
  const ready = [{ type: 'Ready', status: 'True' as const, lastTransitionTime: at(7) }];
  const deleted = { deletionTimestamp: at(30), deletionGracePeriodSeconds: 10 };
  const sidecar = { initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }] } as never;
  const cases: [what: string, ended: Pod, seconds: number][] = [
    [
      'with its last container',
      pod({ containerStatuses: [container('x', 5), container('y', 9), container('z', 6)] }),
      9,
    ],
    [
      'when it became unready, if a container has no end time',
      pod({ containerStatuses: [container('x', 5), container('y')], conditions: notReady }),
      7,
    ],
    [
      'with its sidecar',
      pod(
        {
          containerStatuses: [container('x', 5)],
          initContainerStatuses: [container('s', 8), container('i', 99)],
        },
        {},
        sidecar,
      ),
      8,
    ],
    [
      'not while its sidecar runs',
      pod(
        {
          containerStatuses: [container('x', 5)],
          initContainerStatuses: [container('s')],
          conditions: notReady,
        },
        {},
        sidecar,
      ),
      7,
    ],
    ['when its deletion was asked for', pod({ conditions: ready }, deleted), 20],
    ['when it was created, without any other time', pod(undefined, { creationTimestamp: at(3) }), 3],
    [
      'when it was created, with invalid times only',
      pod(
        { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: 'x' }] },
        { creationTimestamp: at(3) },
      ),
      3,
    ],
  ];
  for (const [what, ended, seconds] of cases)
    it(what, () => {
      assert.equal(finishedAt(ended), start + seconds * 1000);
    });
});

describe('a pod has failed', () => {
  const deletionTimestamp = at(0);
  const policy: Partial<Job['spec']> = {
    podFailurePolicy: { rules: [] },
    podReplacementPolicy: 'TerminatingOrFailed',
  };
  const cases: [what: string, one: Pod, of: Job, failed: boolean][] = [
    ['in the phase Failed', pod({ phase: 'Failed' }), job(), true],
    ['not while it runs', pod({ phase: 'Running' }), job(), false],
    ['when it is deleted', pod({ phase: 'Running' }, { deletionTimestamp }), job(), true],
    ['not when it has succeeded before', pod({ phase: 'Succeeded' }, { deletionTimestamp }), job(), false],
    [
      'not while it terminates, with podReplacementPolicy Failed',
      pod({ phase: 'Running' }, { deletionTimestamp }),
      job({ podReplacementPolicy: 'Failed' }),
      false,
    ],
    [
      'not while it terminates, with a podFailurePolicy',
      pod({ phase: 'Running' }, { deletionTimestamp }),
      job(policy),
      false,
    ],
  ];
  for (const [what, one, of, failed] of cases)
    it(what, () => {
      assert.equal(hasFailed(one, of), failed);
    });
});

describe('an index', () => {
  for (const [text, index] of [
    ['0', 0],
    ['+7', 7],
    ['007', 7],
    ['-1', undefined],
    ['1.5', undefined],
    ['', undefined],
    [' 1', undefined],
    ['1'.repeat(40), undefined],
  ] as const)
    it(`${JSON.stringify(text)} is ${index}`, () => {
      assert.equal(
        writtenIndexOf(
          jobPod('a', { metadata: { annotations: { 'batch.kubernetes.io/job-completion-index': text } } }),
        ),
        index,
      );
    });
});

describe('a set of indexes', () => {
  const parse = (text: string) => parseIndexSet(text, 100);
  it('is written with intervals of at least three indexes', () => {
    assert.equal(formatIndexSet(indexSetOf([10, 2, 3, 2, 0, 5, 6, 7])), '0,2,3,5-7,10');
    assert.equal(formatIndexSet(parse('1,2,3-5,9')), '1-5,9');
    assert.equal(formatIndexSet(parseIndexSet('0-3,5-9,11', 7)), '0-3,5,6');
  });

  it('agrees with sets of numbers', () => {
    const sets = ['', '0', '0-5', '1,3,5', '2-4,8', '4-9', '9'].map(parse);
    const numbers = (set: (typeof sets)[number]) =>
      Array.from({ length: 12 }, (_, index) => index).filter((index) => includes(set, index));
    for (const a of sets) {
      assert.equal(sizeOf(a), numbers(a).length);
      const outside = Array.from({ length: 10 }, (_, index) => index).filter((index) => !includes(a, index));
      for (const count of [0, 1, 3, 20])
        assert.deepEqual(firstOutside(a, count, 10), outside.slice(0, count));
      for (const b of sets) {
        const [left, right] = [new Set(numbers(a)), new Set(numbers(b))];
        assert.deepEqual(new Set(numbers(union(a, b))), left.union(right));
        assert.equal(sizeOfShared(a, b), left.intersection(right).size);
      }
    }
  });
});

describe('the back-off', () => {
  const ended = (...seconds: number[]) =>
    seconds.map((second) => pod({ containerStatuses: [container('x', second)] }));
  const after = (succeeded: number[], failed: number[], before = noBackoff) =>
    backoffAfter(before, ended(...succeeded), ended(...failed));
  const last = (seconds: number) => start + seconds * 1000;

  it('counts the failures after the last success', () => {
    assert.deepEqual(after([], [3, 9, 5]), { failures: 3, lastFailure: last(9) });
    assert.deepEqual(after([5, 2], [3, 9, 5, 8]), { failures: 2, lastFailure: last(9) });
    assert.deepEqual(after([9], [3]), noBackoff);
    const before = { failures: 2, lastFailure: last(1) };
    assert.deepEqual(after([], [], before), before);
    assert.deepEqual(after([], [4], before), { failures: 3, lastFailure: last(4) });
    assert.deepEqual(after([3], [4], before), { failures: 1, lastFailure: last(4) });
  });

  it('doubles to ten minutes', () => {
    const waits = [0, 1, 2, 3, 6, 7, 8, 99].map(
      (failures) => remainingBackoff({ failures, lastFailure: 0 }, 0) / 1000,
    );
    assert.deepEqual(waits, [0, 10, 20, 40, 320, 600, 600, 600]);
    assert.equal(remainingBackoff({ failures: 1, lastFailure: 0 }, 9_000), 1_000);
    assert.equal(remainingBackoff({ failures: 1, lastFailure: 0 }, 99_000), 0);
  });
});

describe('policies', () => {
  const rules = (onExitCodes: object) =>
    ({ podFailurePolicy: { rules: [{ action: 'FailJob' as const, onExitCodes }] } }) as Partial<Job['spec']>;
  it('include init containers, after the other containers', () => {
    const failed = pod({
      containerStatuses: [container('x'), container('y', 1, 3)],
      initContainerStatuses: [container('i', 1, 4)],
    });
    const message = (values: number[]) =>
      failureVerdict(job(rules({ operator: 'In', values })), failed)?.message;
    assert.match(message([4]) ?? '', /^Container i for pod default\/a failed with exit code 4 /);
    assert.match(message([3, 4]) ?? '', /^Container y /);
    assert.equal(message([5]), undefined);
  });

  it('match a condition by type and status', () => {
    const onPodConditions = [{ type: 'A', status: 'False' as const }, { type: 'B' }];
    const of = job({ podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions }] } });
    const verdict = (type: string, status: 'True' | 'False') =>
      failureVerdict(of, pod({ conditions: [{ type, status }] }))?.action;
    assert.deepEqual(
      [
        verdict('A', 'False'),
        verdict('A', 'True'),
        verdict('B', 'True'),
        verdict('B', 'False'),
        verdict('C', 'True'),
      ],
      ['Ignore', undefined, 'Ignore', undefined, undefined],
    );
  });

  it('of success require succeeded pods, and existing indexes', () => {
    const met = (all: NonNullable<Job['spec']['successPolicy']>['rules'], succeeded: number[]) =>
      metSuccessRule(
        job({ completions: 5, ...(all && { successPolicy: { rules: all } }) }),
        indexSetOf(succeeded),
      );
    assert.equal(met([{ succeededCount: 0 }], []), undefined);
    assert.equal(met([{ succeededIndexes: '7-9' }], [1]), undefined);
    assert.equal(met([{ succeededIndexes: '7-9', succeededCount: 0 }], [1]), undefined);
    assert.equal(met([{ succeededIndexes: '0-2', succeededCount: 2 }], [0, 2]), 0);
    assert.equal(met(undefined, [1]), undefined);
  });

  it('keep the recorded result, even without a reason', () => {
    const said = (type: string, status: 'True' | 'False' = 'True') => endingInConditions([{ type, status }]);
    const silent = { reason: '', message: '' };
    assert.deepEqual(said('FailureTarget'), { type: 'Failed', ...silent });
    assert.deepEqual(said('SuccessCriteriaMet'), { type: 'Complete', ...silent });
    assert.equal(said('FailureTarget', 'False'), undefined);
    assert.equal(said('Failed'), undefined);
  });

  it('change conditions only if they differ', () => {
    const one = {
      type: 'Suspended',
      status: 'True' as const,
      reason: 'r',
      message: 'm',
      lastTransitionTime: at(0),
    };
    const list = [one];
    assert.equal(withJobCondition(list, { ...one, lastTransitionTime: at(9) }), list);
    for (const other of [{ status: 'False' as const }, { reason: 's' }, { message: 'n' }])
      assert.deepEqual(withJobCondition(list, { ...one, ...other }), [{ ...one, ...other }]);
    assert.equal(withJobCondition(list, { ...one, type: 'Failed' }).length, 2);
  });
});
