/** Actions for a pod that is to run. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { computePodActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import type { ObservedPod } from '../../../../../src/kubelet/runtime/observed-pod.ts';
import {
  exited,
  failure,
  makeContainer,
  makeMemory,
  makePod,
  makeSandbox,
  now,
  observed,
  seconds,
  short,
} from '../../builders.ts';

interface Case {
  readonly name: string;
  readonly pod?: Pod;
  readonly observed?: ObservedPod;
  readonly memory?: PodMemory;
  /** Short form of each action. */
  readonly actions: readonly string[];
  readonly requeueAfter?: number;
}

const two = [
  { name: 'main', image: 'app:1' },
  { name: 'side', image: 'side:1' },
];
const side = { name: 'side', image: 'side:1' };

const cases: readonly Case[] = [
  { name: 'a new pod gets a sandbox first', actions: ['createSandbox 0'] },
  {
    name: 'a pod that asks for what is not supported gets none',
    pod: makePod({ hostUsers: false }),
    actions: [],
  },
  {
    name: 'nor does one with groups that the engine would add to',
    pod: makePod({ securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    actions: [],
  },
  {
    name: 'nor is its container started again, if an earlier agent started it',
    pod: makePod({ hostUsers: false }),
    observed: observed(makeSandbox(), exited(1)),
    actions: [],
  },
  {
    name: 'what an earlier agent started of it runs on',
    pod: makePod({ hostUsers: false }),
    observed: observed(makeSandbox(), makeContainer()),
    actions: [],
  },
  {
    name: 'then all its containers',
    pod: makePod({ containers: two }),
    observed: observed(makeSandbox()),
    actions: ['start main in sandbox-0 attempt 0 crashes 0', 'start side in sandbox-0 attempt 0 crashes 0'],
  },
  {
    name: 'what runs as it should is left alone',
    observed: observed(makeSandbox(), makeContainer()),
    actions: [],
  },
  {
    name: 'a container that ended starts again at once the first time',
    observed: observed(makeSandbox(), exited(1)),
    actions: ['start main in sandbox-0 attempt 1 crashes 1'],
  },
  {
    name: 'the second time after ten seconds',
    observed: observed(makeSandbox(), exited(1, { attempt: 1, crashes: 1, finishedAt: now - seconds(3) })),
    actions: [],
    requeueAfter: seconds(7),
  },
  {
    name: 'and then it does',
    observed: observed(makeSandbox(), exited(1, { attempt: 1, crashes: 1, finishedAt: now - seconds(10) })),
    actions: ['start main in sandbox-0 attempt 2 crashes 2'],
  },
  {
    name: 'to the millisecond',
    observed: observed(
      makeSandbox(),
      exited(1, { attempt: 1, crashes: 1, finishedAt: now - seconds(10) + 1 }),
    ),
    actions: [],
    requeueAfter: 1,
  },
  {
    name: 'of two that wait the first is waited for',
    pod: makePod({ containers: two }),
    observed: observed(
      makeSandbox(),
      exited(1, { crashes: 1, finishedAt: now - seconds(3) }),
      exited(1, { ...side, crashes: 1, finishedAt: now - seconds(4) }),
    ),
    actions: [],
    requeueAfter: seconds(6),
  },
  {
    name: 'never later than five minutes',
    observed: observed(makeSandbox(), exited(1, { attempt: 40, crashes: 40 })),
    actions: [],
    requeueAfter: seconds(300),
  },
  {
    name: 'a run of ten minutes is forgiven',
    observed: observed(makeSandbox(), exited(1, { attempt: 9, crashes: 9, startedAt: now - seconds(600) })),
    actions: ['start main in sandbox-0 attempt 10 crashes 1'],
  },
  {
    name: 'OnFailure: failure starts again',
    pod: makePod({ restartPolicy: 'OnFailure' }),
    observed: observed(makeSandbox(), exited(2)),
    actions: ['start main in sandbox-0 attempt 1 crashes 1'],
  },
  {
    name: 'OnFailure: one is done, the other runs',
    pod: makePod({ restartPolicy: 'OnFailure', containers: two }),
    observed: observed(makeSandbox(), exited(0), makeContainer(side)),
    actions: [],
  },
  {
    name: 'a new image: the old container is asked to stop',
    pod: makePod({ containers: [{ name: 'main', image: 'app:2' }] }),
    observed: observed(makeSandbox(), makeContainer()),
    actions: ['terminate main main-0: its definition changed'],
    requeueAfter: seconds(30),
  },
  {
    name: 'a new image: once the old one has ended the new one starts, whatever the policy and the back-off',
    pod: makePod({ restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:2' }] }),
    observed: observed(makeSandbox(), exited(143, { attempt: 3, crashes: 3 })),
    actions: ['start main in sandbox-0 attempt 4 crashes 0'],
  },
  {
    name: 'a sandbox that died: its containers end before the next is made',
    observed: observed(makeSandbox({ state: 'exited' }), makeContainer()),
    actions: ['removeSandbox sandbox-0', 'terminate main main-0: the sandbox of the container is gone'],
    requeueAfter: seconds(30),
  },
  {
    name: 'a sandbox that died with its containers is replaced',
    observed: observed(makeSandbox({ state: 'exited' }), exited(137)),
    actions: ['removeSandbox sandbox-0', 'createSandbox 1'],
  },
  {
    name: 'a sandbox that is gone altogether is replaced under a number of its own',
    observed: observed(exited(137)),
    actions: ['createSandbox 1'],
  },
  {
    name: 'a sandbox has a higher number than any before it',
    observed: observed(makeSandbox({ state: 'exited', attempt: 3 })),
    actions: ['removeSandbox sandbox-0', 'createSandbox 4'],
  },
  {
    name: 'a sandbox that died: none takes its place while one of its containers runs, though another has ended',
    pod: makePod({ containers: two }),
    observed: observed(makeSandbox({ state: 'exited' }), makeContainer(), exited(1, side)),
    actions: ['removeSandbox sandbox-0', 'terminate main main-0: the sandbox of the container is gone'],
    requeueAfter: seconds(30),
  },
  {
    name: 'of two sandboxes that run the older goes',
    observed: observed(
      makeSandbox(),
      makeSandbox({ id: 'sandbox-1', attempt: 1 }),
      makeContainer({ sandboxId: 'sandbox-1' }),
    ),
    actions: ['removeSandbox sandbox-0'],
  },
  {
    name: 'whichever is found first',
    observed: observed(
      makeSandbox({ id: 'sandbox-1', attempt: 1 }),
      makeSandbox(),
      makeContainer({ sandboxId: 'sandbox-1' }),
    ),
    actions: ['removeSandbox sandbox-0'],
  },
  {
    name: 'a sandbox that died is not replaced for containers that are not to start again',
    pod: makePod({ restartPolicy: 'Never', containers: two }),
    observed: observed(makeSandbox({ state: 'exited' }), exited(137), exited(137, side)),
    actions: ['removeSandbox sandbox-0'],
  },
  {
    name: 'a container of another sandbox is stopped',
    observed: observed(makeSandbox({ id: 'sandbox-1', attempt: 1 }), makeContainer()),
    actions: ['terminate main main-0: the sandbox of the container is gone'],
    requeueAfter: seconds(30),
  },
  {
    name: 'a container made and never started is made again under the same number',
    observed: observed(makeSandbox(), makeContainer({ state: 'created', attempt: 2 })),
    actions: ['removeContainer main-2', 'start main in sandbox-0 attempt 2 crashes 0'],
  },
  {
    name: 'of the dead the newest stays',
    observed: observed(makeSandbox(), makeContainer({ attempt: 2 }), exited(1, { attempt: 1 }), exited(1)),
    actions: ['removeContainer main-0'],
  },
  {
    name: 'whichever is found first, and of each name',
    pod: makePod({ containers: two }),
    observed: observed(
      makeSandbox(),
      exited(1),
      exited(1, { attempt: 1 }),
      makeContainer({ attempt: 2 }),
      exited(1, { ...side, attempt: 5 }),
      exited(1, { ...side, attempt: 4 }),
    ),
    actions: [
      'removeContainer main-0',
      'removeContainer side-4',
      'start side in sandbox-0 attempt 6 crashes 1',
    ],
  },
  {
    name: 'a container the pod does not have is stopped',
    observed: observed(makeSandbox(), makeContainer(), makeContainer(side)),
    actions: ['terminate side side-0: the pod does not have this container'],
    requeueAfter: seconds(30),
  },
  {
    name: 'a failed start is tried again in its time',
    observed: observed(makeSandbox()),
    memory: makeMemory({ startFailures: new Map([['main', failure('ErrImagePull', 4)]]) }),
    actions: [],
    requeueAfter: seconds(4),
  },
  {
    name: 'and then it is',
    observed: observed(makeSandbox()),
    memory: makeMemory({ startFailures: new Map([['main', failure('ErrImagePull', 0)]]) }),
    actions: ['start main in sandbox-0 attempt 0 crashes 0'],
  },
  {
    name: 'while it waits the others start',
    pod: makePod({ containers: two }),
    observed: observed(makeSandbox()),
    memory: makeMemory({ startFailures: new Map([['main', failure('ErrImagePull', 4)]]) }),
    actions: ['start side in sandbox-0 attempt 0 crashes 0'],
    requeueAfter: seconds(4),
  },
  {
    name: 'a failure of the definition before holds the new one back no longer',
    pod: makePod({ containers: [{ name: 'main', image: 'app:2' }] }),
    observed: observed(makeSandbox(), exited(1, { createdAt: now })),
    memory: makeMemory({ startFailures: new Map([['main', failure('ErrImagePull', 4)]]) }),
    actions: ['start main in sandbox-0 attempt 1 crashes 0'],
  },
  {
    name: 'nor one that was never made',
    pod: makePod({ containers: [{ name: 'main', image: 'app:2' }] }),
    observed: observed(makeSandbox()),
    memory: makeMemory({ startFailures: new Map([['main', failure('ErrImagePull', 4)]]) }),
    actions: ['start main in sandbox-0 attempt 0 crashes 0'],
  },
  {
    name: 'a failure of the new definition does',
    pod: makePod({ containers: [{ name: 'main', image: 'app:2' }] }),
    observed: observed(makeSandbox(), exited(1)),
    memory: makeMemory({
      startFailures: new Map([['main', failure('ErrImagePull', 4, 1, { name: 'main', image: 'app:2' })]]),
    }),
    actions: [],
    requeueAfter: seconds(4),
  },
  {
    name: 'a pod of whose end the API server knows gives its volumes back, and keeps what its containers said',
    pod: makePod({ restartPolicy: 'Never' }, {}, { phase: 'Failed' }),
    observed: observed(exited(1)),
    memory: makeMemory({ endIsKnown: true }),
    actions: ['removeVolumes'],
  },
  {
    name: 'and then rests',
    pod: makePod({ restartPolicy: 'Never' }, {}, { phase: 'Failed' }),
    observed: observed(exited(1)),
    memory: makeMemory({ endIsKnown: true, volumesRemoved: true }),
    actions: [],
  },
  {
    name: 'one that was evicted keeps nothing that takes room',
    pod: makePod({}, {}, { phase: 'Failed', reason: 'Evicted' }),
    observed: observed(makeSandbox(), exited(1)),
    memory: makeMemory({ endIsKnown: true }),
    actions: ['removeSandbox sandbox-0', 'removeContainer main-0', 'removeVolumes'],
  },
  {
    name: 'but not before the API server knows: a container that is gone would run again',
    pod: makePod({}, {}, { phase: 'Failed', reason: 'Evicted' }),
    observed: observed(exited(1)),
    actions: [],
  },
  {
    name: 'a failed sandbox is tried again in its time',
    memory: makeMemory({ sandboxFailure: failure('CreateContainerError', 9) }),
    actions: [],
    requeueAfter: seconds(9),
  },
  {
    name: 'and then it is made',
    memory: makeMemory({ sandboxFailure: failure('CreateContainerError', 0) }),
    actions: ['createSandbox 0'],
  },
  {
    name: 'a pod whose volumes failed starts nothing, though its sandbox is there',
    observed: observed(makeSandbox()),
    memory: makeMemory({ sandboxFailure: failure('CreateContainerError', 9) }),
    actions: [],
    requeueAfter: seconds(9),
  },
];

describe('computePodActions', () => {
  for (const {
    name,
    pod = makePod(),
    observed: seen = observed(),
    memory = makeMemory(),
    ...expected
  } of cases) {
    it(name, () => {
      const plan = computePodActions({ pod, observed: seen, memory, now });
      assert.deepEqual(plan.actions.map(short), expected.actions);
      assert.equal(plan.requeueAfter, expected.requeueAfter);
    });
  }
});
