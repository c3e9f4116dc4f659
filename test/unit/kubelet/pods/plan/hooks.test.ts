/** Times at which hooks run, actions that wait for them, and containers whose hook failed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { preStopOf } from '../../../../../src/kubelet/containers/plan/lifecycle.ts';
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { computeOrphanActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import {
  type HookName,
  type HookState,
  hookKey,
  pastStartHooks,
} from '../../../../../src/kubelet/pods/plan/hooks.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import type { ContainerState } from '../../../../../src/kubelet/runtime/runtime.ts';
import {
  exited,
  makeContainer,
  makeMemory,
  makePod,
  makeSandbox,
  now,
  observed,
  planOf,
  seconds,
} from '../../builders.ts';

const sandbox = makeSandbox();
const handler = { exec: { command: ['true'] } };
const preStop = { handler, ports: [] };
const main = { name: 'main', image: 'app:1', lifecycle: { postStart: handler } };
const side = { name: 'side', image: 'app:1' };
const hooks = (hook: HookName, state: HookState, id = 'main-0'): Partial<PodMemory> => ({
  hooks: new Map([[hookKey(id, hook), state]]),
});
const failed = { at: 'failed', message: 'it said no' } as const;

describe('a postStart hook', () => {
  const pod = makePod({ containers: [main, side] });
  const runs = [sandbox, makeContainer()];
  const statusOf = (memory: Partial<PodMemory>, ...containers: readonly ContainerState[]) =>
    computePodStatus({
      pod,
      observed: observed(sandbox, ...containers),
      memory: makeMemory(memory),
      nodeIP: '192.0.2.1',
      now,
    });

  it('runs once its container runs, and later containers start when the hook has ended', () => {
    assert.deepEqual(planOf(pod, [sandbox]).actions, ['start main in sandbox-0 attempt 0 crashes 0']);
    assert.deepEqual(planOf(pod, runs).actions, ['run postStart of main main-0']);
    assert.deepEqual(planOf(pod, runs, hooks('postStart', { at: 'running' })).actions, []);
    const next = ['start side in sandbox-0 attempt 0 crashes 0'];
    assert.deepEqual(planOf(pod, runs, hooks('postStart', { at: 'done' })).actions, next);
  });

  it('does not affect running containers, and runs again when its container restarts', () => {
    const ended = exited(1);
    const both = [sandbox, ended, makeContainer(side)];
    assert.deepEqual(planOf(pod, both, hooks('postStart', { at: 'done' })).actions, [
      'start main in sandbox-0 attempt 1 crashes 1',
    ]);
    const again = [sandbox, ended, makeContainer({ attempt: 1 }), makeContainer(side)];
    assert.deepEqual(planOf(pod, again, hooks('postStart', { at: 'done' })).actions, [
      'run postStart of main main-1',
    ]);
  });

  it('keeps the container waiting and the pod Pending until it has ended', () => {
    const pending = statusOf(hooks('postStart', { at: 'running' }), makeContainer());
    assert.deepEqual(pending.containerStatuses?.[0]?.state, { waiting: { reason: 'ContainerCreating' } });
    assert.deepEqual(
      [pending.phase, pending.containerStatuses?.[0]?.ready, pending.containerStatuses?.[0]?.started],
      ['Pending', false, false],
    );
    const done = statusOf(hooks('postStart', { at: 'done' }), makeContainer(), makeContainer(side));
    assert.deepEqual(
      [done.phase, done.containerStatuses?.[0]?.ready, done.containerStatuses?.[0]?.started],
      ['Running', true, true],
    );
  });

  it('terminates its container when it fails, with reason PostStartHookError in the status', () => {
    const memory = hooks('postStart', failed);
    assert.deepEqual(planOf(pod, runs, memory), {
      actions: ['terminate main main-0: FailedPostStartHook', 'start side in sandbox-0 attempt 0 crashes 0'],
      requeueAfter: seconds(30),
    });
    assert.deepEqual(statusOf(memory, makeContainer()).containerStatuses?.[0]?.state, {
      waiting: { reason: 'PostStartHookError', message: 'it said no' },
    });
    const later = statusOf(memory, exited(143, { crashes: 1 }));
    assert.equal(later.containerStatuses?.[0]?.state?.waiting?.reason, 'CrashLoopBackOff');
  });

  it('delays the init containers after it if it belongs to a sidecar', () => {
    const net = { name: 'net', image: 'app:1', restartPolicy: 'Always', lifecycle: { postStart: handler } };
    const withNet = makePod({ initContainers: [net, { name: 'one', image: 'app:1' }] });
    const netRuns = [sandbox, makeContainer({ name: 'net', stopTurn: 1 })];
    assert.deepEqual(planOf(withNet, netRuns).actions, ['run postStart of net net-0']);
    assert.deepEqual(planOf(withNet, netRuns, hooks('postStart', { at: 'running' }, 'net-0')).actions, []);
    assert.deepEqual(planOf(withNet, netRuns, hooks('postStart', { at: 'done' }, 'net-0')).actions, [
      'start one in sandbox-0 attempt 0 crashes 0',
    ]);
  });

  it('excludes its container from probes until it has ended', () => {
    const seen = observed(sandbox, makeContainer(), makeContainer(side));
    const names = (memory: Partial<PodMemory>) =>
      pastStartHooks(pod, seen, makeMemory(memory)).containers.map(({ name }) => name);
    assert.deepEqual(names({}), ['side']);
    assert.deepEqual(names(hooks('postStart', { at: 'running' })), ['side']);
    assert.deepEqual(names(hooks('postStart', { at: 'done' })), ['main', 'side']);
  });

  it('is not run for a container that is being terminated', () => {
    const other = makePod({ containers: [{ ...main, image: 'app:2' }] });
    assert.deepEqual(planOf(other, runs).actions, ['terminate main main-0: its definition changed']);
    const leaves = makePod({ containers: [main] }, { deletionTimestamp: '2026-01-01T12:00:00Z' });
    assert.deepEqual(planOf(leaves, runs).actions, ['terminate main main-0: the pod is deleted']);
  });
});

describe('a preStop hook', () => {
  const leaving = (grace: number) =>
    makePod({}, { deletionTimestamp: '2026-01-01T12:00:00Z', deletionGracePeriodSeconds: grace });
  const runs = [sandbox, makeContainer({ preStop })];
  const began = { stopBegan: new Map([['main-0', now]]) };
  const running = { ...began, ...hooks('preStop', { at: 'running' }) };

  it('runs before the container is signaled, within the grace period', () => {
    assert.deepEqual(planOf(leaving(10), runs), {
      actions: ['begin to stop main main-0: the pod is deleted', 'run preStop of main main-0'],
      requeueAfter: seconds(10),
    });
    assert.deepEqual(planOf(leaving(10), runs, running, now + seconds(4)), {
      actions: [],
      requeueAfter: seconds(6),
    });
  });

  it('uses a part of the grace period, and the container gets the rest', () => {
    for (const state of [{ at: 'done' } as const, failed]) {
      const memory = { ...began, ...hooks('preStop', state) };
      assert.deepEqual(planOf(leaving(10), runs, memory, now + seconds(4)), {
        actions: ['terminate main main-0: the pod is deleted'],
        requeueAfter: seconds(6),
      });
    }
  });

  it('leaves the container two seconds when it uses up the grace period', () => {
    const over = now + seconds(10);
    assert.deepEqual(planOf(leaving(10), runs, running, over), {
      actions: ['terminate main main-0: the pod is deleted'],
      requeueAfter: seconds(2),
    });
    const asked = { ...running, stopping: new Map([['main-0', over]]) };
    assert.deepEqual(planOf(leaving(10), runs, asked, over + seconds(1)), {
      actions: [],
      requeueAfter: seconds(1),
    });
    assert.deepEqual(planOf(leaving(10), runs, asked, over + seconds(2)).actions, ['kill main main-0']);
  });

  it('is cut short when the grace period is shortened', () => {
    assert.deepEqual(planOf(leaving(3), runs, running, now + seconds(4)).actions, [
      'terminate main main-0: the pod is deleted',
    ]);
  });

  it('is followed by the stop even if the reason for the stop no longer applies', () => {
    const back = makePod();
    const past = { ...began, ...hooks('preStop', { at: 'done' }) };
    assert.deepEqual(planOf(back, runs, past, now + seconds(4)), {
      actions: ['terminate main main-0: its stop had begun'],
      requeueAfter: seconds(26),
    });
    const asked = { stopping: new Map([['main-0', now]]) };
    assert.deepEqual(planOf(back, [sandbox, makeContainer()], asked, now + seconds(30)).actions, [
      'kill main main-0',
    ]);
  });

  it('is not run without a grace period, or for a container that ended', () => {
    assert.deepEqual(planOf(leaving(0), runs).actions, ['kill main main-0']);
    assert.deepEqual(planOf(leaving(10), [sandbox, exited(0, { preStop })]).actions, [
      'removeContainer main-0',
      'removeSandbox sandbox-0',
      'removePodFiles',
      'confirmDeletion',
    ]);
  });

  it('runs at once if it belongs to a sidecar, although the sidecar is terminated last', () => {
    const net = makeContainer({ name: 'net', stopTurn: 1, preStop });
    const why = 'the pod is deleted';
    assert.deepEqual(planOf(leaving(10), [sandbox, net, makeContainer()]).actions, [
      `begin to stop net net-0: ${why}`,
      'run preStop of net net-0',
      `terminate main main-0: ${why}`,
    ]);
    const done = { stopBegan: new Map([['net-0', now]]), ...hooks('preStop', { at: 'done' }, 'net-0') };
    const waits = { ...done, stopping: new Map([['main-0', now]]) };
    assert.deepEqual(planOf(leaving(10), [sandbox, net, makeContainer()], waits, now + 1).actions, []);
    assert.deepEqual(planOf(leaving(10), [sandbox, net, exited(0)], done).actions, [
      `terminate net net-0: ${why}`,
    ]);
  });

  it('is read from the labels of its container when the API server does not have the pod', () => {
    assert.equal(preStopOf({ ports: [{ name: 'web', containerPort: 80, protocol: 'TCP' }] }), undefined);
    const carried = preStopOf({
      lifecycle: { preStop: { httpGet: { port: 'web' } } },
      ports: [
        { name: 'web', containerPort: 80, protocol: 'TCP' },
        { containerPort: 81, protocol: 'TCP' },
      ],
    });
    const container = makeContainer({ preStop: carried, gracePeriodSeconds: 7 });
    const plan = computeOrphanActions(observed(sandbox, container), makeMemory(), now);
    assert.deepEqual(plan.actions, [
      { type: 'beginStop', id: 'main-0', name: 'main', why: 'the pod is gone' },
      {
        type: 'runHook',
        id: 'main-0',
        name: 'main',
        hook: 'preStop',
        handler: { httpGet: { port: 'web' } },
        ports: [{ name: 'web', containerPort: 80, protocol: 'TCP' }],
      },
    ]);
    assert.equal(plan.requeueAfter, seconds(7));
  });
});
