/**
 * Jobs of one pod each, from the first request until the last Job is Complete: API server, controllers and
 * scheduler as they run in a master, on a store in memory, and agents that only report that pods run and have
 * ended.
 */
import { type Job, jobResource } from '../../../src/api/batch/v1/job.ts';
import { isFinished } from '../../../src/api/batch/v1/job-conditions.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { Client } from '../../../src/client/client.ts';
import { admin } from '../../fixtures/api-server.ts';
import { createTestPlane } from '../../fixtures/control-plane.ts';
import { type Benchmark, median } from '../report.ts';
import { runAgents } from './agents.ts';

const [runs, count, nodes, atOnce] = [3, 1_000, 20, 16] as const;

const draft = (index: number) =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `job-${index}`, namespace: 'default' },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'app:1' }] } } },
  }) as unknown as Draft<Job>;

async function createAll(client: Client): Promise<void> {
  const waiting = Array.from({ length: count }, (_, index) => index).values();
  const some = async () => {
    for (const index of waiting) await client.resource(jobResource).create(draft(index));
  };
  await Promise.all(Array.from({ length: atOnce }, some));
}

async function addNodes(client: Client): Promise<void> {
  const allocatable = { cpu: '64', memory: '256Gi', pods: '1000' };
  const conditions = [{ type: 'Ready', status: 'True' as const }];
  for (let index = 0; index < nodes; index++) {
    const made = await client.resource(nodeResource).create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `node-${index}` },
      spec: {},
    });
    const status = { allocatable, capacity: allocatable, conditions };
    await client.resource(nodeResource).patch(made.metadata.name, '', 'merge', { status }, 'status');
  }
}

/** Resolves when `count` Jobs have finished. */
async function untilAllEnd(client: Client, signal: AbortSignal): Promise<void> {
  const ended = new Set<string>();
  for await (const { type, object } of client.resource(jobResource).watch({ resourceVersion: '0', signal })) {
    if (type !== 'BOOKMARK' && isFinished(object)) ended.add(object.metadata.name);
    if (ended.size === count) return;
  }
}

/** Returns the time in milliseconds. */
async function timeOfAll(): Promise<number> {
  const stop = new AbortController();
  const ofProcess = { random: systemRandom, log: silentLogger };
  const plane = await createTestPlane(systemClock, { ...ofProcess, nodeGracePeriodMs: 3_600_000 });
  const running = plane.run(stop.signal);
  await plane.ready;
  const client = plane.clientOf(admin);
  await addNodes(client);
  const agents = runAgents(client, stop.signal);
  const all = untilAllEnd(client, stop.signal);
  const start = performance.now();
  await createAll(client);
  await all;
  const took = performance.now() - start;
  stop.abort();
  await Promise.all([running, agents]);
  return took;
}

export const jobs: Benchmark = {
  name: 'jobs',
  async run() {
    const rates: number[] = [];
    for (let run = 0; run < runs; run++) rates.push((count / (await timeOfAll())) * 1000);
    const value = median(rates);
    const what = `${count} Jobs of one pod each, made, run and Complete`;
    return [{ what, value, unit: '/s', target: '≥ 100', met: value >= 100 }];
  },
};
