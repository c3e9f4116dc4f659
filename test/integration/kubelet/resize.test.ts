/**
 * Pods that request other resources while they run: over the simulated engine, with restarts of the agent.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { ContainerState } from '../../../src/kubelet/runtime/runtime.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const amounts = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
const strategic = { headers: { 'content-type': 'application/strategic-merge-patch+json' } };
const conditionOf = ({ status }: Pod, type: string) => status?.conditions?.find((one) => one.type === type);
const isReady = (pod: Pod) => conditionOf(pod, 'Ready')?.status === 'True';

describe('a resize', { timeout: 300_000 }, () => {
  let node: SimulatedNode;
  beforeEach(async () => {
    node = await startSimulatedNode();
    node.start();
  });
  afterEach(() => node.close());

  const create = async (name: string, resources: object, more: object = {}, spec: object = {}) => {
    await node.createPod(name, {
      containers: [{ name: 'main', image: 'app:1', resources, ...more }],
      ...spec,
    });
    return node.waitFor(name, isReady);
  };
  const resize = async (name: string, resources: object) => {
    const body = { spec: { containers: [{ name: 'main', resources }] } };
    const path = `/api/v1/namespaces/default/pods/${name}/resize`;
    const answer = await node.server.call('PATCH', path, body, strategic);
    assert.equal(answer.status, 200, answer.text);
  };
  const containerOf = async (name: string): Promise<ContainerState> => {
    const [id] = await node.running(name);
    return (await node.runtime.inspect(id ?? assert.fail(`${name} does not run`))) as ContainerState;
  };
  const given = (pod: Pod) => pod.status?.containerStatuses?.[0]?.resources;

  it('is carried out in the running container, and reported', async () => {
    const before = await create('web', amounts('500m', '64Mi'));
    assert.deepEqual(given(before), amounts('500m', '64Mi'));
    assert.deepEqual(before.status?.containerStatuses?.[0]?.allocatedResources, {
      cpu: '500m',
      memory: '64Mi',
    });
    const container = await containerOf('web');
    await resize('web', amounts('1', '128Mi'));
    const pod = await node.waitFor('web', (now) => given(now)?.limits?.cpu === '1');
    assert.deepEqual(given(pod), amounts('1', '128Mi'));
    assert.equal(pod.status?.resize, undefined);
    assert.equal(pod.status?.observedGeneration, pod.metadata.generation);
    assert.equal(conditionOf(pod, 'Ready')?.observedGeneration, pod.metadata.generation);
    assert.equal(conditionOf(pod, 'PodResizeInProgress'), undefined);
    const after = await containerOf('web');
    assert.equal(after.id, container.id, 'it was not started again');
    assert.deepEqual(after.resources, {
      ...{
        nanoCpus: 1e9,
        cpuShares: 1024,
        memory: 128 * 2 ** 20,
        oomScoreAdj: container.resources?.oomScoreAdj,
      },
    });
  });

  it('is carried out for a sidecar, which is not started again', async () => {
    const sidecar = { name: 'side', image: 'app:1', restartPolicy: 'Always' };
    const initContainers = [{ ...sidecar, resources: amounts('500m', '64Mi') }];
    await create('web', amounts('500m', '64Mi'), {}, { initContainers });
    const ask = (body: object) =>
      node.server.call('PATCH', '/api/v1/namespaces/default/pods/web/resize', body, strategic);
    const bigger = (resources: object) => ({ spec: { initContainers: [{ name: 'side', resources }] } });
    const answer = await ask(bigger(amounts('50', '64Mi')));
    assert.equal(answer.status, 200, answer.text);
    const has = (pod: Pod) => pod.status?.initContainerStatuses?.[0];
    const never = await node.waitFor('web', (now) => now.status?.resize === 'Infeasible');
    assert.deepEqual(has(never)?.resources, amounts('500m', '64Mi'));
    await ask(bigger(amounts('1', '96Mi')));
    const pod = await node.waitFor('web', (now) => has(now)?.resources?.limits?.cpu === '1');
    assert.deepEqual(has(pod)?.resources, amounts('1', '96Mi'));
    assert.deepEqual(has(pod)?.allocatedResources, { cpu: '1', memory: '96Mi' });
    assert.equal(has(pod)?.containerID, has(never)?.containerID);
    // The next agent also has the allocated resources.
    await node.stop();
    node.start();
    await ask(bigger(amounts('60', '96Mi')));
    const later = await node.waitFor('web', (now) => now.status?.resize === 'Infeasible');
    assert.deepEqual(has(later)?.resources, amounts('1', '96Mi'));
  });

  it('restarts the container if its resize policy requires it, with any restart policy', async () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    await create('web', amounts('500m', '64Mi'), { resizePolicy }, { restartPolicy: 'OnFailure' });
    const first = await containerOf('web');
    await resize('web', amounts('1', '64Mi'));
    await node.waitFor('web', (now) => given(now)?.limits?.cpu === '1');
    assert.equal((await containerOf('web')).id, first.id, 'the policy does not name the CPU');
    await resize('web', amounts('1', '96Mi'));
    const pod = await node.waitFor(
      'web',
      (now) => (now.status?.containerStatuses?.[0]?.restartCount ?? 0) === 1,
    );
    assert.equal(pod.status?.phase, 'Running');
    assert.equal((await containerOf('web')).resources?.memory, 96 * 2 ** 20);
  });

  it('waits while the node has too few resources, and is applied when it has enough', async () => {
    await create('big', amounts('1500m', '64Mi'));
    await create('web', amounts('250m', '64Mi'));
    await resize('web', amounts('1', '64Mi'));
    const waiting = await node.waitFor('web', (now) => now.status?.resize === 'Deferred');
    const condition = conditionOf(waiting, 'PodResizePending');
    assert.equal(condition?.reason, 'Deferred');
    assert.match(
      condition?.message ?? '',
      /^Node didn't have enough resource: cpu, requested: 1000, used: 1500/,
    );
    assert.deepEqual(given(waiting), amounts('250m', '64Mi'));
    assert.equal((await containerOf('web')).resources?.nanoCpus, 250_000_000);
    // The pending resize does not take resources from other pods yet.
    await create('small', amounts('100m', '64Mi'));
    await resize('big', amounts('500m', '64Mi'));
    const pod = await node.waitFor('web', (now) => given(now)?.limits?.cpu === '1');
    assert.equal(conditionOf(pod, 'PodResizePending'), undefined);
    assert.ok(node.events.some((event) => event.startsWith('ResizeDeferred Node')));
  });

  it('waits for a pod that terminates', async () => {
    await create('big', amounts('1500m', '64Mi'), {}, { terminationGracePeriodSeconds: 0 });
    await create('web', amounts('250m', '64Mi'));
    await resize('web', amounts('1', '64Mi'));
    await node.waitFor('web', (now) => now.status?.resize === 'Deferred');
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/big');
    await node.waitFor('web', (now) => given(now)?.limits?.cpu === '1');
  });

  it('is Infeasible if it exceeds the capacity of the node, and cleared when it is reverted', async () => {
    await create('web', amounts('500m', '64Mi'));
    await resize('web', amounts('50', '64Mi'));
    const pod = await node.waitFor('web', (now) => now.status?.resize === 'Infeasible');
    assert.deepEqual(
      conditionOf(pod, 'PodResizePending')?.message,
      "Node didn't have enough capacity: cpu, requested: 50000, capacity: 2000",
    );
    assert.deepEqual(given(pod), amounts('500m', '64Mi'));
    await resize('web', amounts('500m', '64Mi'));
    const back = await node.waitFor('web', (now) => now.status?.resize === undefined);
    assert.equal(conditionOf(back, 'PodResizePending'), undefined);
  });

  it('that is requested while no agent runs is decided by the next agent', async () => {
    await create('web', amounts('500m', '64Mi'));
    await node.stop();
    await resize('web', amounts('50', '64Mi'));
    node.start();
    const pod = await node.waitFor('web', (now) => now.status?.resize === 'Infeasible');
    assert.deepEqual(given(pod), amounts('500m', '64Mi'));
    await resize('web', amounts('1', '64Mi'));
    await node.waitFor('web', (now) => given(now)?.limits?.cpu === '1');
    const { id } = await containerOf('web');
    await node.stop();
    node.start();
    // The allocated resources are recorded, although the container's label has the first allocation.
    await resize('web', amounts('60', '64Mi'));
    const later = await node.waitFor('web', (now) => now.status?.resize === 'Infeasible');
    assert.deepEqual(given(later), amounts('1', '64Mi'));
    assert.deepEqual(
      [(await containerOf('web')).id, (await containerOf('web')).resources?.nanoCpus],
      [id, 1e9],
    );
  });

  it('applies to the container that is started after a crash', async () => {
    await create('web', amounts('500m', '64Mi'));
    await resize('web', amounts('1', '96Mi'));
    await node.waitFor('web', (now) => given(now)?.limits?.cpu === '1');
    node.runtime.exit((await containerOf('web')).id, 1);
    await node.waitFor('web', (now) => (now.status?.containerStatuses?.[0]?.restartCount ?? 0) === 1);
    await node.waitFor('web', isReady);
    assert.equal((await containerOf('web')).resources?.memory, 96 * 2 ** 20);
  });
});

describe('a resize that the engine refuses', { timeout: 300_000 }, () => {
  it('is reported, and tried again', async () => {
    let refusal: string | undefined = 'the kernel says no';
    const node = await startSimulatedNode(undefined, () => refusal);
    try {
      node.start();
      await node.createPod('web', {
        containers: [{ name: 'main', image: 'app:1', resources: amounts('500m', '64Mi') }],
      });
      await node.waitFor('web', isReady);
      const body = { spec: { containers: [{ name: 'main', resources: amounts('1', '64Mi') }] } };
      await node.server.call('PATCH', '/api/v1/namespaces/default/pods/web/resize', body, strategic);
      const pod = await node.waitFor(
        'web',
        (now) => conditionOf(now, 'PodResizeInProgress')?.reason === 'Error',
      );
      assert.equal(conditionOf(pod, 'PodResizeInProgress')?.message, 'the kernel says no');
      assert.equal(pod.status?.resize, 'InProgress');
      assert.equal(given(pod)?.limits?.cpu, '500m', 'the resources that it has');
      assert.equal(
        pod.status?.containerStatuses?.[0]?.allocatedResources?.cpu,
        '1',
        'the resources that are allocated to it',
      );
      refusal = undefined;
      await node.stop();
      node.start();
      await node.waitFor('web', (now) => given(now)?.limits?.cpu === '1' && now.status?.resize === undefined);
    } finally {
      await node.close();
    }

    function given(pod: Pod) {
      return pod.status?.containerStatuses?.[0]?.resources;
    }
  });
});
