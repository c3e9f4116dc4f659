/** Pods that fit on no node: the time until each has its reason, and their cost while nothing happens. */

import { podCondition } from '../../../src/api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { sleep, systemClock } from '../../../src/base/clock.ts';
import type { Benchmark, Row } from '../report.ts';
import { nodeCount, pods } from './objects.ts';
import { clientOf, runScheduler, serverWith, untilShown } from './server.ts';

const count = 5_000;
const idleMs = 10_000;

/**
 * Each pod requests a different amount, more than any node has, so no pod can reuse the result of another.
 */
const tooLarge = (): readonly Pod[] =>
  pods('plain', count).map((pod, index) => ({
    ...pod,
    spec: {
      ...pod.spec,
      containers: pod.spec.containers.map((container) => ({
        ...container,
        resources: { requests: { cpu: `${5_000 + index}m` } },
      })),
    },
  }));

/** Returns the milliseconds of processor time. */
const processor = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

export const pending: Benchmark = {
  name: 'pending',
  async run(): Promise<readonly Row[]> {
    const server = await serverWith(tooLarge());
    const stop = new AbortController();
    const isTold = (pod: Pod) => podCondition(pod, 'PodScheduled')?.reason === 'Unschedulable';
    const { all } = await untilShown(clientOf(server), count, isTold, stop.signal);
    const [start, busy] = [performance.now(), processor()];
    const working = runScheduler(server, stop.signal);
    await all;
    const took = performance.now() - start;
    const each = (processor() - busy) / count;
    // The events about the pods are written asynchronously.
    await sleep(systemClock, idleMs);
    const before = processor();
    await sleep(systemClock, idleMs);
    const idle = (processor() - before) / idleMs;
    stop.abort();
    await working;
    await server.stop();
    const what = `${count} different pods that fit on none of ${nodeCount} nodes`;
    return [
      { what: `${what}: reasons reported`, value: (count / took) * 1000, unit: '/s' },
      { what: `${what}: processor for each`, value: each, unit: 'ms' },
      { what: `${what}: processor while they wait`, value: idle * 100, unit: '% of a core' },
    ];
  },
};
