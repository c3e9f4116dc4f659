/**
 * Pods with real containers that do nothing, and a reader of their usage, for benchmarks of usage requests.
 */
import { join } from 'node:path';
import type { Pod } from '../../src/api/core/v1/pod/pod.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { ObservedPod } from '../../src/kubelet/runtime/observed-pod.ts';
import type { ContainerState, SandboxState } from '../../src/kubelet/runtime/runtime.ts';
import { UsageReader } from '../../src/kubelet/usage/usage-reader.ts';
import { systemExec } from '../../src/os/exec.ts';
import { isReady, type NodeHarness, startNodeHarness } from '../integration/kubelet/node-harness.ts';

export interface UsedPods {
  readonly node: NodeHarness;
  readonly pods: readonly Pod[];
  /** Running sandboxes and containers: one of each per pod. */
  readonly running: readonly (ContainerState | SandboxState)[];
  observe(uid: string): ObservedPod;
  readonly reader: UsageReader;
}

/** Creates `count` pods for `measure` and removes them; the agent does not run meanwhile. */
export async function withUsedPods<T>(count: number, measure: (used: UsedPods) => Promise<T>): Promise<T> {
  const node = await startNodeHarness();
  try {
    await node.startAgent({ maxPods: count + 10 });
    const names = Array.from({ length: count }, (_, index) => `used-${index}`);
    for (const name of names) {
      await node.createPod(name, {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'main',
            image: node.images.busybox,
            imagePullPolicy: 'IfNotPresent',
            command: ['sleep', '10000'],
          },
        ],
      });
    }
    const pods = await Promise.all(names.map((name) => node.waitFor(name, isReady, 300_000)));
    await node.stopAgent();
    const objects = await Promise.all((await node.runtime.list()).map(({ id }) => node.runtime.inspect(id)));
    const running = objects.filter(
      (object) => object !== undefined && object.state === 'running' && object.pod !== undefined,
    ) as (ContainerState | SandboxState)[];
    const byPod = Map.groupBy(running, ({ pod }) => pod?.uid);
    const observe = (uid: string): ObservedPod => {
      const of = byPod.get(uid) ?? [];
      return {
        sandboxes: of.filter((object) => object.kind === 'sandbox'),
        containers: of.filter((object) => object.kind === 'container'),
      };
    };
    const reader = new UsageReader({
      pods: () => pods,
      observe,
      volume: (_pod, { name }) => join(node.dataDir, name),
      engineDirectory: () => '/var/lib/docker',
      exec: systemExec,
      clock: systemClock,
      log: silentLogger,
    });
    try {
      return await measure({ node, pods, running, observe, reader });
    } finally {
      await reader.close();
    }
  } finally {
    await node.close();
  }
}
