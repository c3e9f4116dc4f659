/** Container whose probe has failed: plan, phase and status. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { computePodActions } from '../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import { computePodStatus } from '../../../../src/kubelet/pods/plan/pod-status.ts';
import type { ProbeResults } from '../../../../src/kubelet/probes/plan/probe-results.ts';
import type { ContainerState } from '../../../../src/kubelet/runtime/runtime.ts';
import {
  exited,
  makeContainer,
  makeMemory,
  makePod,
  makeSandbox,
  now,
  observed,
  seconds,
  short,
} from '../builders.ts';

const tcp = { tcpSocket: { port: 80 } };
const podWith = (container: object, spec: object = {}, metadata: object = {}): Pod =>
  makePod({ containers: [{ name: 'main', image: 'app:1', ...container }], ...spec }, metadata);

function look(pod: Pod, container: ContainerState, results: ProbeResults, memory: object = {}) {
  const input = {
    pod,
    observed: observed(makeSandbox(), container),
    memory: makeMemory({ probes: new Map([[container.id, results]]), ...memory }),
    now,
  };
  const plan = computePodActions(input);
  const status = computePodStatus({ ...input, nodeIP: '192.0.2.7' });
  const found = status.containerStatuses?.[0];
  const condition = (name: string) => status.conditions?.find(({ type }) => type === name);
  return { plan, actions: plan.actions.map(short), phase: status.phase, found, condition };
}

const live = { livenessProbe: { ...tcp, terminationGracePeriodSeconds: 5 }, startupProbe: tcp };

describe('a container whose liveness probe failed', () => {
  it('is stopped within the grace period of the probe, and the event has the reason', () => {
    const { plan } = look(podWith(live), makeContainer(), { startup: true, liveness: false });
    assert.deepEqual(plan.actions, [
      {
        type: 'terminateContainer',
        id: 'main-0',
        name: 'main',
        why: 'its liveness probe failed',
        message: 'Container main failed liveness probe, will be restarted',
      },
    ]);
    assert.equal(plan.requeueAfter, seconds(5));
  });

  it('has the grace period of its pod if the probe has none', () => {
    const startup = look(podWith(live), makeContainer(), { startup: false });
    assert.equal(startup.plan.requeueAfter, seconds(30));
    assert.match(
      JSON.stringify(startup.plan.actions),
      /Container main failed startup probe, will be restarted/,
    );
  });

  it('is killed when the grace period is over', () => {
    const stopping = new Map([['main-0', now - seconds(5)]]);
    const { actions } = look(podWith(live), makeContainer(), { liveness: false }, { stopping });
    assert.deepEqual(actions, ['kill main main-0']);
  });

  it('has no restart event if its pod restarts no containers', () => {
    const pod = podWith(live, { restartPolicy: 'Never' });
    const [action] = look(pod, makeContainer(), { startup: true, liveness: false }).plan.actions;
    assert.equal(
      action?.type === 'terminateContainer' && action.message,
      'Container main failed liveness probe',
    );
    const ended = look(pod, exited(143), { liveness: false });
    assert.deepEqual([ended.actions, ended.phase], [['removeSandbox sandbox-0'], 'Failed']);
  });

  it('starts again under OnFailure even if it succeeded, and its pod does not count as succeeded', () => {
    const pod = podWith(live, { restartPolicy: 'OnFailure' });
    const at = look(pod, exited(0), { liveness: false });
    assert.deepEqual([at.actions, at.phase], [['start main in sandbox-0 attempt 1 crashes 1'], 'Running']);
    const later = look(pod, exited(0, { attempt: 1, crashes: 1 }), { liveness: false });
    assert.deepEqual([later.actions, later.plan.requeueAfter, later.phase], [[], seconds(10), 'Running']);
    assert.equal(later.found?.state?.waiting?.reason, 'CrashLoopBackOff');
    const well = look(pod, exited(0), { liveness: true });
    assert.equal(well.phase, 'Succeeded');
  });

  it('has the grace period of the deletion when its pod is deleted', () => {
    const metadata = { deletionTimestamp: '2026-01-01T12:00:00Z', deletionGracePeriodSeconds: 60 };
    const { plan } = look(podWith(live, {}, metadata), makeContainer(), { liveness: false });
    assert.equal(plan.requeueAfter, seconds(60));
  });
});

describe('the status of a container with probes', () => {
  const both = { startupProbe: tcp, readinessProbe: tcp };
  const said = (pod: Pod, container: ContainerState, results: ProbeResults) => {
    const { found, condition } = look(pod, container, results);
    return [found?.started, found?.ready, condition('ContainersReady')?.status, condition('Ready')?.status];
  };

  it('is started and ready as its probes have decided', () => {
    assert.deepEqual(said(podWith(both), makeContainer(), {}), [false, false, 'False', 'False']);
    assert.deepEqual(said(podWith(both), makeContainer(), { startup: true }), [
      true,
      false,
      'False',
      'False',
    ]);
    const all = { startup: true, readiness: true };
    assert.deepEqual(said(podWith(both), makeContainer(), all), [true, true, 'True', 'True']);
    assert.deepEqual(said(podWith({ livenessProbe: tcp }), makeContainer(), {}), [
      true,
      true,
      'True',
      'True',
    ]);
  });

  it('is neither started nor ready once it has ended', () => {
    const all = { startup: true, readiness: true };
    assert.deepEqual(said(podWith(both), exited(1), all), [false, false, 'False', 'False']);
  });

  it('lists the containers that are not ready', () => {
    const ready = look(podWith(both), makeContainer(), { startup: true }).condition('Ready');
    assert.deepEqual(
      [ready?.reason, ready?.message],
      ['ContainersNotReady', 'containers with unready status: [main]'],
    );
  });
});
