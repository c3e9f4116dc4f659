/**
 * Rows of pod-status-table.test.ts: the state of a pod's containers, and its status in Kubernetes 1.33 until
 * its end.
 */
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import type { ContainerState, SandboxState } from '../../../../../src/kubelet/runtime/runtime.ts';
import { exited, failure, makeContainer, makeSandbox, now, seconds } from '../../builders.ts';

export interface Row {
  readonly spec?: object;
  readonly isDeleted?: boolean;
  /** Status that was reported before. */
  readonly before?: object;
  readonly found?: readonly (ContainerState | SandboxState)[];
  readonly memory?: Partial<PodMemory>;
  readonly told: readonly string[];
}

export const box = makeSandbox();
export const image = 'app:1';
export const step = { name: 'step', image };
const side = { name: 'side', image, restartPolicy: 'Always' };
export const ofStep = { name: 'step', stopTurn: undefined };
const ofSide = { name: 'side' };
export const never = { restartPolicy: 'Never' };
const onFailure = { restartPolicy: 'OnFailure' };
export const withStep = { initContainers: [step] };
const withSide = { initContainers: [side] };
const debug = { name: 'debug', image, targetContainerName: 'main' };
export const deadline = { reason: 'DeadlineExceeded', message: 'too long', disruption: false };
export const evicted = { reason: 'Evicted', message: 'no memory', disruption: true };
const probed = { containers: [{ name: 'main', image, startupProbe: { tcpSocket: { port: 1 } } }] };
export const runs = (name: string, more: object = {}) => ({
  ...{ name, image, imageID: 'docker://sha256:1', containerID: `docker://${name}-0`, ready: true },
  ...{ restartCount: 0, started: true, state: { running: {} }, lastState: {}, ...more },
});
const crashes = (more: object = {}) => exited(1, { crashes: 1, finishedAt: now - seconds(1), ...more });

export const good = ['sandbox True', 'Initialized True', 'Ready True', 'ContainersReady True'];
export const noSandbox = 'sandbox False';
const unready = (...names: readonly string[]) => {
  const why = `False ContainersNotReady: containers with unready status: [${names.join(' ')}]`;
  return [`Ready ${why}`, `ContainersReady ${why}`];
};
export const over = (reason: string) => [`Ready False ${reason}`, `ContainersReady False ${reason}`];
const incomplete = (name: string) =>
  `Initialized False ContainersNotInitialized: containers with incomplete status: [${name}]`;
export const completed = 'Initialized True PodCompleted';

export const rows: Readonly<Record<string, Row>> = {
  // Starting.
  'the pod was just bound': {
    told: ['Pending', noSandbox, 'Initialized True', ...unready('main'), 'main waits ContainerCreating'],
  },
  'the pod has only a sandbox': {
    found: [box],
    told: ['Pending', 'sandbox True', 'Initialized True', ...unready('main'), 'main waits ContainerCreating'],
  },
  'its container was created and not started': {
    found: [box, makeContainer({ state: 'created' })],
    told: ['Pending', 'sandbox True', 'Initialized True', ...unready('main'), 'main waits ContainerCreating'],
  },
  'its container runs': {
    found: [box, makeContainer()],
    told: ['Running', ...good, 'main runs ready started'],
  },
  'its container runs and its startup probe has not succeeded': {
    spec: probed,
    found: [box, makeContainer()],
    told: ['Running', 'sandbox True', 'Initialized True', ...unready('main'), 'main runs'],
  },
  'the image of its container cannot be pulled': {
    found: [box],
    memory: { startFailures: new Map([['main', failure('ErrImagePull', 10)]]) },
    told: ['Pending', 'sandbox True', 'Initialized True', ...unready('main'), 'main waits ErrImagePull'],
  },

  // Containers are listed by name, init containers in their order.
  'it has several containers and init containers': {
    spec: {
      containers: [
        { name: 'z', image },
        { name: 'a', image },
      ],
      initContainers: [
        { name: 'y', image },
        { name: 'b', image },
      ],
    },
    found: [box],
    told: [
      'Pending',
      'sandbox True',
      'Initialized False ContainersNotInitialized: containers with incomplete status: [y b]',
      ...unready('z', 'a'),
      'y waits PodInitializing',
      'b waits PodInitializing',
      'a waits PodInitializing',
      'z waits PodInitializing',
    ],
  },

  // Ends and restarts.
  'its container has succeeded, with Always': {
    found: [box, exited(0)],
    told: ['Running', 'sandbox True', 'Initialized True', ...unready('main'), 'main ended 0 Completed'],
  },
  'its container crashes, with Always': {
    found: [box, crashes()],
    told: [
      'Running',
      'sandbox True',
      'Initialized True',
      ...unready('main'),
      'main waits CrashLoopBackOff last 1 Error',
    ],
  },
  'its container crashes, with OnFailure': {
    spec: onFailure,
    found: [box, crashes()],
    told: [
      'Running',
      'sandbox True',
      'Initialized True',
      ...unready('main'),
      'main waits CrashLoopBackOff last 1 Error',
    ],
  },
  'its container has failed, with Never': {
    spec: never,
    found: [box, crashes()],
    told: ['Failed', 'sandbox True', 'Initialized True', ...over('PodFailed'), 'main ended 1 Error'],
  },
  'its container has succeeded, with OnFailure': {
    spec: onFailure,
    found: [box, exited(0)],
    told: ['Succeeded', 'sandbox True', completed, ...over('PodCompleted'), 'main ended 0 Completed'],
  },
  'its container has succeeded, with Never': {
    spec: never,
    found: [exited(0)],
    told: ['Succeeded', noSandbox, completed, ...over('PodCompleted'), 'main ended 0 Completed'],
  },
  'its container was killed for lack of memory, with Never': {
    spec: never,
    found: [exited(137, { oomKilled: true })],
    told: ['Failed', noSandbox, 'Initialized True', ...over('PodFailed'), 'main ended 137 OOMKilled'],
  },
  'its container runs again after a failure': {
    found: [box, makeContainer({ attempt: 1 }), exited(2)],
    told: ['Running', ...good, 'main runs ready started restarts 1 last 2 Error'],
  },

  // Missing containers, and restarts of the agent.
  'its container was running and is missing': {
    before: { phase: 'Running', containerStatuses: [runs('main')] },
    found: [box],
    told: [
      'Running',
      'sandbox True',
      'Initialized True',
      ...unready('main'),
      'main waits ContainerCreating restarts 1 last 137 ContainerStatusUnknown',
    ],
  },
  'its container was running after an init container and is missing': {
    spec: withStep,
    before: {
      phase: 'Running',
      containerStatuses: [runs('main')],
      initContainerStatuses: [
        runs('step', { started: false, state: { terminated: { exitCode: 0, reason: 'Completed' } } }),
      ],
    },
    found: [box],
    told: [
      'Running',
      'sandbox True',
      'Initialized True',
      ...unready('main'),
      'step ended 0 Completed ready',
      'main waits PodInitializing restarts 1 last 137 ContainerStatusUnknown',
    ],
  },
  'the agent restarts after the end was reported': {
    spec: never,
    before: {
      phase: 'Running',
      containerStatuses: [
        runs('main', {
          ready: false,
          started: false,
          state: { terminated: { exitCode: 3, reason: 'Error' } },
        }),
      ],
    },
    told: ['Failed', noSandbox, 'Initialized True', ...over('PodFailed'), 'main ended 3 Error'],
  },
  'the agent restarts while the container runs': {
    before: { phase: 'Running', containerStatuses: [runs('main')] },
    found: [box, makeContainer()],
    told: ['Running', ...good, 'main runs ready started'],
  },
  'the node was unreachable and its pods were marked as not ready': {
    before: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [runs('main')],
    },
    found: [box, makeContainer()],
    told: ['Running', ...good, 'main runs ready started'],
  },
  'its phase changes, which drops the earlier reason': {
    before: { phase: 'Pending', reason: 'Odd', message: 'm' },
    found: [box, makeContainer()],
    told: ['Running', ...good, 'main runs ready started'],
  },
  'its phase is unchanged, which keeps the earlier reason': {
    before: { phase: 'Running', reason: 'Odd', message: 'm' },
    found: [box, makeContainer()],
    told: ['Running Odd: m', ...good, 'main runs ready started'],
  },

  // Init containers.
  'an init container runs': {
    spec: withStep,
    found: [box, makeContainer(ofStep)],
    told: [
      'Pending',
      'sandbox True',
      incomplete('step'),
      ...unready('main'),
      'step runs started',
      'main waits PodInitializing',
    ],
  },
  'the last init container has succeeded': {
    spec: withStep,
    found: [box, exited(0, ofStep)],
    told: [
      'Pending',
      'sandbox True',
      'Initialized True',
      ...unready('main'),
      'step ended 0 Completed ready',
      'main waits PodInitializing',
    ],
  },
  'an init container crashes, with Always': {
    spec: withStep,
    found: [box, crashes(ofStep)],
    told: [
      'Pending',
      'sandbox True',
      incomplete('step'),
      ...unready('main'),
      'step waits CrashLoopBackOff last 1 Error',
      'main waits PodInitializing',
    ],
  },
  'an init container has failed, with Never': {
    spec: { ...withStep, ...never },
    found: [box, exited(1, ofStep)],
    told: [
      'Failed',
      'sandbox True',
      incomplete('step'),
      ...over('PodFailed'),
      'step ended 1 Error',
      'main waits PodInitializing',
    ],
  },
  'an init container begins again in a new sandbox': {
    spec: withStep,
    found: [box, makeContainer({ ...ofStep, attempt: 1 }), exited(0, ofStep), exited(137)],
    told: [
      'Pending',
      'sandbox True',
      'Initialized True',
      ...unready('main'),
      'step runs started restarts 1 last 0 Completed',
      'main ended 137 Error',
    ],
  },

  // Sidecars.
  'a sidecar runs and the container was not started': {
    spec: withSide,
    found: [box, makeContainer(ofSide)],
    told: [
      'Pending',
      'sandbox True',
      'Initialized True',
      ...unready('main'),
      'side runs ready started',
      'main waits PodInitializing',
    ],
  },
  'a sidecar and the container run': {
    spec: withSide,
    found: [box, makeContainer(ofSide), makeContainer()],
    told: ['Running', ...good, 'side runs ready started', 'main runs ready started'],
  },
  'a sidecar crashes beside the container': {
    spec: withSide,
    found: [box, crashes(ofSide), makeContainer()],
    told: [
      'Running',
      'sandbox True',
      'Initialized True',
      ...unready('side'),
      'side waits CrashLoopBackOff last 1 Error',
      'main runs ready started',
    ],
  },
  'a sidecar has succeeded and starts again': {
    spec: withSide,
    found: [box, exited(0, { ...ofSide, crashes: 1, finishedAt: now - seconds(1) }), makeContainer()],
    told: [
      'Running',
      'sandbox True',
      'Initialized True',
      ...unready('side'),
      'side ended 0 Completed',
      'main runs ready started',
    ],
  },
  'a sidecar still runs after the container has succeeded, with Never': {
    spec: { ...withSide, ...never },
    found: [box, makeContainer(ofSide), exited(0)],
    told: [
      'Running',
      'sandbox True',
      'Initialized True',
      ...unready('main'),
      'side runs ready started',
      'main ended 0 Completed',
    ],
  },
  'a sidecar was killed after the container had succeeded, with Never': {
    spec: { ...withSide, ...never },
    found: [exited(137, ofSide), exited(0)],
    told: [
      'Succeeded',
      noSandbox,
      completed,
      ...over('PodCompleted'),
      'side ended 137 Error',
      'main ended 0 Completed',
    ],
  },
  'an init container after a sidecar has failed, with Never': {
    spec: { initContainers: [side, step], ...never },
    found: [box, makeContainer(ofSide), exited(1, ofStep)],
    told: [
      'Pending',
      'sandbox True',
      incomplete('step'),
      ...unready('main'),
      'side runs ready started',
      'step ended 1 Error',
      'main waits PodInitializing',
    ],
  },

  // Ephemeral containers have no effect.
  'an ephemeral container runs': {
    spec: { ephemeralContainers: [debug] },
    found: [box, makeContainer(), makeContainer({ name: 'debug' })],
    told: ['Running', ...good, 'main runs ready started', 'debug runs'],
  },
  'an ephemeral container has failed': {
    spec: { ephemeralContainers: [debug] },
    found: [box, makeContainer(), exited(1, { name: 'debug' })],
    told: ['Running', ...good, 'main runs ready started', 'debug ended 1 Error'],
  },
  'an ephemeral container still runs after the container has succeeded, with Never': {
    spec: { ephemeralContainers: [debug], ...never },
    found: [box, exited(0), makeContainer({ name: 'debug' })],
    told: [
      'Succeeded',
      'sandbox True',
      completed,
      ...over('PodCompleted'),
      'main ended 0 Completed',
      'debug runs',
    ],
  },
};
