/** Status of one container, and the fields that are kept from its previous status. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { ContainerStatus } from '../../../../../src/api/core/v1/types.gen.ts';
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import {
  computeContainerStatus,
  computeInitStatus,
} from '../../../../../src/kubelet/pods/plan/container-status.ts';
import type { ContainerState } from '../../../../../src/kubelet/runtime/runtime.ts';
import { exited, failure, makeContainer, makeMemory, makePod, now, seconds } from '../../builders.ts';

function statusOf(pod: Pod, containers: readonly ContainerState[] = [], memory: Partial<PodMemory> = {}) {
  const [wanted] = pod.spec.containers;
  assert.ok(wanted);
  const isLeaving = pod.metadata.deletionTimestamp !== undefined || memory.end !== undefined;
  return computeContainerStatus({ pod, wanted, containers, memory: makeMemory(memory), isLeaving, now });
}

const initStatuses = (pod: Pod, containers: readonly ContainerState[] = [], isLeaving = false) =>
  (pod.spec.initContainers ?? []).map((wanted) =>
    computeInitStatus({
      pod,
      wanted,
      containers: containers.filter(({ name }) => name === wanted.name),
      memory: makeMemory(),
      isLeaving,
      now,
    }),
  );

const reported = (more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: 'main',
  image: 'app:1',
  imageID: 'docker://sha256:0',
  containerID: 'docker://main-old',
  ready: true,
  started: true,
  restartCount: 4,
  state: { running: { startedAt: '2026-01-01T11:00:00Z' } },
  lastState: {},
  ...more,
});
const podWith = (status: ContainerStatus, spec: object = {}, metadata: object = {}) =>
  makePod(spec, metadata, { containerStatuses: [status] });
const leaving = { deletionTimestamp: '2026-01-01T12:00:00Z' };
const end = { reason: 'Evicted', message: 'm', disruption: true };

describe('a container that runs', () => {
  it('is ready, with the ids of the running container and its image', () => {
    assert.deepEqual(statusOf(makePod(), [makeContainer()]), {
      name: 'main',
      image: 'app:1',
      imageID: 'docker://sha256:1',
      containerID: 'docker://main-0',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: '2026-01-01T11:59:11Z' } },
      lastState: {},
    });
  });

  it('has the current time as its start if the engine reports none', () => {
    const { state } = statusOf(makePod(), [makeContainer({ startedAt: undefined })]);
    assert.deepEqual(state, { running: { startedAt: '2026-01-01T12:00:00Z' } });
  });

  it('has the restart count of its attempt, and never a lower one than before', () => {
    const again = [makeContainer({ attempt: 2 }), exited(1, { attempt: 1 })];
    assert.equal(statusOf(makePod(), again).restartCount, 2);
    assert.equal(statusOf(makePod(), again).lastState?.terminated?.containerID, 'docker://main-1');
    assert.equal(statusOf(podWith(reported()), again).restartCount, 4);
  });

  it('keeps its recorded last termination after the container is removed', () => {
    const lastState = { terminated: { exitCode: 9, reason: 'Error' } };
    assert.deepEqual(statusOf(podWith(reported({ lastState })), [makeContainer()]).lastState, lastState);
  });
});

describe('a container without an observed state', () => {
  it('is waiting as ContainerCreating, without an image ID', () => {
    const status = statusOf(makePod());
    assert.deepEqual(status.state, { waiting: { reason: 'ContainerCreating' } });
    assert.deepEqual(
      [status.imageID, status.restartCount, status.ready, status.started],
      ['', 0, false, false],
    );
    assert.ok(!('containerID' in status));
  });

  it('keeps the recorded state of the previous container', () => {
    const waits = reported({ state: { waiting: { reason: 'ContainerCreating' } } });
    const { imageID, containerID, restartCount, state } = statusOf(podWith(waits));
    assert.deepEqual([imageID, containerID, restartCount], ['docker://sha256:0', 'docker://main-old', 4]);
    assert.deepEqual(state, { waiting: { reason: 'ContainerCreating' } });
  });

  it('counts as restarted after an end of unknown status if it was running', () => {
    const { restartCount, state, lastState } = statusOf(podWith(reported()));
    assert.deepEqual([restartCount, state], [5, { waiting: { reason: 'ContainerCreating' } }]);
    assert.deepEqual(lastState?.terminated, {
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      message:
        'The container could not be located when the pod was deleted.  The container used to be Running',
      containerID: 'docker://main-old',
    });
    assert.equal(statusOf(podWith(reported(), {}, leaving)).restartCount, 4);
    const known = { terminated: { exitCode: 9 } };
    assert.deepEqual(statusOf(podWith(reported({ lastState: known }))).lastState, known);
  });

  it('keeps its recorded terminated state', () => {
    const state = { terminated: { exitCode: 3, reason: 'Error' } };
    assert.deepEqual(statusOf(podWith(reported({ state }))).state, state);
    assert.deepEqual(statusOf(podWith(reported({ state }), {}, leaving)).state, state);
  });

  it('has ended with an unknown status if it was running and the pod is deleted', () => {
    const gone = {
      terminated: {
        exitCode: 137,
        reason: 'ContainerStatusUnknown',
        message: statusOf(podWith(reported(), {}, leaving)).state?.terminated?.message,
        containerID: 'docker://main-old',
      },
    };
    assert.match(gone.terminated.message ?? '', /could not be located/);
    assert.deepEqual(statusOf(podWith(reported(), {}, leaving)).state, gone);
    assert.deepEqual(statusOf(podWith(reported()), [], { end }).state, gone);
    const unnamed = statusOf(podWith(reported({ containerID: undefined }), {}, leaving)).state?.terminated;
    assert.ok(unnamed && !('containerID' in unnamed));
  });

  it('waits for the condition that prevents the start of its pod, unless the pod terminates', () => {
    const held = (metadata: object = {}) => makePod({ hostUsers: false }, metadata);
    assert.equal(statusOf(held()).state?.waiting?.reason, 'NotSupported');
    const waiting = { waiting: { reason: 'ContainerCreating' } };
    assert.deepEqual(statusOf(held(leaving)).state, waiting);
    assert.deepEqual(statusOf(held(), [], { end }).state, waiting);
    assert.deepEqual(statusOf(held(leaving), [makeContainer({ state: 'created' })]).state, waiting);
  });

  it('keeps waiting if it was waiting and the pod is deleted', () => {
    const waiting = reported({ state: { waiting: { reason: 'ErrImagePull' } } });
    assert.deepEqual(statusOf(podWith(waiting, {}, leaving)).state, {
      waiting: { reason: 'ContainerCreating' },
    });
  });
});

describe('a container that could not be started', () => {
  const stateAfter = (reason: Parameters<typeof failure>[0], retryIn: number, count: number) =>
    statusOf(makePod(), [], { startFailures: new Map([['main', failure(reason, retryIn, count)]]) }).state;
  const own = (reason: string) => ({ waiting: { reason, message: `${reason} happened` } });

  it('waits with the reason of the failure', () => {
    assert.deepEqual(stateAfter('CreateContainerError', 10, 3), own('CreateContainerError'));
    assert.deepEqual(stateAfter('ErrImagePull', 10, 1), own('ErrImagePull'));
  });

  it('waits with the reason of the back-off after a second failed pull, until the next pull', () => {
    assert.deepEqual(stateAfter('ErrImagePull', 10, 2), {
      waiting: {
        reason: 'ImagePullBackOff',
        message: 'Back-off pulling image "app:1": ErrImagePull: ErrImagePull happened',
      },
    });
    assert.deepEqual(stateAfter('ErrImagePull', 0, 2), own('ErrImagePull'));
  });

  it('names the image that is missing if it is not its own', () => {
    const missing = { ...failure('ErrImagePull', 10, 2), image: 'tools:1' };
    const { state } = statusOf(makePod(), [], { startFailures: new Map([['main', missing]]) });
    assert.equal(
      state?.waiting?.message,
      'Back-off pulling image "tools:1": ErrImagePull: ErrImagePull happened',
    );
  });

  it('loses the reason of the failure when the pod terminates', () => {
    const startFailures = new Map([['main', failure('ErrImagePull', 10)]]);
    const waiting = { waiting: { reason: 'ContainerCreating' } };
    assert.deepEqual(statusOf(makePod({}, leaving), [], { startFailures }).state, waiting);
    assert.deepEqual(statusOf(makePod(), [], { startFailures, end }).state, waiting);
  });
});

describe('a container that has ended', () => {
  const stopped = { finishedAt: now - seconds(1) };

  it('is reported with its times, its id and its message', () => {
    const { state, lastState, ready } = statusOf(makePod({ restartPolicy: 'Never' }), [exited(3, stopped)], {
      terminationMessages: new Map([['main-0', 'last words']]),
    });
    assert.deepEqual(state, {
      terminated: {
        exitCode: 3,
        reason: 'Error',
        message: 'last words',
        startedAt: '2026-01-01T11:59:11Z',
        finishedAt: '2026-01-01T11:59:59Z',
        containerID: 'docker://main-0',
      },
    });
    assert.deepEqual([lastState, ready], [{}, false]);
  });

  it('is reported as observed, for any earlier status', () => {
    const one = [exited(3, { attempt: 1, ...stopped })];
    const never = { restartPolicy: 'Never' };
    const before = reported({ state: { terminated: { exitCode: 7, reason: 'Error' } } });
    assert.equal(statusOf(podWith(before, never), one).state?.terminated?.exitCode, 3);
    assert.equal(statusOf(podWith(reported(), never, leaving), one).state?.terminated?.exitCode, 3);
    assert.equal(statusOf(podWith(reported(), never), one, { end }).state?.terminated?.exitCode, 3);
  });

  it('has the error of the engine as its message, else its own message', () => {
    const messageOf = (error: string) =>
      statusOf(makePod({ restartPolicy: 'Never' }), [exited(3, { error, ...stopped })], {
        terminationMessages: new Map([['main-0', 'last words']]),
      }).state?.terminated?.message;
    assert.equal(messageOf('no such device'), 'no such device');
    assert.equal(messageOf(''), 'last words');
  });

  it('has the time of its creation if other times are unknown, and no message if the container wrote none', () => {
    const never = { startedAt: undefined, finishedAt: undefined };
    const { terminated } = statusOf(makePod({ restartPolicy: 'Never' }), [exited(0, never)]).state ?? {};
    assert.deepEqual(terminated, {
      exitCode: 0,
      reason: 'Completed',
      startedAt: '2026-01-01T11:59:10Z',
      finishedAt: '2026-01-01T11:59:10Z',
      containerID: 'docker://main-0',
    });
  });

  it('has the end of its predecessor as its last state', () => {
    const two = [exited(3, { attempt: 1, ...stopped }), exited(5)];
    const { state, lastState } = statusOf(makePod({ restartPolicy: 'Never' }), two);
    assert.deepEqual([state?.terminated?.exitCode, lastState?.terminated?.exitCode], [3, 5]);
  });

  for (const [what, container, message, reason] of [
    ['a kill for lack of memory', { exitCode: 137, oomKilled: true }, '', 'OOMKilled'],
    [
      'a start that failed in the engine',
      { exitCode: 128, error: 'no', startedAt: undefined },
      '',
      'ContainerCannotRun',
    ],
    ['an error of the engine after the start', { exitCode: 128, error: 'no' }, '', 'Error'],
    ['no start and no error of the engine', { exitCode: 1, startedAt: undefined }, '', 'Error'],
    ['a program that does not exist', { exitCode: 127 }, 'exec: "x": not found', 'ContainerCannotRun'],
    ['a program that cannot be executed', { exitCode: 126 }, 'exec: "x": denied', 'ContainerCannotRun'],
    ['a shell that did not find a program', { exitCode: 127 }, 'x: not found', 'Error'],
    ['another exit code with such a message', { exitCode: 1 }, 'exec: "x": denied', 'Error'],
    ['a successful end', { exitCode: 0 }, '', 'Completed'],
  ] as const) {
    it(`has the reason ${reason} after ${what}`, () => {
      const terminationMessages = new Map([['main-0', message]]);
      const one = exited(container.exitCode, { ...stopped, ...container });
      const { state } = statusOf(makePod({ restartPolicy: 'Never' }), [one], { terminationMessages });
      assert.equal(state?.terminated?.reason, reason);
    });
  }

  it('is waiting as CrashLoopBackOff, with the length of the back-off, until its restart is due', () => {
    const crashed = (finishedAgo: number, crashes: number) => [
      exited(1, { crashes, finishedAt: now - seconds(finishedAgo) }),
    ];
    const { state, lastState } = statusOf(makePod(), crashed(1, 2));
    assert.deepEqual(state, {
      waiting: {
        reason: 'CrashLoopBackOff',
        message: 'back-off 20s restarting failed container=main pod=web_shop(uid-1)',
      },
    });
    assert.equal(lastState?.terminated?.exitCode, 1);
    assert.equal(statusOf(makePod(), crashed(20, 2)).state?.terminated?.exitCode, 1);
    assert.equal(statusOf(makePod(), crashed(19, 2)).state?.waiting?.reason, 'CrashLoopBackOff');
  });

  it('is terminated if it is not restarted', () => {
    const one = [exited(0, { crashes: 2, ...stopped })];
    assert.equal(statusOf(makePod({ restartPolicy: 'OnFailure' }), one).state?.terminated?.exitCode, 0);
    assert.equal(statusOf(makePod({}, leaving), one).state?.terminated?.exitCode, 0);
    assert.equal(statusOf(makePod(), one, { end }).state?.terminated?.exitCode, 0);
  });

  it('is waiting as ContainerCreating after a change of its definition, unless the pod is deleted', () => {
    const other = [exited(3, { specHash: 'other', ...stopped })];
    assert.deepEqual(statusOf(makePod({ restartPolicy: 'Never' }), other).state, {
      waiting: { reason: 'ContainerCreating' },
    });
    assert.equal(
      statusOf(makePod({ restartPolicy: 'Never' }, leaving), other).state?.terminated?.exitCode,
      3,
    );
  });
});

describe('a pod with init containers', () => {
  const list = [
    { name: 'first', image: 'init:1' },
    { name: 'second', image: 'init:2' },
  ];
  const pod = makePod({ initContainers: list });
  const first = { name: 'first', image: 'init:1', stopTurn: undefined };

  it('has all other containers wait as PodInitializing, with the reason in its first init container', () => {
    const init = { waiting: { reason: 'PodInitializing' } };
    assert.deepEqual(statusOf(pod).state, init);
    const held = initStatuses(makePod({ initContainers: list, hostUsers: false }));
    assert.deepEqual(held[0]?.state?.waiting?.reason, 'NotSupported');
    const [, second] = held;
    assert.deepEqual(second, {
      name: 'second',
      image: 'init:2',
      imageID: '',
      ready: false,
      started: false,
      restartCount: 0,
      state: init,
      lastState: {},
    });
    assert.deepEqual(statusOf({ ...pod, metadata: { ...pod.metadata, ...leaving } }).state, init);
    const one = makePod({ initContainers: [{ name: 'first', image: 'init:1' }] });
    assert.deepEqual(statusOf(one).state, init);
    assert.deepEqual(statusOf({ ...one, metadata: { ...one.metadata, ...leaving } }).state, init);
  });

  it('has each init container ready when it has succeeded, and started while it runs', () => {
    const said = (container: ContainerState, of = pod) => {
      const [status] = initStatuses(of, [container]);
      return [status?.ready, status?.started, Object.keys(status?.state ?? {})[0]];
    };
    assert.deepEqual(said(makeContainer(first)), [false, true, 'running']);
    assert.deepEqual(said(exited(0, first)), [true, false, 'terminated']);
    // The container starts again at once the first time, and later after a pause.
    assert.deepEqual(said(exited(1, first)), [false, false, 'terminated']);
    assert.deepEqual(said(exited(1, { ...first, crashes: 1 })), [false, false, 'waiting']);
    assert.deepEqual(said(exited(0, { ...first, oomKilled: true })), [false, false, 'terminated']);
    const never = makePod({ restartPolicy: 'Never', initContainers: list });
    assert.deepEqual(said(exited(1, { ...first, crashes: 1 }), never), [false, false, 'terminated']);
    // A new image does not undo a successful end.
    assert.deepEqual(said(exited(0, { ...first, image: 'init:0' })), [true, false, 'terminated']);
    assert.deepEqual(said(exited(1, { ...first, image: 'init:0' })), [false, false, 'waiting']);
  });

  it('has a sidecar that is ready while it runs, in back-off after a failure, and terminated after a success', () => {
    const sidecar = makePod({
      restartPolicy: 'Never',
      initContainers: [{ ...list[0], restartPolicy: 'Always' }],
    });
    const [runs] = initStatuses(sidecar, [makeContainer(first)]);
    assert.deepEqual([runs?.ready, runs?.started], [true, true]);
    const failed = [exited(1, { ...first, crashes: 1 })];
    assert.equal(initStatuses(sidecar, failed)[0]?.state?.waiting?.reason, 'CrashLoopBackOff');
    const ended = [exited(0, { ...first, crashes: 1 })];
    assert.equal(initStatuses(sidecar, ended)[0]?.state?.terminated?.reason, 'Completed');
    assert.equal(initStatuses(sidecar, ended, true)[0]?.state?.terminated?.reason, 'Completed');
  });
});
