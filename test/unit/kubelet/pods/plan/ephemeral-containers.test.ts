/** Containers that are added to a running pod: they start once, and delay nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus, EphemeralContainer } from '../../../../../src/api/core/v1/types.gen.ts';
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { computePodActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import type { ObservedPod } from '../../../../../src/kubelet/runtime/observed-pod.ts';
import { logTarget } from '../../../../../src/kubelet/server/plan/log-request.ts';
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

const look = { name: 'look', image: 'busybox:1' };
const podWith = (container: Partial<EphemeralContainer> = {}, status?: object) =>
  makePod({ ephemeralContainers: [{ ...look, ...container }] }, {}, status);
const running = observed(makeSandbox(), makeContainer());
const seen = (more: object = {}) => makeContainer({ ...look, ...more });
const reported = (state: object): { ephemeralContainerStatuses: ContainerStatus[] } => ({
  ephemeralContainerStatuses: [
    { ...look, imageID: '', containerID: 'docker://look-0', ready: false, restartCount: 0, state },
  ],
});

function plan(what: { pod?: ReturnType<typeof podWith>; observed?: ObservedPod; memory?: PodMemory }) {
  const { pod = podWith(), observed: there = running, memory = makeMemory() } = what;
  return computePodActions({ pod, observed: there, memory, now });
}
const actions = (what: Parameters<typeof plan>[0]) => plan(what).actions.map(short);
const started = ['start look in sandbox-0 attempt 0 crashes 0'];

describe('the plan for a container that was added', () => {
  it('starts it in the sandbox that there is', () => {
    assert.deepEqual(actions({}), started);
    assert.deepEqual(actions({ observed: observed() }), ['createSandbox 0']);
  });

  it('leaves it alone while it runs, and after its end whatever that was', () => {
    for (const container of [seen(), seen({ state: 'exited', exitCode: 1 })]) {
      assert.deepEqual(actions({ observed: observed(makeSandbox(), makeContainer(), container) }), []);
    }
  });

  it('does not start it again when the engine has lost it', () => {
    const terminated = { exitCode: 0, startedAt: null, finishedAt: null };
    for (const state of [{ terminated }, { running: {} }]) {
      assert.deepEqual(actions({ pod: podWith({}, reported(state)) }), []);
    }
  });

  it('makes it again when the agent ended between making and starting it', () => {
    const created = seen({ state: 'created' });
    assert.deepEqual(actions({ observed: observed(makeSandbox(), makeContainer(), created) }), [
      'removeContainer look-0',
      ...started,
    ]);
  });

  it('tries a failed start again when its time has come', () => {
    const failed = (retryIn: number) =>
      makeMemory({ startFailures: new Map([['look', failure('ErrImagePull', retryIn, 1, look)]]) });
    const wait = plan({ memory: failed(7) });
    assert.deepEqual([wait.actions, wait.requeueAfter], [[], seconds(7)]);
    assert.deepEqual(actions({ memory: failed(0) }), started);
  });

  it('stops it with its sandbox, and with the pod', () => {
    const other = makeSandbox({ id: 'sandbox-1', attempt: 1 });
    const moved = observed(other, makeContainer({ sandboxId: 'sandbox-1' }), seen());
    assert.deepEqual(actions({ observed: moved }), [
      'terminate look look-0: the sandbox of the container is gone',
    ]);
    const deleted = makePod({ ephemeralContainers: [look] }, { deletionTimestamp: '2026-01-01T12:00:00Z' });
    assert.deepEqual(actions({ pod: deleted, observed: observed(makeSandbox(), seen()) }), [
      'terminate look look-0: the pod is deleted',
    ]);
  });

  it('does not keep a pod that has ended alive', () => {
    const pod = makePod({ restartPolicy: 'Never', ephemeralContainers: [look] });
    const done = observed(makeSandbox(), exited(0), seen());
    assert.deepEqual(actions({ pod, observed: done }), ['terminate look look-0: the pod has ended']);
  });

  it('names the container whose processes it sees, while that runs', () => {
    const targeting = podWith({ targetContainerName: 'main' });
    const [first] = plan({ pod: targeting }).actions;
    assert.equal(first?.type === 'startContainer' && first.processesOf, 'main-0');
    const ended = observed(makeSandbox(), exited(1, { crashes: 9 }));
    const [later] = plan({ pod: targeting, observed: ended }).actions;
    assert.ok(later?.type === 'startContainer' && !('processesOf' in later), JSON.stringify(later));
  });

  it('holds only it when it asks for what is not supported', () => {
    const held = podWith({
      securityContext: { procMount: 'Unmasked' },
    });
    assert.deepEqual(actions({ pod: held }), []);
    assert.deepEqual(actions({ pod: held, observed: observed(makeSandbox()) }), [
      'start main in sandbox-0 attempt 0 crashes 0',
    ]);
  });
});

describe('the status of a container that was added', () => {
  const statusOf = (pod = podWith(), there = running, memory = makeMemory()) => {
    const status = computePodStatus({ pod, observed: there, memory, nodeIP: '10.0.0.1', now });
    return { phase: status.phase, own: status.ephemeralContainerStatuses?.[0] };
  };

  it('waits, runs and ends; nobody waits for it to be ready', () => {
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

  it('says that one the engine has lost has ended', () => {
    const lost = statusOf(podWith({}, reported({ running: { startedAt: '2026-01-01T11:00:00Z' } })));
    assert.equal(lost.own?.state?.terminated?.reason, 'ContainerStatusUnknown');
  });

  it('says why it is not started', () => {
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

describe('the log of a container that was added', () => {
  it('is read like any other', () => {
    const container = seen();
    assert.equal(logTarget(podWith(), observed(container), 'look', false), container);
    assert.throws(
      () => logTarget(podWith({}, reported({ waiting: { reason: 'ErrImagePull' } })), running, 'look', false),
      {
        message: 'container "look" in pod "web" is waiting to start: ErrImagePull',
      },
    );
  });
});
