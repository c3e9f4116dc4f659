/**
 * Concurrent runs of task states, on a control plane with a real etcd in this process. The function answers
 * at once, so the result is the cost of a state: one durable status write before the call is sent. The floor
 * is the same number of status writes of the same size through the API, with the same concurrency, and
 * nothing else.
 */

import { systemUser } from '../../../src/apiserver/request/user.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { Client } from '../../../src/client/client.ts';
import type { PlacedCalls } from '../../../src/features/functions/api/placed-calls.ts';
import { workflowResource } from '../../../src/features/workflows/api/workflow.ts';
import {
  hasEnded,
  type WorkflowRun,
  workflowRunResource,
} from '../../../src/features/workflows/api/workflow-run.ts';
import { startTestEtcd } from '../../conformance/etcd-server.ts';
import { createTestPlane } from '../../fixtures/control-plane.ts';
import { type Benchmark, median, type Row } from '../report.ts';

const rounds = Number(process.env.MINIK8S_BENCH_ROUNDS ?? 5);
const runsAtATime = 50;
const states = 20;
const goal = 200;

const answer = Buffer.from('{"ok":true}');
const calls: PlacedCalls = {
  hasRoom: () => true,
  place: async () => ({ instance: 'instance', release: () => undefined }),
  send: async () => ({ type: 'answered', status: 200, error: undefined, isJson: true, body: answer }),
};

const definition = {
  StartAt: 'S0',
  States: Object.fromEntries(
    Array.from({ length: states }, (_, index) => [
      `S${index}`,
      {
        Type: 'Task',
        Resource: 'function:f',
        ...(index === states - 1 ? { End: true } : { Next: `S${index + 1}` }),
      },
    ]),
  ),
};

export const transitions: Benchmark = {
  name: 'transitions',
  async run() {
    const etcd = await startTestEtcd();
    const store = await etcd.connect();
    const plane = await createTestPlane(systemClock, { store, random: systemRandom, placedCalls: calls });
    const stop = new AbortController();
    const running = plane.run(stop.signal);
    await Promise.race([plane.ready, running]);
    const client = plane.clientOf(systemUser('apiserver'));
    await client.resource(workflowResource).create({
      apiVersion: 'minik8s.io/v1',
      kind: 'Workflow',
      metadata: { name: 'w', namespace: 'default' },
      spec: { definition, public: false, serviceAccountName: 'default', runsHistoryLimit: 10_000 },
    });
    const rates: number[] = [];
    const floors: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const ended = await oneRound(client, round);
      rates.push((runsAtATime * states) / ended.seconds);
      floors.push((runsAtATime * states) / (await bareWrites(client, ended.runs)));
    }
    stop.abort();
    await running;
    await store.close();
    await etcd.stop();
    const row: Row = {
      what: `states a second, ${runsAtATime} runs of ${states} at a time`,
      value: median(rates),
      unit: '/s',
      floor: { what: 'bare writes of the same statuses', value: median(floors) },
      target: `> ${goal}`,
      met: median(rates) > goal,
    };
    return [row];
  },
};

async function oneRound(client: Client, round: number) {
  const resource = client.resource(workflowRunResource);
  const names = new Set(Array.from({ length: runsAtATime }, (_, index) => `r${round}-${index}`));
  const { resourceVersion = '' } = (await resource.list({ limit: 1 })).metadata;
  const stop = new AbortController();
  const runs: WorkflowRun[] = [];
  const watching = (async () => {
    for await (const { type, object } of resource.watch({ resourceVersion, signal: stop.signal })) {
      if (type === 'BOOKMARK' || !hasEnded(object) || !names.delete(object.metadata.name)) continue;
      if (object.status?.phase !== 'Succeeded') throw new Error(JSON.stringify(object.status));
      runs.push(object);
      if (names.size === 0) return;
    }
  })();
  const started = performance.now();
  await Promise.all(
    [...names].map((name) =>
      resource.create({
        apiVersion: 'minik8s.io/v1',
        kind: 'WorkflowRun',
        metadata: { name, namespace: 'default' },
        spec: { workflow: 'w', input: { n: 1 } },
      }),
    ),
  );
  await watching;
  stop.abort();
  return { seconds: (performance.now() - started) / 1000, runs };
}

/** Returns the time in seconds. */
async function bareWrites(client: Client, runs: readonly WorkflowRun[]): Promise<number> {
  const resource = client.resource(workflowRunResource);
  const started = performance.now();
  await Promise.all(
    runs.map(async ({ metadata }) => {
      let run = await resource.get(metadata.name, metadata.namespace);
      for (let write = 0; write < states; write++)
        run = await resource.updateStatus({ ...run, status: { ...run.status, historyCount: write } });
    }),
  );
  return (performance.now() - started) / 1000;
}
