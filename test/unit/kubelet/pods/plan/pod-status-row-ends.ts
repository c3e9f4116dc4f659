/** Rows of pod-status-table.test.ts: the status of a pod at its end. */
import { exited, makeContainer } from '../../builders.ts';
import {
  box,
  completed,
  deadline,
  evicted,
  good,
  image,
  never,
  noSandbox,
  ofStep,
  over,
  type Row,
  runs,
  step,
  withStep,
} from './pod-status-rows.ts';

export const rowsOfEnds: Readonly<Record<string, Row>> = {
  // Deleted pods: nothing starts again with any restart policy.
  'the pod is deleted and still runs': {
    isDeleted: true,
    found: [box, makeContainer()],
    told: ['Running', ...good, 'main runs ready started'],
  },
  'the pod is deleted and its container has succeeded, with Always': {
    isDeleted: true,
    before: { phase: 'Running', containerStatuses: [runs('main')] },
    found: [box, exited(0)],
    told: ['Succeeded', 'sandbox True', completed, ...over('PodCompleted'), 'main ended 0 Completed'],
  },
  'the pod is deleted and its container was killed, with Always': {
    isDeleted: true,
    before: { phase: 'Running', containerStatuses: [runs('main')] },
    found: [exited(137)],
    told: ['Failed', noSandbox, 'Initialized True', ...over('PodFailed'), 'main ended 137 Error'],
  },
  'the pod is deleted before anything was started': {
    isDeleted: true,
    before: { phase: 'Pending' },
    told: [
      'Failed',
      noSandbox,
      'Initialized True',
      ...over('PodFailed'),
      'main ended 137 ContainerStatusUnknown',
    ],
  },
  'the pod is deleted and the exit of its container is unknown': {
    isDeleted: true,
    before: { phase: 'Running', containerStatuses: [runs('main')] },
    told: [
      'Failed',
      noSandbox,
      'Initialized True',
      ...over('PodFailed'),
      'main ended 137 ContainerStatusUnknown last 137 ContainerStatusUnknown',
    ],
  },
  'the pod is deleted while its container waits for its restart': {
    isDeleted: true,
    before: {
      phase: 'Running',
      containerStatuses: [
        runs('main', {
          ready: false,
          started: false,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 1, reason: 'Error' } },
        }),
      ],
    },
    told: [
      'Failed',
      noSandbox,
      'Initialized True',
      ...over('PodFailed'),
      'main ended 137 ContainerStatusUnknown last 1 Error',
    ],
  },
  'the pod is deleted while its first init container waits': {
    isDeleted: true,
    spec: { initContainers: [step, { name: 'next', image }] },
    told: [
      'Failed',
      noSandbox,
      'Initialized False ContainersNotInitialized: containers with incomplete status: [step next]',
      ...over('PodFailed'),
      'step ended 137 ContainerStatusUnknown',
      'next waits PodInitializing',
      'main waits PodInitializing',
    ],
  },
  'the pod is deleted after its last init container has ended': {
    isDeleted: true,
    spec: withStep,
    found: [exited(0, ofStep)],
    told: [
      'Failed',
      noSandbox,
      'Initialized True',
      ...over('PodFailed'),
      'step ended 0 Completed ready',
      'main ended 137 ContainerStatusUnknown',
    ],
  },
  'the pod is deleted after its end': {
    isDeleted: true,
    spec: never,
    before: {
      phase: 'Succeeded',
      containerStatuses: [
        runs('main', {
          ready: false,
          started: false,
          state: { terminated: { exitCode: 0, reason: 'Completed' } },
        }),
      ],
    },
    told: ['Succeeded', noSandbox, completed, ...over('PodCompleted'), 'main ended 0 Completed'],
  },
  'the pod is deleted after the node rejected it': {
    isDeleted: true,
    before: { phase: 'Failed', reason: 'NodeAffinity', message: 'm' },
    told: ['Failed NodeAffinity: m', noSandbox, 'Initialized True', ...over('PodFailed')],
  },

  // Pods that the node ends.
  'the deadline of the pod has passed and it still runs': {
    found: [box, makeContainer()],
    memory: { end: deadline },
    told: ['Running', 'sandbox True', 'Initialized True', ...over('PodFailed'), 'main runs ready started'],
  },
  'the deadline of the pod has passed and its container has ended': {
    found: [box, exited(0)],
    memory: { end: deadline },
    told: [
      'Failed DeadlineExceeded: too long',
      'sandbox True',
      'Initialized True',
      ...over('PodFailed'),
      'main ended 0 Completed',
    ],
  },
  'the pod is evicted and still runs': {
    found: [box, makeContainer()],
    memory: { end: evicted },
    told: ['Running', 'sandbox True', 'Initialized True', ...over('PodFailed'), 'main runs ready started'],
  },
  'the pod is evicted and its container has ended': {
    found: [exited(137)],
    memory: { end: evicted },
    told: [
      'Failed Evicted: no memory',
      'DisruptionTarget True TerminationByKubelet: no memory',
      noSandbox,
      'Initialized True',
      ...over('PodFailed'),
      'main ended 137 Error',
    ],
  },
  'the pod was evicted and the agent restarts': {
    before: {
      ...{ phase: 'Failed', reason: 'Evicted', message: 'no memory' },
      conditions: [
        { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message: 'no memory' },
      ],
    },
    found: [exited(137)],
    told: [
      'Failed Evicted: no memory',
      'DisruptionTarget True TerminationByKubelet: no memory',
      noSandbox,
      'Initialized True',
      ...over('PodFailed'),
      'main ended 137 Error',
    ],
  },
  'the node rejects the pod': {
    memory: { end: { reason: 'OutOfcpu', message: 'm', disruption: false } },
    told: ['Failed OutOfcpu: m', noSandbox, 'Initialized True', ...over('PodFailed')],
  },
};
