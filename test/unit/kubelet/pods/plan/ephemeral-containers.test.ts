/** Containers that are added to a running pod: they start once, and delay nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, EphemeralContainer } from '../../../../../src/api/core/v1/types.gen.ts';
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { computePodActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import type { ContainerState, SandboxState } from '../../../../../src/kubelet/runtime/runtime.ts';
import { logTarget } from '../../../../../src/kubelet/server/plan/log-request.ts';
import {
  actionCases,
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

const look = { name: 'look', image: 'busybox:1' };
const podWith = (container: Partial<EphemeralContainer> = {}, status?: object) =>
  makePod({ ephemeralContainers: [{ ...look, ...container }] }, {}, status);
const seen = (more: object = {}) => makeContainer({ ...look, ...more });
const reported = (state: object): { ephemeralContainerStatuses: ContainerStatus[] } => ({
  ephemeralContainerStatuses: [
    { ...look, imageID: '', containerID: 'docker://look-0', ready: false, restartCount: 0, state },
  ],
});

const there = [makeSandbox(), makeContainer()];
const started = ['start look in sandbox-0 attempt 0 crashes 0'];
const failedStart = (retryIn: number): Partial<PodMemory> => ({
  startFailures: new Map([['look', failure('ErrImagePull', retryIn, 1, look)]]),
});
const ended = { exitCode: 0, startedAt: null, finishedAt: null };
const held = podWith({ securityContext: { procMount: 'Unmasked' } });

describe('the plan for an ephemeral container', () => {
  actionCases([
    { name: 'starts it in the running sandbox', pod: podWith(), objects: there, actions: started },
    { name: 'creates the sandbox of the pod before it', pod: podWith(), actions: ['createSandbox 0'] },
    { name: 'leaves it alone while it runs', pod: podWith(), objects: [...there, seen()], actions: [] },
    {
      name: 'does not restart it after it failed',
      pod: podWith(),
      objects: [...there, seen({ state: 'exited', exitCode: 1 })],
      actions: [],
    },
    {
      name: 'does not start it again when the engine has lost it after its end',
      pod: podWith({}, reported({ terminated: ended })),
      objects: there,
      actions: [],
    },
    {
      name: 'does not start it again when the engine has lost it while it ran',
      pod: podWith({}, reported({ running: {} })),
      objects: there,
      actions: [],
    },
    {
      name: 'creates it again when the agent ended between its creation and its start',
      pod: podWith(),
      objects: [...there, seen({ state: 'created' })],
      actions: ['removeContainer look-0', ...started],
    },
    {
      name: 'waits for the retry time of a failed start',
      pod: podWith(),
      objects: there,
      memory: failedStart(7),
      actions: [],
      requeueAfter: seconds(7),
    },
    {
      name: 'retries a failed start when its retry time has come',
      pod: podWith(),
      objects: there,
      memory: failedStart(0),
      actions: started,
    },
    {
      name: 'stops it when its sandbox was removed',
      pod: podWith(),
      objects: [
        makeSandbox({ id: 'sandbox-1', attempt: 1 }),
        makeContainer({ sandboxId: 'sandbox-1' }),
        seen(),
      ],
      actions: ['terminate look look-0: the sandbox of the container is gone'],
      requeueAfter: seconds(30),
    },
    {
      name: 'stops it when the pod is deleted',
      pod: makePod({ ephemeralContainers: [look] }, { deletionTimestamp: '2026-01-01T12:00:00Z' }),
      objects: [makeSandbox(), seen()],
      actions: ['terminate look look-0: the pod is deleted'],
      requeueAfter: seconds(30),
    },
    {
      name: 'stops it when the containers of the pod have ended for good',
      pod: makePod({ restartPolicy: 'Never', ephemeralContainers: [look] }),
      objects: [makeSandbox(), exited(0), seen()],
      actions: ['terminate look look-0: the pod has ended'],
      requeueAfter: seconds(30),
    },
    {
      name: 'does not start it while it has an unsupported field',
      pod: held,
      objects: there,
      actions: [],
    },
    {
      name: 'starts the other containers while it has an unsupported field',
      pod: held,
      objects: [makeSandbox()],
      actions: ['start main in sandbox-0 attempt 0 crashes 0'],
    },
  ]);

  it('names its target container while the target runs', () => {
    const pod = podWith({ targetContainerName: 'main' });
    const firstOf = (...objects: (ContainerState | SandboxState)[]) =>
      computePodActions({ pod, observed: observed(...objects), memory: makeMemory(), now }).actions[0];
    const first = firstOf(...there);
    assert.equal(first?.type === 'startContainer' && first.processesOf, 'main-0');
    const later = firstOf(makeSandbox(), exited(1, { crashes: 9 }));
    assert.ok(later?.type === 'startContainer' && !('processesOf' in later), JSON.stringify(later));
  });
});

describe('the status of an ephemeral container', () => {
  const statusOf = (pod = podWith(), found = observed(...there), memory = makeMemory()) => {
    const status = computePodStatus({ pod, observed: found, memory, nodeIP: '10.0.0.1', now });
    return { phase: status.phase, own: status.ephemeralContainerStatuses?.[0] };
  };

  it('is waiting, running or terminated, and never ready', () => {
    assert.deepEqual(statusOf().own?.state, { waiting: { reason: 'ContainerCreating' } });
    const { own } = statusOf(podWith(), observed(makeSandbox(), makeContainer(), seen()));
    assert.deepEqual([own?.ready, 'started' in (own ?? {})], [false, false]);
    assert.deepEqual(own?.state, { running: { startedAt: '2026-01-01T11:59:11Z' } });
    const ended = observed(makeSandbox(), makeContainer(), seen({ state: 'exited', exitCode: 3 }));
    assert.equal(statusOf(podWith(), ended).own?.state?.terminated?.exitCode, 3);
  });

  it('does not change the phase of the pod', () => {
    const alone = observed(makeSandbox(), exited(0), seen());
    const pod = makePod({ restartPolicy: 'Never', ephemeralContainers: [look] });
    assert.equal(statusOf(pod, alone).phase, 'Succeeded');
  });

  it('has ended if the engine has lost it', () => {
    const lost = statusOf(podWith({}, reported({ running: { startedAt: '2026-01-01T11:00:00Z' } })));
    assert.equal(lost.own?.state?.terminated?.reason, 'ContainerStatusUnknown');
  });

  it('has the reason why it is not started', () => {
    const held = podWith({
      volumeMounts: [{ name: 'v', mountPath: '/v', bindMountOptions: ['nosuid'] }],
    });
    assert.deepEqual(statusOf(held).own?.state?.waiting, {
      reason: 'NotSupported',
      message:
        'the container is not started: minik8s does not support these fields yet: spec.ephemeralContainers[0].volumeMounts[0].bindMountOptions',
    });
  });
});

describe('the log of an ephemeral container', () => {
  it('is found by the name of the container, as for any other container', () => {
    const container = seen();
    assert.equal(logTarget(podWith(), observed(container), 'look', false), container);
    assert.throws(
      () =>
        logTarget(
          podWith({}, reported({ waiting: { reason: 'ErrImagePull' } })),
          observed(...there),
          'look',
          false,
        ),
      {
        message: 'container "look" in pod "web" is waiting to start: ErrImagePull',
      },
    );
  });
});
