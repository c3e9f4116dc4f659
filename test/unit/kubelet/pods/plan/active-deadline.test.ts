import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadlineIn } from '../../../../../src/kubelet/pods/plan/active-deadline.ts';
import { makePod, now, seconds } from '../../builders.ts';

const started = (secondsAgo: number) => ({ startTime: new Date(now - seconds(secondsAgo)).toISOString() });
const deleted = { deletionTimestamp: new Date(now).toISOString() };

for (const [what, pod, expected] of [
  ['a pod without a deadline has no remaining time', makePod({}, {}, started(40)), undefined],
  [
    'the time counts from the start of the pod',
    makePod({ activeDeadlineSeconds: 60 }, {}, started(40)),
    seconds(20),
  ],
  [
    'a pod that has not started has all of its deadline',
    makePod({ activeDeadlineSeconds: 60 }, {}, {}),
    seconds(60),
  ],
  ['a pod without a status has all of its deadline', makePod({ activeDeadlineSeconds: 60 }), seconds(60)],
  [
    'the deadline passes after exactly its seconds',
    makePod({ activeDeadlineSeconds: 60 }, {}, started(60)),
    0,
  ],
  [
    'the deadline has passed 40 s ago',
    makePod({ activeDeadlineSeconds: 60 }, {}, started(100)),
    seconds(-40),
  ],
  [
    'a pod that is being deleted has no deadline',
    makePod({ activeDeadlineSeconds: 60 }, deleted, started(100)),
    undefined,
  ],
] as const) {
  test(`a deadline: ${what}`, () => assert.equal(deadlineIn(pod, now), expected));
}
