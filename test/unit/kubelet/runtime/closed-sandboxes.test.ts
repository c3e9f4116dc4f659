/** Sandboxes of functions, which only their own machine can reach from the beginning. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import { isFunctionPod } from '../../../../src/features/functions/api/function-instance.ts';
import type { PodNetwork } from '../../../../src/kubelet/runtime/pod-network.ts';
import type { ContainerRuntime } from '../../../../src/kubelet/runtime/runtime.ts';
import { Sandboxes } from '../../../../src/kubelet/runtime/sandboxes.ts';

const done = async () => undefined;

/** Returns the steps for a pod's sandbox, in order; `poolSize` sandboxes are ready before the pod comes. */
async function stepsOf(pod: object, poolSize: number, fails = false): Promise<string[]> {
  const steps: string[] = [];
  const network = {
    allocate: () => '10.9.0.2',
    attach: done,
    detach: done,
    release: () => undefined,
    close: async (ip: string) => {
      steps.push(`closed ${ip}`);
      if (fails) throw new Error('no such link');
    },
  } as unknown as PodNetwork;
  const runtime = {
    runSandbox: async ({ ip }: { ip: string | undefined }) => ({ id: 's', ip, state: 'running', pid: 1 }),
    assignSandbox: async () => void steps.push('assigned'),
    remove: async () => void steps.push('removed'),
  } as unknown as ContainerRuntime;
  const sandboxes = new Sandboxes({ runtime, network, poolSize, log: silentLogger, isClosed: isFunctionPod });
  sandboxes.refill();
  await new Promise((resolve) => setImmediate(resolve));
  await sandboxes.acquire(pod as Pod, 0, 'h').catch((error: Error) => steps.push(error.message));
  return steps;
}

const owner = { apiVersion: 'minik8s.io/v1', kind: 'Function', name: 'f', uid: 'u', controller: true };
const podOf = (image: string, owners: readonly object[] = [], more: object = {}) => ({
  metadata: { uid: 'p', name: 'p', namespace: 'default', ownerReferences: owners },
  spec: { containers: [{ name: 'c', image }], ...more },
});
const ofFunction = {
  'an instance of a function with an image of its own': podOf('app:1', [owner]),
  'an instance of a function that was built': podOf('minik8s.function/default/f:h1', [owner]),
  'an instance that waits for a function': podOf('minik8s.function/default/warm-python:h1'),
};

for (const [what, pod] of Object.entries(ofFunction))
  it(`${what} is closed before its sandbox is used, whether or not it was prepared`, async () => {
    for (const poolSize of [0, 1])
      assert.deepEqual(await stepsOf(pod, poolSize), ['closed 10.9.0.2', 'assigned']);
  });

it('no other pod is closed', async () => {
  const others = [
    podOf('app:1'),
    podOf('app:1', [{ ...owner, controller: false }]),
    podOf('app:1', [{ ...owner, kind: 'Job', apiVersion: 'batch/v1' }]),
    podOf('app:1', [{ ...owner, apiVersion: 'example.com/v1' }]),
  ];
  for (const pod of others) assert.deepEqual(await stepsOf(pod, 1), ['assigned']);
});

it('a pod that cannot be closed does not get its sandbox', async () => {
  for (const poolSize of [0, 1])
    assert.deepEqual(await stepsOf(podOf('app:1', [owner]), poolSize, true), [
      'closed 10.9.0.2',
      'removed',
      'no such link',
    ]);
});
