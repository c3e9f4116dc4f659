/** Resize of a pod: the changes of its containers, and the reported status. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podRequests } from '../../../../../src/api/core/v1/pod/requests.ts';
import { containerResources } from '../../../../../src/kubelet/containers/plan/resources.ts';
import {
  allocatedPod,
  allocationFrom,
  readResources,
  resizeProblem,
} from '../../../../../src/kubelet/pods/plan/allocation.ts';
import { computePodActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import { containerResize } from '../../../../../src/kubelet/pods/plan/resize-container.ts';
import { resizeState, withResources } from '../../../../../src/kubelet/pods/plan/resize-status.ts';
import { makeContainer, makeMemory, makePod, makeSandbox, now, observed, short } from '../../builders.ts';

const Mi = 2 ** 20;
const held = { nanoCpus: 500_000_000, cpuShares: 256, memory: 64 * Mi, oomScoreAdj: 999 };
const asked = { requests: { cpu: '250m', memory: '32Mi' }, limits: { cpu: '500m', memory: '64Mi' } };
const podOf = (resources: object, more: object = {}, spec: object = {}) =>
  makePod({ containers: [{ name: 'main', image: 'app:1', resources, ...more }], ...spec });

describe('a container', () => {
  const resized = (resources: object, policies: object[] = [], actual = held) =>
    containerResize({ resources, resizePolicy: policies } as never, { resources: actual });

  it('is unchanged while it has its allocated resources', () => {
    assert.equal(resized(asked), undefined);
    assert.equal(
      resized({ ...asked, requests: { cpu: '250m', memory: '1Mi' } }),
      undefined,
      'a memory request limits nothing',
    );
    assert.equal(
      containerResize({ resources: asked } as never, {}),
      undefined,
      'its actual resources are unknown',
    );
    const least = { ...held, cpuShares: 0, nanoCpus: 0, memory: 0 };
    assert.equal(resized({}, [], least), undefined, 'older engines report 0 for the minimum');
    assert.equal(resized({ limits: { cpu: '1m' } }, [], { ...least, nanoCpus: 10_000_000 }), undefined);
  });

  it('is given its allocated resources if it has others', () => {
    assert.deepEqual(resized({ ...asked, limits: { cpu: '1', memory: '64Mi' } }), {
      resources: { ...held, nanoCpus: 1e9 },
      restarts: false,
    });
    assert.equal(resized({ ...asked, requests: { cpu: '500m' } })?.resources.cpuShares, 512);
    assert.equal(resized({ ...asked, limits: { cpu: '500m', memory: '32Mi' } })?.resources.memory, 32 * Mi);
  });

  it('restarts only if the policy of a changed resource is RestartContainer', () => {
    const restart = (resourceName: string) => [{ resourceName, restartPolicy: 'RestartContainer' }];
    const memory = { ...asked, limits: { cpu: '500m', memory: '128Mi' } };
    assert.equal(resized(memory, restart('memory'))?.restarts, true);
    assert.equal(resized(memory, restart('cpu'))?.restarts, false);
    assert.equal(resized({ ...asked, requests: { cpu: '300m' } }, restart('cpu'))?.restarts, true);
    assert.equal(resized({ ...asked, requests: { cpu: '300m' } }, restart('memory'))?.restarts, false);
    const notRequired = [{ resourceName: 'memory', restartPolicy: 'NotRequired' }];
    assert.equal(resized(memory, notRequired)?.restarts, false);
    assert.equal(resized(memory, [...restart('cpu'), ...notRequired])?.restarts, false);
    assert.equal(resized(memory, [...notRequired, ...restart('memory')])?.restarts, true);
  });
});

describe('the plan of a pod', () => {
  const plan = (pod: ReturnType<typeof podOf>, container: object, memory = {}) =>
    computePodActions({
      pod,
      observed: observed(makeSandbox(), makeContainer({ resources: held, ...container })),
      memory: makeMemory(memory),
      now,
    });
  const more = { ...asked, limits: { cpu: '1', memory: '64Mi' } };

  it('gives a container its allocated resources', () => {
    assert.deepEqual(plan(podOf(more), {}).actions.map(short), [
      `resize main main-0 ${JSON.stringify({ ...held, nanoCpus: 1e9 })}`,
    ]);
    assert.deepEqual(plan(podOf(asked), {}).actions, []);
  });

  it('waits before it retries a failed change', () => {
    const failure = { message: 'no', retryAt: now + 4000 };
    assert.deepEqual(plan(podOf(more), {}, { resize: { failure } }), { actions: [], requeueAfter: 4000 });
    assert.equal(
      plan(podOf(more), {}, { resize: { failure: { message: 'no', retryAt: now } } }).actions.length,
      1,
    );
  });

  it('stops a container that must restart, and starts it again for any exit status', () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    const pod = podOf(more, { resizePolicy }, { restartPolicy: 'OnFailure' });
    assert.deepEqual(plan(pod, {}).actions.map(short), [
      'terminate main main-0: its resources changed, and its resizePolicy is RestartContainer',
    ]);
    const stopping = new Map([['main-0', now - 1000]]);
    const ended = { state: 'exited' as const, exitCode: 0 };
    assert.match(plan(pod, ended, { stopping }).actions.map(short).join(), /^start main .* attempt 1/);
    assert.deepEqual(plan(pod, ended).actions.map(short), ['removeSandbox sandbox-0'], 'it ended by itself');
  });
});

describe('a sidecar', () => {
  const more = { ...asked, limits: { cpu: '1', memory: '64Mi' } };
  const withSide = (resources: object, policy = 'Always') =>
    makePod({ initContainers: [{ name: 'side', image: 'app:1', restartPolicy: policy, resources }] });
  const side = makeContainer({ name: 'side', resources: held });
  const plan = (pod: ReturnType<typeof makePod>, memory: object = {}, one = side) =>
    computePodActions({
      pod,
      observed: observed(makeSandbox(), makeContainer(), one),
      memory: makeMemory(memory),
      now,
    }).actions.map(short);

  it('gets its allocated resources while it runs', () => {
    assert.deepEqual(plan(withSide(more)), [
      `resize side side-0 ${JSON.stringify({ ...held, nanoCpus: 1e9 })}`,
    ]);
    assert.deepEqual(plan(withSide(asked)), []);
  });

  it('restarts if its policy requires it', () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    const initContainers = [{ ...withSide(more).spec.initContainers?.[0], resizePolicy }];
    const pod = makePod({ initContainers });
    assert.match(plan(pod).join(), /^terminate side side-0: its resources changed/);
    const stopping = new Map([['side-0', now - 1000]]);
    const ended = { ...side, state: 'exited' as const, exitCode: 143, finishedAt: now };
    assert.match(plan(pod, { stopping }, ended).join(), /^start side .* attempt 1/);
  });

  it('has the allocated resources that its container notes, and its actual resources in the status', () => {
    const pod = withSide(more);
    const noted = makeContainer({ name: 'side', allocation: JSON.stringify(asked), resources: held });
    const given = allocatedPod(pod, allocationFrom(pod, [noted]));
    assert.deepEqual(given.spec.initContainers?.[0]?.resources, asked);
    assert.equal(resizeState(pod, [noted], {}).resize, 'InProgress');
    assert.equal(resizeState(given, [noted], {}).resize, undefined);
    const [told] = withResources(
      [{ name: 'side', image: '', imageID: '', ready: true, restartCount: 0 }],
      pod,
      [noted],
    );
    assert.deepEqual(told?.resources?.limits, { cpu: '500m', memory: '64Mi' });
    assert.deepEqual(told?.allocatedResources, more.requests);
  });

  it('reserves the larger of the allocated and the requested resources', () => {
    const initContainerStatuses = [{ name: 'side', resources: { requests: { cpu: '900m' } } }];
    const pod = { ...withSide(asked), status: { initContainerStatuses } } as never;
    assert.equal(podRequests(pod).get('cpu'), 900);
  });
});

describe('the resources allocated to a pod', () => {
  it('are the resources of its newest containers, otherwise the resources of its spec', () => {
    const pod = podOf(asked);
    const old = { requests: { cpu: '100m' } };
    const containers = [
      makeContainer({ attempt: 1, allocation: JSON.stringify(old) }),
      makeContainer({ attempt: 0, allocation: JSON.stringify({ requests: { cpu: '1' } }) }),
    ];
    const given = allocationFrom(pod, containers);
    const [main] = pod.spec.containers;
    assert.deepEqual(allocatedPod(pod, given), {
      ...pod,
      spec: { ...pod.spec, containers: [{ ...main, resources: { ...asked, ...old } }] },
    });
    assert.equal(allocatedPod(pod, allocationFrom(pod, [])), pod);
    assert.equal(allocatedPod(pod, allocationFrom(pod, [makeContainer({ allocation: 'x' })])), pod);
  });

  it('are determined for each container separately', () => {
    const resources = { requests: { cpu: '1' } };
    const names = ['same', 'less', 'new'];
    const pod = makePod({ containers: names.map((name) => ({ name, image: 'app:1', resources })) });
    const given = new Map([
      ['same', resources],
      ['less', { requests: { cpu: '100m' } }],
    ]);
    assert.deepEqual(
      allocatedPod(pod, given).spec.containers.map(({ name, resources: { requests } }) => [
        name,
        requests?.cpu,
      ]),
      [
        ['same', '1'],
        ['less', '100m'],
        ['new', '1'],
      ],
    );
  });

  it('are ignored unless they have the written form', () => {
    for (const text of [
      undefined,
      '',
      'x',
      '1',
      'null',
      '[]',
      '{"limits":1}',
      '{"requests":{"cpu":1}}',
      '{"limits":[]}',
    ])
      assert.equal(readResources(text), undefined, String(text));
    assert.deepEqual(readResources('{"requests":{"cpu":"1"},"more":2}'), { requests: { cpu: '1' } });
    assert.deepEqual(readResources('{"limits":{"cpu":"1"}}'), { limits: { cpu: '1' } });
    assert.deepEqual(readResources('{}'), {});
  });

  it('are raised only if the node has enough', () => {
    const allocatable = new Map([
      ['cpu', 1000],
      ['memory', 100 * Mi],
      ['pods', 10],
    ]);
    const other = makePod(
      { containers: [{ name: 'a', image: 'b', resources: { requests: { cpu: '600m' } } }] },
      { uid: 'o' },
    );
    const itself = podOf({ requests: { cpu: '300m' } });
    const ended = {
      ...itself,
      metadata: { ...itself.metadata, uid: 'e' },
      status: { phase: 'Succeeded' as const },
    };
    const problem = (cpu: string, memory = '1Mi') =>
      resizeProblem(podOf({ requests: { cpu, memory } }), [other, itself, ended], allocatable);
    assert.equal(problem('400m'), undefined);
    assert.equal(problem('401m')?.reason, 'Deferred');
    assert.equal(problem('1001m')?.reason, 'Infeasible');
    assert.equal(problem('1')?.reason, 'Deferred');
    assert.equal(problem('400m', '100Mi'), undefined);
    assert.equal(resizeProblem(podOf({}), [other], allocatable), undefined);
    assert.equal(resizeProblem(podOf({}), [], new Map([['pods', 10]])), undefined);
    assert.match(
      resizeProblem(podOf({ requests: { cpu: '1m' } }), [], new Map([['pods', 10]]))?.message ?? '',
      /cpu, requested: 1, capacity: 0$/,
    );
    assert.match(
      problem('100m', '101Mi')?.message ?? '',
      /^Node didn't have enough capacity: memory, requested: 105906176/,
    );
  });
});

describe('the status of a resized pod', () => {
  const statuses = [{ name: 'main', image: '', imageID: '', ready: true, restartCount: 0 }];
  const said = (resources: object, container: object) =>
    withResources(statuses, podOf(resources), [makeContainer(container)])[0];

  it('has the actual resources of a container if they differ', () => {
    const found = said(asked, {
      resources: { ...held, nanoCpus: 300_000_000, cpuShares: 102, memory: 32 * Mi },
    });
    assert.deepEqual(found?.allocatedResources, asked.requests);
    assert.deepEqual(found?.resources, {
      requests: { cpu: '100m', memory: '32Mi' },
      limits: { cpu: '300m', memory: String(32 * Mi) },
    });
    assert.deepEqual(said(asked, { resources: held })?.resources, asked);
    assert.deepEqual(said(asked, { state: 'exited', resources: { ...held, memory: 1 } })?.resources, asked);
    assert.deepEqual(withResources(statuses, podOf(asked), []), statuses, 'a container that does not exist');
    const bare = said({}, { resources: { nanoCpus: 0, cpuShares: 2, memory: 0, oomScoreAdj: 1 } });
    assert.deepEqual(bare, { ...statuses[0], resources: {} });
    const empty = { requests: {}, limits: {} };
    assert.deepEqual(said(empty, { resources: undefined }), { ...statuses[0], resources: empty });
    // The actual values are the minimum of the kernel; the status shows the requested values.
    const least = { requests: { cpu: '1m', memory: '32Mi' }, limits: { cpu: '1m', memory: '32Mi' } };
    const most = { ...held, nanoCpus: 10_000_000, cpuShares: 2 };
    assert.deepEqual(said(least, { resources: most })?.resources, {
      requests: least.requests,
      limits: { cpu: '1m', memory: String(64 * Mi) },
    });
    const memoryAlone = { requests: { memory: '32Mi' }, limits: { memory: '32Mi' } };
    assert.deepEqual(said(memoryAlone, { resources: held })?.resources, {
      ...memoryAlone,
      limits: { memory: String(64 * Mi) },
    });
  });

  it('has the CPU request from which the shares were computed', () => {
    for (const cpu of ['3m', '250m', '999m', '1', '1001m', '64']) {
      const { cpuShares } = containerResources({ resources: { requests: { cpu } } });
      const found = said({ requests: { cpu: '7' } }, { resources: { ...held, cpuShares } });
      assert.equal(found?.resources?.requests?.cpu, cpu);
    }
  });

  it('has the progress, the failure or the deferral of the resize', () => {
    const more = { ...asked, limits: { cpu: '1', memory: '64Mi' } };
    const state = (resources: object, resize: object = {}) =>
      resizeState(podOf(resources), [makeContainer({ resources: held })], { resize });
    assert.deepEqual(state(asked), { resize: undefined, conditions: [] });
    assert.deepEqual(state(more), {
      resize: 'InProgress',
      conditions: [{ type: 'PodResizeInProgress', status: 'True' }],
    });
    assert.deepEqual(state(more, { failure: { message: 'no', retryAt: now } }).conditions, [
      { type: 'PodResizeInProgress', status: 'True', reason: 'Error', message: 'no' },
    ]);
    const pending = { reason: 'Deferred' as const, message: 'later' };
    assert.deepEqual(state(asked, { pending }), {
      resize: 'Deferred',
      conditions: [{ type: 'PodResizePending', status: 'True', ...pending }],
    });
  });

  it('has the resize in its conditions until the pod has ended', () => {
    const pod = podOf({ ...asked, limits: { cpu: '1', memory: '64Mi' } }, {}, { restartPolicy: 'Never' });
    const look = (status: object) => {
      const { resize, phase, conditions } = computePodStatus({
        pod: { ...pod, status } as typeof pod,
        observed: observed(makeSandbox(), makeContainer({ resources: held })),
        memory: makeMemory(),
        nodeIP: '192.0.2.7',
        now,
      });
      return [phase, resize, conditions?.some(({ type }) => type === 'PodResizeInProgress')];
    };
    assert.deepEqual(look({}), ['Running', 'InProgress', true]);
    assert.deepEqual(look({ phase: 'Failed', resize: 'InProgress' }), ['Failed', undefined, false]);
  });

  it('has the phase Running while the only container restarts', () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    const more = { ...asked, limits: { cpu: '1', memory: '64Mi' } };
    const phase = (stopping: readonly string[]) =>
      computePodStatus({
        pod: podOf(more, { resizePolicy }, { restartPolicy: 'OnFailure' }),
        observed: observed(makeSandbox(), makeContainer({ state: 'exited', resources: held })),
        memory: makeMemory({ stopping: new Map(stopping.map((id) => [id, now])) }),
        nodeIP: '192.0.2.7',
        now,
      }).phase;
    assert.deepEqual([phase(['main-0']), phase([])], ['Running', 'Succeeded']);
  });
});
