import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadlineIn } from '../../../../../src/kubelet/pods/plan/active-deadline.ts';
import { makePod, now, seconds } from '../../builders.ts';

const started = (secondsAgo: number) => ({ startTime: new Date(now - seconds(secondsAgo)).toISOString() });
const deleted = { deletionTimestamp: new Date(now).toISOString() };

for (const [what, pod, expected] of [
  ['a pod without a deadline may run for any time', makePod({}, {}, started(40)), undefined],
  [
    'a deadline counts from the start of the pod',
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
    'a deadline of 60 s passes exactly 60 s after the start',
    makePod({ activeDeadlineSeconds: 60 }, {}, started(60)),
    0,
  ],
  [
    'a deadline of 60 s has been over for 40 s when 100 s have passed',
    makePod({ activeDeadlineSeconds: 60 }, {}, started(100)),
    seconds(-40),
  ],
  [
    'a pod that is being deleted has no deadline',
    makePod({ activeDeadlineSeconds: 60 }, deleted, started(100)),
    undefined,
  ],
] as const) {
  test(what, () => assert.equal(deadlineIn(pod, now), expected));
}
