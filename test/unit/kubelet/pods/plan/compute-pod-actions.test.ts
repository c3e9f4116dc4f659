/** Actions for a pod that is to run. */
import { describe } from 'node:test';
import {
  type ActionCase,
  actionCases,
  exited,
  failure,
  makeContainer,
  makePod,
  makeSandbox,
  now,
  seconds,
} from '../../builders.ts';

const two = [
  { name: 'main', image: 'app:1' },
  { name: 'side', image: 'side:1' },
];
const side = { name: 'side', image: 'side:1' };

const cases: readonly ActionCase[] = [
  { name: 'a new pod gets a sandbox first', actions: ['createSandbox 0'] },
  {
    name: 'a pod with an unsupported field gets no sandbox',
    pod: makePod({ hostUsers: false }),
    actions: [],
  },
  {
    name: 'a pod with supplementalGroupsPolicy Strict gets no sandbox',
    pod: makePod({ securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    actions: [],
  },
  {
    name: 'a container of a pod with an unsupported field is not restarted',
    pod: makePod({ hostUsers: false }),
    objects: [makeSandbox(), exited(1)],
    actions: [],
  },
  {
    name: 'a running container of a pod with an unsupported field is left alone',
    pod: makePod({ hostUsers: false }),
    objects: [makeSandbox(), makeContainer()],
    actions: [],
  },
  {
    name: 'all containers start once the sandbox runs',
    pod: makePod({ containers: two }),
    objects: [makeSandbox()],
    actions: ['start main in sandbox-0 attempt 0 crashes 0', 'start side in sandbox-0 attempt 0 crashes 0'],
  },
  {
    name: 'a running container is left alone',
    objects: [makeSandbox(), makeContainer()],
    actions: [],
  },
  {
    name: 'a container that ended starts again at once the first time',
    objects: [makeSandbox(), exited(1)],
    actions: ['start main in sandbox-0 attempt 1 crashes 1'],
  },
  {
    name: 'a second restart waits until ten seconds after the end',
    objects: [makeSandbox(), exited(1, { attempt: 1, crashes: 1, finishedAt: now - seconds(3) })],
    actions: [],
    requeueAfter: seconds(7),
  },
  {
    name: 'a second restart happens ten seconds after the end',
    objects: [makeSandbox(), exited(1, { attempt: 1, crashes: 1, finishedAt: now - seconds(10) })],
    actions: ['start main in sandbox-0 attempt 2 crashes 2'],
  },
  {
    name: 'a second restart waits for the last millisecond of the ten seconds',
    objects: [makeSandbox(), exited(1, { attempt: 1, crashes: 1, finishedAt: now - seconds(10) + 1 })],
    actions: [],
    requeueAfter: 1,
  },
  {
    name: 'the requeue time is that of the container whose back-off ends first',
    pod: makePod({ containers: two }),
    objects: [
      makeSandbox(),
      exited(1, { crashes: 1, finishedAt: now - seconds(3) }),
      exited(1, { ...side, crashes: 1, finishedAt: now - seconds(4) }),
    ],
    actions: [],
    requeueAfter: seconds(6),
  },
  {
    name: 'the back-off of restarts is at most five minutes',
    objects: [makeSandbox(), exited(1, { attempt: 40, crashes: 40 })],
    actions: [],
    requeueAfter: seconds(300),
  },
  {
    name: 'a run of ten minutes resets the back-off',
    objects: [makeSandbox(), exited(1, { attempt: 9, crashes: 9, startedAt: now - seconds(600) })],
    actions: ['start main in sandbox-0 attempt 10 crashes 1'],
  },
  {
    name: 'a container that failed is restarted with the restart policy OnFailure',
    pod: makePod({ restartPolicy: 'OnFailure' }),
    objects: [makeSandbox(), exited(2)],
    actions: ['start main in sandbox-0 attempt 1 crashes 1'],
  },
  {
    name: 'a container that succeeded is not restarted with OnFailure while another runs',
    pod: makePod({ restartPolicy: 'OnFailure', containers: two }),
    objects: [makeSandbox(), exited(0), makeContainer(side)],
    actions: [],
  },
  {
    name: 'a container whose image changed is terminated',
    pod: makePod({ containers: [{ name: 'main', image: 'app:2' }] }),
    objects: [makeSandbox(), makeContainer()],
    actions: ['terminate main main-0: its definition changed'],
    requeueAfter: seconds(30),
  },
  {
    name: 'a container with a new image starts once the old one has ended, for any restart policy and back-off',
    pod: makePod({ restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:2' }] }),
    objects: [makeSandbox(), exited(143, { attempt: 3, crashes: 3 })],
    actions: ['start main in sandbox-0 attempt 4 crashes 0'],
  },
  {
    name: 'the containers of a dead sandbox are terminated before the next sandbox is created',
    objects: [makeSandbox({ state: 'exited' }), makeContainer()],
    actions: ['removeSandbox sandbox-0', 'terminate main main-0: the sandbox of the container is gone'],
    requeueAfter: seconds(30),
  },
  {
    name: 'a sandbox that died with its containers is replaced',
    objects: [makeSandbox({ state: 'exited' }), exited(137)],
    actions: ['removeSandbox sandbox-0', 'createSandbox 1'],
  },
  {
    name: 'a sandbox that no longer exists is replaced by one with the next number',
    objects: [exited(137)],
    actions: ['createSandbox 1'],
  },
  {
    name: 'a sandbox has a higher number than any before it',
    objects: [makeSandbox({ state: 'exited', attempt: 3 })],
    actions: ['removeSandbox sandbox-0', 'createSandbox 4'],
  },
  {
    name: 'a dead sandbox is not replaced while one of its containers runs, even if another has ended',
    pod: makePod({ containers: two }),
    objects: [makeSandbox({ state: 'exited' }), makeContainer(), exited(1, side)],
    actions: ['removeSandbox sandbox-0', 'terminate main main-0: the sandbox of the container is gone'],
    requeueAfter: seconds(30),
  },
  {
    name: 'of two running sandboxes the older is removed',
    objects: [
      makeSandbox(),
      makeSandbox({ id: 'sandbox-1', attempt: 1 }),
      makeContainer({ sandboxId: 'sandbox-1' }),
    ],
    actions: ['removeSandbox sandbox-0'],
  },
  {
    name: 'the older sandbox is removed whichever is listed first',
    objects: [
      makeSandbox({ id: 'sandbox-1', attempt: 1 }),
      makeSandbox(),
      makeContainer({ sandboxId: 'sandbox-1' }),
    ],
    actions: ['removeSandbox sandbox-0'],
  },
  {
    name: 'a dead sandbox is not replaced if no container is to be restarted',
    pod: makePod({ restartPolicy: 'Never', containers: two }),
    objects: [makeSandbox({ state: 'exited' }), exited(137), exited(137, side)],
    actions: ['removeSandbox sandbox-0'],
  },
  {
    name: 'a container of another sandbox is terminated',
    objects: [makeSandbox({ id: 'sandbox-1', attempt: 1 }), makeContainer()],
    actions: ['terminate main main-0: the sandbox of the container is gone'],
    requeueAfter: seconds(30),
  },
  {
    name: 'a container that was created and never started is created again with the same number',
    objects: [makeSandbox(), makeContainer({ state: 'created', attempt: 2 })],
    actions: ['removeContainer main-2', 'start main in sandbox-0 attempt 2 crashes 0'],
  },
  {
    name: 'all ended containers except the newest are removed',
    objects: [makeSandbox(), makeContainer({ attempt: 2 }), exited(1, { attempt: 1 }), exited(1)],
    actions: ['removeContainer main-0'],
  },
  {
    name: 'the newest ended container of each name is kept whichever is listed first',
    pod: makePod({ containers: two }),
    objects: [
      makeSandbox(),
      exited(1),
      exited(1, { attempt: 1 }),
      makeContainer({ attempt: 2 }),
      exited(1, { ...side, attempt: 5 }),
      exited(1, { ...side, attempt: 4 }),
    ],
    actions: [
      'removeContainer main-0',
      'removeContainer side-4',
      'start side in sandbox-0 attempt 6 crashes 1',
    ],
  },
  {
    name: 'a container that the pod does not have is terminated',
    objects: [makeSandbox(), makeContainer(), makeContainer(side)],
    actions: ['terminate side side-0: the pod does not have this container'],
    requeueAfter: seconds(30),
  },
  {
    name: 'a failed start waits for its retry time',
    objects: [makeSandbox()],
    memory: { startFailures: new Map([['main', failure('ErrImagePull', 4)]]) },
    actions: [],
    requeueAfter: seconds(4),
  },
  {
    name: 'a failed start is retried at its retry time',
    objects: [makeSandbox()],
    memory: { startFailures: new Map([['main', failure('ErrImagePull', 0)]]) },
    actions: ['start main in sandbox-0 attempt 0 crashes 0'],
  },
  {
    name: 'the other containers start while a failed start waits',
    pod: makePod({ containers: two }),
    objects: [makeSandbox()],
    memory: { startFailures: new Map([['main', failure('ErrImagePull', 4)]]) },
    actions: ['start side in sandbox-0 attempt 0 crashes 0'],
    requeueAfter: seconds(4),
  },
  {
    name: 'a failed start of the previous definition does not delay a container with a new image',
    pod: makePod({ containers: [{ name: 'main', image: 'app:2' }] }),
    objects: [makeSandbox(), exited(1, { createdAt: now })],
    memory: { startFailures: new Map([['main', failure('ErrImagePull', 4)]]) },
    actions: ['start main in sandbox-0 attempt 1 crashes 0'],
  },
  {
    name: 'a failed start of the previous definition does not delay a container that never existed',
    pod: makePod({ containers: [{ name: 'main', image: 'app:2' }] }),
    objects: [makeSandbox()],
    memory: { startFailures: new Map([['main', failure('ErrImagePull', 4)]]) },
    actions: ['start main in sandbox-0 attempt 0 crashes 0'],
  },
  {
    name: 'a failed start of the new definition delays the container',
    pod: makePod({ containers: [{ name: 'main', image: 'app:2' }] }),
    objects: [makeSandbox(), exited(1)],
    memory: {
      startFailures: new Map([['main', failure('ErrImagePull', 4, 1, { name: 'main', image: 'app:2' })]]),
    },
    actions: [],
    requeueAfter: seconds(4),
  },
  {
    name: 'a pod whose end the API server has stored loses its volumes and keeps its containers',
    pod: makePod({ restartPolicy: 'Never' }, {}, { phase: 'Failed' }),
    objects: [exited(1)],
    memory: { endIsKnown: true },
    actions: ['removeVolumes'],
  },
  {
    name: 'an ended pod without volumes has no further actions',
    pod: makePod({ restartPolicy: 'Never' }, {}, { phase: 'Failed' }),
    objects: [exited(1)],
    memory: { endIsKnown: true, volumesRemoved: true },
    actions: [],
  },
  {
    name: 'an evicted pod loses its sandbox, containers and volumes',
    pod: makePod({}, {}, { phase: 'Failed', reason: 'Evicted' }),
    objects: [makeSandbox(), exited(1)],
    memory: { endIsKnown: true },
    actions: ['removeSandbox sandbox-0', 'removeContainer main-0', 'removeVolumes'],
  },
  {
    name: 'an evicted pod keeps its containers until the API server has stored its end',
    pod: makePod({}, {}, { phase: 'Failed', reason: 'Evicted' }),
    objects: [exited(1)],
    actions: [],
  },
  {
    name: 'a failed sandbox waits for its retry time',
    memory: { sandboxFailure: failure('CreateContainerError', 9) },
    actions: [],
    requeueAfter: seconds(9),
  },
  {
    name: 'a failed sandbox is retried at its retry time',
    memory: { sandboxFailure: failure('CreateContainerError', 0) },
    actions: ['createSandbox 0'],
  },
  {
    name: 'a pod whose volumes failed starts no container in its running sandbox',
    objects: [makeSandbox()],
    memory: { sandboxFailure: failure('CreateContainerError', 9) },
    actions: [],
    requeueAfter: seconds(9),
  },
];

describe('computePodActions', () => actionCases(cases));
