import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { PodStatus } from '../../../../../src/api/core/v1/types.gen.ts';
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
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
} from '../../builders.ts';

const statusOf = (pod: Pod, seen: ObservedPod, memory: PodMemory = makeMemory()) =>
  computePodStatus({ pod, observed: seen, memory, nodeIP: '192.0.2.1', now });
const condition = (status: ReturnType<typeof statusOf>, type: string) =>
  status.conditions?.find((candidate) => candidate.type === type);

describe('the computed status of a pod', () => {
  it('has the observed generation, also in each condition', () => {
    const status = statusOf(makePod({}, { generation: 3 }), observed());
    assert.equal(status.observedGeneration, 3);
    assert.deepEqual(
      new Set(status.conditions?.map(({ observedGeneration }) => observedGeneration)),
      new Set([3]),
    );
    assert.equal('observedGeneration' in statusOf(makePod(), observed()), false);
  });

  it('is Pending without a pod IP for a pod without a sandbox', () => {
    const status = statusOf(makePod(), observed());
    assert.equal(status.phase, 'Pending');
    assert.equal(status.hostIP, '192.0.2.1');
    assert.equal(status.podIP, undefined);
    assert.equal(status.startTime, '2026-01-01T12:00:00Z');
    assert.equal(status.qosClass, 'BestEffort');
    assert.deepEqual(status.containerStatuses?.[0]?.state, { waiting: { reason: 'ContainerCreating' } });
    assert.equal(condition(status, 'PodScheduled')?.status, 'True');
    assert.equal(condition(status, 'Initialized')?.status, 'True');
    assert.equal(condition(status, 'Ready')?.reason, 'ContainersNotReady');
    assert.equal(condition(status, 'Ready')?.message, 'containers with unready status: [main]');
  });

  it('is Running with the pod IP for a pod whose container runs', () => {
    const status = statusOf(makePod(), observed(makeSandbox(), makeContainer()));
    assert.equal(status.phase, 'Running');
    assert.deepEqual(status.podIPs, [{ ip: '10.244.0.2' }]);
    const [main] = status.containerStatuses ?? [];
    assert.equal(main?.ready, true);
    assert.equal(main?.started, true);
    assert.equal(main?.containerID, 'docker://main-0');
    assert.deepEqual(main?.state, { running: { startedAt: '2026-01-01T11:59:11Z' } });
    assert.equal(condition(status, 'Ready')?.status, 'True');
    assert.equal(condition(status, 'ContainersReady')?.status, 'True');
  });

  it('has the conditions of a node agent in upstream’s order, after those of other clients', () => {
    const gate = { type: 'a.example/b', status: 'True' };
    const pod = makePod({}, {}, { conditions: [gate, { type: 'Ready', status: 'False' }] });
    const status = statusOf(pod, observed(makeSandbox(), makeContainer()));
    assert.deepEqual(
      status.conditions?.map(({ type, status: is }) => `${type} ${is}`),
      [
        'a.example/b True',
        'PodReadyToStartContainers True',
        'Initialized True',
        'Ready True',
        'ContainersReady True',
        'PodScheduled True',
      ],
    );
  });

  it('has PodReadyToStartContainers while it has a sandbox, with its transition time', () => {
    const type = 'PodReadyToStartContainers';
    const before = statusOf(makePod(), observed());
    assert.deepEqual(condition(before, type), {
      type,
      status: 'False',
      lastTransitionTime: '2026-01-01T12:00:00Z',
    });
    const at = (seen: ObservedPod, status: PodStatus, later: number) =>
      computePodStatus({
        pod: makePod({}, {}, status),
        observed: seen,
        memory: makeMemory(),
        nodeIP: '192.0.2.1',
        now: now + seconds(later),
      });
    const with1 = at(observed(makeSandbox()), before, 5);
    const with2 = at(observed(makeSandbox()), with1, 9);
    assert.equal(condition(with2, type)?.status, 'True');
    assert.equal(condition(with2, type)?.lastTransitionTime, '2026-01-01T12:00:05Z');
    const gone = at(observed(makeSandbox({ state: 'exited' })), with2, 12);
    assert.equal(condition(gone, type)?.status, 'False');
  });

  it('shows a container that was stopped for its new image as waiting', () => {
    const pod = makePod({ restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:2' }] });
    const status = statusOf(pod, observed(makeSandbox(), exited(137)));
    assert.equal(status.phase, 'Running');
    assert.deepEqual(status.containerStatuses?.[0]?.state, { waiting: { reason: 'ContainerCreating' } });
    assert.equal(status.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
    const deleted = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T12:00:00Z' } };
    assert.equal(statusOf(deleted, observed(makeSandbox(), exited(137))).phase, 'Failed');
  });

  it('has the address of the host in the host network', () => {
    const status = statusOf(
      makePod({ hostNetwork: true }),
      observed(makeSandbox({ ip: undefined }), makeContainer()),
    );
    assert.equal(status.podIP, '192.0.2.1');
  });

  const ends: readonly (readonly [string, object, ReturnType<typeof exited>, string, string, string])[] = [
    ['a success with Never', { restartPolicy: 'Never' }, exited(0), 'Succeeded', 'Completed', 'PodCompleted'],
    ['a failure with Never', { restartPolicy: 'Never' }, exited(3), 'Failed', 'Error', 'PodFailed'],
    [
      'a success with OnFailure',
      { restartPolicy: 'OnFailure' },
      exited(0),
      'Succeeded',
      'Completed',
      'PodCompleted',
    ],
    [
      'a kill for lack of memory with Never',
      { restartPolicy: 'Never' },
      exited(137, { oomKilled: true }),
      'Failed',
      'OOMKilled',
      'PodFailed',
    ],
    [
      'a failed start with Never',
      { restartPolicy: 'Never' },
      exited(127, { error: 'no such file', startedAt: undefined }),
      'Failed',
      'ContainerCannotRun',
      'PodFailed',
    ],
  ];
  for (const [name, spec, container, phase, reason, ready] of ends) {
    it(`has the phase ${phase} and the reason ${reason} after ${name}`, () => {
      const status = statusOf(makePod(spec), observed(makeSandbox(), container));
      assert.equal(status.phase, phase);
      assert.equal(status.containerStatuses?.[0]?.state?.terminated?.reason, reason);
      assert.equal(condition(status, 'Ready')?.reason, ready);
    });
  }

  it('keeps its phase and address after the containers of an ended pod are removed', () => {
    const pod = makePod({ restartPolicy: 'Never' }, {}, { phase: 'Succeeded', podIP: '10.244.0.9' });
    const status = statusOf(pod, observed());
    assert.equal(status.phase, 'Succeeded');
    assert.equal(status.podIP, '10.244.0.9');
  });

  it('shows a container between two runs as waiting, with its last termination and message', () => {
    const container = exited(1, { attempt: 2, crashes: 2, finishedAt: now - seconds(1) });
    const memory = makeMemory({ terminationMessages: new Map([['main-2', 'out of luck']]) });
    const status = statusOf(makePod(), observed(makeSandbox(), container), memory);
    assert.equal(status.phase, 'Running');
    const [main] = status.containerStatuses ?? [];
    assert.deepEqual(main?.state?.waiting, {
      reason: 'CrashLoopBackOff',
      message: 'back-off 20s restarting failed container=main pod=web_shop(uid-1)',
    });
    assert.equal(main?.restartCount, 2);
    assert.equal(main?.ready, false);
    assert.equal(main?.lastState?.terminated?.message, 'out of luck');
    assert.equal(main?.lastState?.terminated?.exitCode, 1);
  });

  it('shows a restarted container as running, with its last termination', () => {
    const status = statusOf(makePod(), observed(makeSandbox(), makeContainer({ attempt: 1 }), exited(9)));
    const [main] = status.containerStatuses ?? [];
    assert.ok(main?.state?.running);
    assert.equal(main?.lastState?.terminated?.exitCode, 9);
    assert.equal(main?.restartCount, 1);
  });

  it('has the reason ContainerCannotRun if the message names a program that could not be executed', () => {
    const memory = makeMemory({
      terminationMessages: new Map([['main-0', 'exec: "x": No such file or directory\n']]),
    });
    const pod = makePod({ restartPolicy: 'Never' });
    const own = statusOf(pod, observed(makeSandbox(), exited(127)), memory).containerStatuses?.[0]?.state;
    assert.equal(own?.terminated?.reason, 'ContainerCannotRun');
    const shell = statusOf(pod, observed(makeSandbox(), exited(127))).containerStatuses?.[0]?.state;
    assert.equal(shell?.terminated?.reason, 'Error');
  });

  it('shows the reason of each failure to start', () => {
    for (const [given, count, shown] of [
      ['ErrImagePull', 1, 'ErrImagePull'],
      ['ErrImagePull', 2, 'ImagePullBackOff'],
      ['InvalidImageName', 1, 'InvalidImageName'],
      ['CreateContainerConfigError', 3, 'CreateContainerConfigError'],
    ] as const) {
      const memory = makeMemory({ startFailures: new Map([['main', failure(given, 5, count)]]) });
      const status = statusOf(makePod(), observed(makeSandbox()), memory);
      assert.equal(status.containerStatuses?.[0]?.state?.waiting?.reason, shown);
      assert.equal(status.phase, 'Pending');
    }
  });

  it('shows a running container beside a waiting one', () => {
    const pod = makePod({
      containers: [
        { name: 'main', image: 'app:1' },
        { name: 'side', image: 'side:1' },
      ],
    });
    const status = statusOf(pod, observed(makeSandbox(), makeContainer()));
    assert.equal(status.phase, 'Pending');
    assert.equal(condition(status, 'Ready')?.message, 'containers with unready status: [side]');
  });

  it('has an unknown end for a container that is missing during the deletion', () => {
    const running = statusOf(makePod(), observed(makeSandbox(), makeContainer()));
    const leaving = makePod({}, { deletionTimestamp: '2026-01-01T12:00:00Z' }, running);
    const state = statusOf(leaving, observed()).containerStatuses?.[0]?.state;
    assert.equal(state?.terminated?.reason, 'ContainerStatusUnknown');
    assert.equal(state?.terminated?.exitCode, 137);
  });

  it('keeps conditions of other clients, and the times of unchanged conditions', () => {
    const before = [
      { type: 'example.com/gate', status: 'True' },
      { type: 'Ready', status: 'True', lastTransitionTime: '2025-12-31T00:00:00Z' },
      { type: 'ContainersReady', status: 'False', lastTransitionTime: '2025-12-31T00:00:00Z' },
    ];
    const pod = makePod({}, {}, { phase: 'Running', conditions: before });
    const status = statusOf(pod, observed(makeSandbox(), makeContainer()));
    assert.ok(condition(status, 'example.com/gate'));
    assert.equal(condition(status, 'Ready')?.lastTransitionTime, '2025-12-31T00:00:00Z');
    assert.equal(condition(status, 'ContainersReady')?.lastTransitionTime, '2026-01-01T12:00:00Z');
  });

  it('is unchanged if it is computed from itself', () => {
    const seen = observed(makeSandbox(), makeContainer({ attempt: 1 }), exited(9));
    const once = statusOf(makePod(), seen);
    assert.deepEqual(statusOf(makePod({}, {}, once), seen), once);
  });
});
