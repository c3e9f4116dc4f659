/** Phase and address of a pod. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { hostPortsOf } from '../../../../../src/kubelet/pods/plan/host-ports.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import type { ObservedPod } from '../../../../../src/kubelet/runtime/observed-pod.ts';
import type { ContainerState } from '../../../../../src/kubelet/runtime/runtime.ts';
import {
  exited,
  makeContainer,
  makeMemory,
  makePod,
  makeSandbox,
  now,
  observed,
  seconds,
} from '../../builders.ts';

const statusOf = (pod: Pod, seen: ObservedPod, memory: Partial<PodMemory> = {}) =>
  computePodStatus({ pod, observed: seen, memory: makeMemory(memory), nodeIP: '192.0.2.1', now });

const side = { name: 'side', image: 'app:1' };
const two = (restartPolicy: string, more: object = {}) =>
  makePod({ restartPolicy, containers: [{ name: 'main', image: 'app:1' }, side], ...more });
const leaving = { deletionTimestamp: '2026-01-01T12:00:00Z' };

describe('the phase of a pod', () => {
  const waitsForRestart = exited(0, { crashes: 3, finishedAt: now - seconds(1) });
  const rows: readonly [
    what: string,
    policy: string,
    containers: readonly ContainerState[],
    phase: string | undefined,
  ][] = [
    ['nothing was started', 'Always', [], 'Pending'],
    ['one container was not started, one runs', 'Always', [makeContainer()], 'Pending'],
    ['one container was not started, one has failed', 'Never', [exited(1)], 'Pending'],
    ['both run', 'Always', [makeContainer(), makeContainer(side)], 'Running'],
    ['one container runs, one has failed', 'Never', [exited(1), makeContainer(side)], 'Running'],
    ['one container has failed, one runs', 'Never', [makeContainer(), exited(1, side)], 'Running'],
    ['one container runs, one has succeeded', 'OnFailure', [exited(0), makeContainer(side)], 'Running'],
    ['both containers have succeeded and start again', 'Always', [exited(0), exited(0, side)], 'Running'],
    ['both containers have failed and start again', 'Always', [exited(1), exited(1, side)], 'Running'],
    [
      'both containers have succeeded, one waits for its restart',
      'Always',
      [waitsForRestart, exited(0, side)],
      'Running',
    ],
    ['both containers have succeeded', 'OnFailure', [exited(0), exited(0, side)], 'Succeeded'],
    ['both containers have succeeded for good', 'Never', [exited(0), exited(0, side)], 'Succeeded'],
    ['one container has failed and starts again', 'OnFailure', [exited(0), exited(1, side)], 'Running'],
    ['one container has failed for good', 'Never', [exited(0), exited(1, side)], 'Failed'],
    ['the other container has failed for good', 'Never', [exited(1), exited(0, side)], 'Failed'],
  ];
  for (const [what, policy, containers, phase] of rows) {
    it(`is ${phase} under ${policy} when ${what}`, () => {
      assert.equal(statusOf(two(policy), observed(makeSandbox(), ...containers)).phase, phase);
    });
  }

  it('is that of the newest container of each name, in any order', () => {
    const older = exited(1);
    for (const containers of [
      [older, exited(0, { attempt: 1 })],
      [exited(0, { attempt: 1 }), older],
    ]) {
      const status = statusOf(makePod({ restartPolicy: 'Never' }), observed(...containers));
      assert.equal(status.phase, 'Succeeded');
      assert.equal(status.containerStatuses?.[0]?.containerID, 'docker://main-1');
      assert.equal(status.containerStatuses?.[0]?.lastState?.terminated?.containerID, 'docker://main-0');
    }
  });

  it('is unchanged once the pod has ended, whatever its containers do', () => {
    for (const phase of ['Failed', 'Succeeded'] as const) {
      const ended = (spec: object) => makePod({ restartPolicy: 'Always', ...spec }, {}, { phase });
      assert.equal(statusOf(ended({}), observed(makeSandbox(), makeContainer())).phase, phase);
      const other = { containers: [{ name: 'main', image: 'app:2' }] };
      assert.equal(statusOf(ended(other), observed(exited(0))).phase, phase);
    }
  });

  describe('the phase of a pod whose containers were stopped because of a new definition', () => {
    const changed = exited(143, { image: 'app:0' });
    const never = { restartPolicy: 'Never' };

    it('is Running, since they start again', () => {
      assert.equal(statusOf(two('Never'), observed(changed, exited(1, side))).phase, 'Running');
      const both = observed(changed, exited(1, { ...side, image: 'app:0' }));
      assert.equal(statusOf(two('Never'), both).phase, 'Running');
    });

    it('is Pending while another was not started', () => {
      assert.equal(statusOf(two('Never'), observed(changed)).phase, 'Pending');
    });

    it('is Running, too, when the pod is new to the agent', () => {
      const before = { phase: 'Running', containerStatuses: [] };
      assert.equal(statusOf(makePod(never, {}, before), observed(changed)).phase, 'Running');
    });

    it('is an end phase when the pod is deleted, or the node ends it', () => {
      assert.equal(statusOf(makePod(never, leaving), observed(changed)).phase, 'Failed');
      const end = { reason: 'Evicted', message: 'm', disruption: true };
      const { phase, reason } = statusOf(makePod(never), observed(changed), { end });
      assert.deepEqual([phase, reason], ['Failed', 'Evicted']);
    });
  });

  it('follows from the recorded ends of removed containers', () => {
    const first = statusOf(makePod({ restartPolicy: 'Never' }), observed(exited(3)));
    const told = makePod({ restartPolicy: 'Never' }, {}, { ...first, phase: 'Running' });
    const later = statusOf(told, observed());
    assert.equal(later.phase, 'Failed');
    assert.deepEqual(later.containerStatuses, first.containerStatuses);
  });
});

describe('a pod that the node ends and that has no containers', () => {
  const end = { reason: 'Evicted', message: 'm', disruption: true };

  it('has no container statuses if no container was ever started', () => {
    assert.ok(!('containerStatuses' in statusOf(two('Never'), observed(), { end })));
  });

  it('no longer reports a running container', () => {
    for (const [containers, container] of [
      [two('Never').spec.containers, makeContainer()],
      [two('Never').spec.containers, makeContainer(side)],
      [makePod().spec.containers, makeContainer()],
    ] as const) {
      const before = statusOf(makePod({ containers }), observed(makeSandbox(), container));
      const { phase, containerStatuses } = statusOf(makePod({ containers }, {}, before), observed(), { end });
      assert.equal(phase, 'Failed');
      const { state } = containerStatuses?.find(({ name }) => name === container.name) ?? {};
      assert.equal(state?.terminated?.reason, 'ContainerStatusUnknown');
    }
  });
});

describe('the address of a pod', () => {
  const before = { phase: 'Running', podIP: '10.244.0.9', podIPs: [{ ip: '10.244.0.9' }] };
  const withHostPort = makePod({
    containers: [{ name: 'main', image: 'app:1', ports: [{ containerPort: 80, hostPort: 8080 }] }],
  });
  const addressOf = (pod: Pod, seen: ObservedPod) => statusOf(pod, seen).podIP;
  const dead = makeSandbox({ state: 'exited', ip: '10.244.0.3' });

  it('is that of the running sandbox', () => {
    assert.equal(addressOf(makePod({}, {}, before), observed(dead, makeSandbox())), '10.244.0.2');
    const { podIP, podIPs, hostIPs } = statusOf(makePod(), observed(makeSandbox()));
    assert.deepEqual([podIP, podIPs, hostIPs], ['10.244.0.2', [{ ip: '10.244.0.2' }], [{ ip: '192.0.2.1' }]]);
  });

  it('is followed by one of IPv6 where pods have one, as is that of the node', () => {
    const second = { ofNode: '2001:db8::1', ofPod: (ip: string) => ip.replace('10.244.0.', 'fd00::') };
    const of = (pod: Pod, seen: ObservedPod) => {
      const memory = makeMemory();
      const node = { nodeIP: '192.0.2.1', second };
      const { podIP, podIPs, hostIPs } = computePodStatus({ pod, observed: seen, memory, ...node, now });
      return [podIP, podIPs?.map(({ ip }) => ip), hostIPs?.map(({ ip }) => ip)];
    };
    const node = ['192.0.2.1', '2001:db8::1'];
    assert.deepEqual(of(makePod(), observed(makeSandbox())), ['10.244.0.2', ['10.244.0.2', 'fd00::2'], node]);
    assert.deepEqual(of(makePod({ hostNetwork: true }), observed()), ['192.0.2.1', node, node]);
    const both = { ...before, podIPs: [{ ip: '10.244.0.9' }, { ip: 'fd00::9' }] };
    assert.deepEqual(of(makePod({}, leaving, both), observed(dead)), [
      '10.244.0.9',
      ['10.244.0.9', 'fd00::9'],
      node,
    ]);
    assert.deepEqual(of(makePod({}, {}, both), observed(dead)), [undefined, undefined, node]);
  });

  it('is unchanged for a terminating pod', () => {
    assert.equal(addressOf(makePod({}, leaving, before), observed(dead)), '10.244.0.9');
    const done = makePod({ restartPolicy: 'Never' }, {}, before);
    assert.equal(addressOf(done, observed(dead, exited(0))), '10.244.0.9');
    assert.equal(addressOf(makePod({ restartPolicy: 'Never' }), observed(dead, exited(0))), undefined);
  });

  it('is absent for a running pod without its sandbox, since another pod may get the address', () => {
    for (const seen of [
      observed(),
      observed(dead),
      observed(dead, exited(1)),
      observed(dead, makeContainer()),
    ]) {
      const status = statusOf(makePod({}, {}, before), seen);
      assert.ok(!('podIP' in status) && !('podIPs' in status));
      assert.deepEqual(hostPortsOf({ ...withHostPort, status }), []);
    }
    assert.equal(hostPortsOf({ ...withHostPort, status: before as Pod['status'] }).length, 1);
  });
});

it('the statuses of init containers are present only if the pod has any', () => {
  const pod = makePod({ initContainers: [{ name: 'first', image: 'init:1' }] });
  assert.deepEqual(
    statusOf(pod, observed()).initContainerStatuses?.map(({ name }) => name),
    ['first'],
  );
  assert.ok(!('initContainerStatuses' in statusOf(makePod(), observed())));
});
