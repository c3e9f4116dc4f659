/** Pods that a node rejects, and the way in which it ends its pods. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { amounts } from '../../../../../src/api/core/v1/pod/requests.ts';
import {
  allocatableOf,
  capacityOf,
  type NodeFacts,
} from '../../../../../src/kubelet/node/plan/node-status.ts';
import { shutdownPhases } from '../../../../../src/kubelet/node/plan/shutdown-phases.ts';
import type { PodEnd } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { deadlineExceeded } from '../../../../../src/kubelet/pods/plan/active-deadline.ts';
import { refusalOf } from '../../../../../src/kubelet/pods/plan/admit-pod.ts';
import { computePodActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
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

function podOf(name: string, requests: Record<string, string> = {}, more: object = {}, status?: object) {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests } }];
  return makePod({ containers, ...more }, { name, uid: name }, status);
}

describe('allocatable', () => {
  const facts = { cpus: 2, memoryBytes: 8 * 2 ** 30, storageBytes: 2 ** 40 } as NodeFacts;
  const capacity = capacityOf({ facts, maxPods: 110 });

  it('is the part of the capacity that is not reserved', () => {
    assert.deepEqual(allocatableOf(capacity), capacity);
    assert.deepEqual(allocatableOf(capacity, { cpu: '500m', memory: '1Gi', 'ephemeral-storage': '24Gi' }), {
      cpu: '1500m',
      memory: '7Gi',
      'ephemeral-storage': '1000Gi',
      pods: '110',
    });
  });

  it('is 0 if all is reserved, and more than all cannot be reserved', () => {
    assert.deepEqual(allocatableOf(capacity, { cpu: '2', memory: '8Gi' }), {
      ...capacity,
      cpu: '0',
      memory: '0',
    });
    assert.throws(() => allocatableOf(capacity, { memory: '9Gi' }), {
      message: 'system-reserved: memory=9Gi is more than this machine has (8Gi)',
    });
  });
});

describe('a pod that is new to a node', () => {
  const allocatable = amounts({ cpu: '1', memory: '1Gi', pods: '3' });
  const refused = (pod: ReturnType<typeof podOf>, ...others: ReturnType<typeof podOf>[]) =>
    refusalOf(pod, others, allocatable);

  it('is admitted if no other pod uses its host ports, except pods that have ended', () => {
    const withPort = (name: string, port: object, status?: object, more: object = {}) => {
      const ports = [{ containerPort: 80, protocol: 'TCP', ...port }];
      return podOf(name, {}, { containers: [{ name: 'main', image: 'app:1', ports }], ...more }, status);
    };
    const wanting = (port: object) => withPort('wants', { hostPort: 8080, ...port });
    const other = withPort('other', { hostPort: 8080, hostIP: '127.0.0.1' });
    assert.deepEqual(refused(wanting({}), other), {
      reason: 'NodePorts',
      message:
        "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
      gracePeriodSeconds: 0,
      disruption: false,
    });
    for (const free of [
      { hostIP: '127.0.0.2' },
      { hostPort: 8081 },
      { protocol: 'UDP' },
      { hostPort: undefined },
    ])
      assert.equal(refused(wanting(free), other), undefined, JSON.stringify(free));
    assert.equal(refused(wanting({}), withPort('wants', { hostPort: 8080 })), undefined);
    assert.equal(refused(wanting({}), withPort('other', { hostPort: 8080 }, { phase: 'Failed' })), undefined);
    const onHost = withPort('host', { containerPort: 8080 }, undefined, { hostNetwork: true });
    assert.equal(refused(wanting({}), onHost)?.reason, 'NodePorts');
  });

  it('is admitted if the node has enough of each resource', () => {
    const other = podOf('other', { cpu: '400m', memory: '512Mi' });
    assert.equal(refused(podOf('new', { cpu: '600m', memory: '512Mi' }), other), undefined);
    assert.equal(refused(podOf('new'), other), undefined);
  });

  it('is refused for an exhausted resource, in upstream words', () => {
    assert.deepEqual(refused(podOf('new', { cpu: '601m' }), podOf('other', { cpu: '400m' })), {
      reason: 'OutOfcpu',
      message:
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 601, used: 400, capacity: 1000",
      gracePeriodSeconds: 0,
      disruption: false,
    });
    assert.equal(refused(podOf('new', { memory: '2Gi' }))?.reason, 'OutOfmemory');
    assert.deepEqual(
      refused(podOf('new', { 'hugepages-2Mi': '2Mi' }))?.message,
      "Pod was rejected: Node didn't have enough resource: hugepages-2Mi, requested: 2097152, used: 0, capacity: 0",
    );
    assert.equal(refused(podOf('new'), podOf('a'), podOf('b'), podOf('c'))?.reason, 'OutOfpods');
  });

  it('is admitted with an unknown extended resource, which the scheduler has counted', () => {
    const gpu = { 'example.com/gpu': '1' };
    assert.equal(refused(podOf('new', gpu)), undefined);
    const one = new Map([...allocatable, ['example.com/gpu', 1] as const]);
    assert.equal(refusalOf(podOf('new', gpu), [], one), undefined);
    assert.equal(refusalOf(podOf('new', gpu), [podOf('other', gpu)], one)?.reason, 'OutOfexample.com/gpu');
  });

  it('is rejected if another pod has its host port and protocol at the same address or at all addresses', () => {
    const withPort = (name: string, port: object, spec: object = {}) => {
      const pod = podOf(name);
      const ports = [{ containerPort: 80, hostPort: 8080, protocol: 'TCP', ...port }];
      return {
        ...pod,
        spec: { ...pod.spec, ...spec, containers: [{ ...pod.spec.containers[0], ports }] },
      } as Pod;
    };
    const web = withPort('web', {});
    assert.equal(
      refused(withPort('new', {}), web)?.message,
      "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    );
    assert.equal(refused(withPort('new', { hostIP: '10.0.0.1' }), web)?.reason, 'NodePorts');
    assert.equal(refused(withPort('new', {}, { hostNetwork: true }), web)?.reason, 'NodePorts');
    assert.equal(refused(web, web), undefined);
    assert.equal(refused(withPort('new', { protocol: 'UDP' }), web), undefined);
    assert.equal(refused(withPort('new', { hostPort: 8081 }), web), undefined);
    const one = withPort('one', { hostIP: '10.0.0.1' });
    assert.equal(refused(withPort('new', { hostIP: '10.0.0.2' }), one), undefined);
    assert.equal(refused(withPort('new', {}), { ...web, status: { phase: 'Succeeded' } } as Pod), undefined);
  });

  it('is admitted as the last pod that the node may run', () => {
    assert.equal(refused(podOf('new'), podOf('a'), podOf('b')), undefined);
  });

  it('is admitted if it requests nothing of an exhausted resource', () => {
    const greedy = podOf('greedy', { cpu: '2' });
    assert.equal(refused(podOf('new', { cpu: '0', memory: '1Gi' }), greedy), undefined);
    assert.equal(refused(podOf('new', { cpu: '1m' }), greedy)?.reason, 'OutOfcpu');
  });

  it('is admitted without counting ended pods and itself', () => {
    const done = podOf('done', { cpu: '1' }, {}, { phase: 'Succeeded' });
    const itself = podOf('new', { cpu: '600m' });
    assert.equal(refused(podOf('new', { cpu: '600m' }), done, itself), undefined);
  });

  it('has failed after its rejection, without container statuses', () => {
    const end = refused(podOf('new', { cpu: '2' })) as PodEnd;
    const pod = podOf('new', { cpu: '2' });
    const status = computePodStatus({
      pod,
      observed: observed(),
      memory: makeMemory({ end }),
      nodeIP: '192.0.2.1',
      now,
    });
    assert.deepEqual(
      [status.phase, status.reason, status.message, status.containerStatuses],
      ['Failed', 'OutOfcpu', end.message, undefined],
    );
    assert.ok(!status.conditions?.some(({ type }) => type === 'DisruptionTarget'));
    // The same holds after the agent has forgotten the reason.
    const later = computePodStatus({
      pod: { ...pod, status },
      observed: observed(),
      memory: makeMemory(),
      nodeIP: '192.0.2.1',
      now: now + seconds(1),
    });
    assert.deepEqual(later, status);
  });
});

describe('a pod that the node ends', () => {
  const end: PodEnd = {
    reason: 'Evicted',
    message: 'low on memory',
    gracePeriodSeconds: 2,
    disruption: true,
  };
  const memory = makeMemory({ end });
  const nodeIP = '192.0.2.1';
  const conditionsOf = (status: ReturnType<typeof computePodStatus>) =>
    Object.fromEntries((status.conditions ?? []).map(({ type, ...rest }) => [type, rest]));

  it('is not ready at once, and has failed when none of its containers runs any more', () => {
    const pod = makePod();
    const running = { pod, observed: observed(makeSandbox(), makeContainer()), memory, now };
    const leaving = computePodStatus({ ...running, nodeIP });
    assert.equal(leaving.phase, 'Running');
    assert.equal(conditionsOf(leaving).Ready?.status, 'False');
    assert.deepEqual(computePodActions(running).actions, [
      { type: 'terminateContainer', id: 'main-0', name: 'main', why: 'low on memory' },
    ]);
    const stopped = { ...running, observed: observed(makeSandbox(), exited(143)) };
    const failed = computePodStatus({ ...stopped, nodeIP });
    assert.deepEqual([failed.phase, failed.reason, failed.message], ['Failed', 'Evicted', 'low on memory']);
    assert.deepEqual(
      { ...conditionsOf(failed).DisruptionTarget, lastTransitionTime: undefined },
      {
        status: 'True',
        reason: 'TerminationByKubelet',
        message: 'low on memory',
        lastTransitionTime: undefined,
      },
    );
    assert.equal(failed.containerStatuses?.[0]?.state?.terminated?.exitCode, 143);
    assert.deepEqual(computePodActions(stopped).actions, [{ type: 'removeSandbox', id: 'sandbox-0' }]);
  });

  it('is killed when the shorter of the two grace periods is over', () => {
    const pod = makePod({ terminationGracePeriodSeconds: 600 });
    const stopping = makeMemory({ end, stopping: new Map([['main-0', now - seconds(2)]]) });
    const plan = computePodActions({
      pod,
      observed: observed(makeSandbox(), makeContainer()),
      memory: stopping,
      now,
    });
    assert.deepEqual(plan.actions, [{ type: 'killContainer', id: 'main-0', name: 'main' }]);
  });

  it('has its own grace period if the termination sets none, as at its deadline', () => {
    const plan = computePodActions({
      pod: makePod({ terminationGracePeriodSeconds: 7 }),
      observed: observed(makeSandbox(), makeContainer()),
      memory: makeMemory({ end: deadlineExceeded }),
      now,
    });
    assert.equal(plan.requeueAfter, seconds(7));
    assert.deepEqual(deadlineExceeded, {
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
      disruption: false,
    });
  });

  it('keeps its phase if it had ended before', () => {
    const pod = makePod({}, {}, { phase: 'Succeeded' });
    const status = computePodStatus({ pod, observed: observed(exited(0)), memory, nodeIP, now });
    assert.deepEqual([status.phase, status.reason], ['Succeeded', undefined]);
  });
});

describe('shutdown', () => {
  const periods = { totalMs: 30_000, criticalMs: 10_000 };
  const phases = (...pods: ReturnType<typeof podOf>[]) =>
    shutdownPhases(pods, periods).map(({ periodMs, pods: ending }) => ({
      periodMs,
      pods: ending.map(({ uid, end }) => `${uid} ${end.gracePeriodSeconds}`),
    }));

  it('terminates ordinary pods first, each with its own grace period or the remaining time', () => {
    const critical = { priorityClassName: 'system-node-critical' };
    assert.deepEqual(
      phases(
        podOf('system', {}, critical),
        podOf('quick', {}, { terminationGracePeriodSeconds: 5 }),
        podOf('slow', {}, { terminationGracePeriodSeconds: 600 }),
      ),
      [
        { periodMs: 20_000, pods: ['quick 5', 'slow 18'] },
        { periodMs: 10_000, pods: ['system 8'] },
      ],
    );
  });

  for (const [totalMs, grace] of [
    [60_000, 58],
    [4_000, 2],
    // A short time is halved.
    [3_000, 1],
    [1_000, 0],
  ] as const) {
    it(`leaves part of ${totalMs} ms to kill the remaining pods, and to report it`, () => {
      const deaf = podOf('deaf', {}, { terminationGracePeriodSeconds: 600 });
      assert.deepEqual(shutdownPhases([deaf], { totalMs, criticalMs: 0 }), [
        {
          periodMs: totalMs,
          pods: [
            {
              uid: 'deaf',
              end: {
                reason: 'Terminated',
                message: 'Pod was terminated in response to imminent node shutdown.',
                gracePeriodSeconds: grace,
                disruption: true,
              },
            },
          ],
        },
      ]);
    });
  }

  it('has no phases without pods', () => assert.deepEqual(phases(), []));
});
