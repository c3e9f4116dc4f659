/**
 * Pods bound per second by the scheduler as it runs in a master: informers, decisions, bindings and events.
 * The floor is the same bindings sent by a client that knows the nodes in advance.
 */
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { TestServer } from '../../fixtures/api-server.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { nodeCount, podCount, pods, type Workload } from './objects.ts';
import { clientOf, runScheduler, serverWith, untilShown } from './server.ts';

const runs = 3;
/** Number of concurrent bindings, as in the scheduler. */
const atOnce = 64;

type Work = (server: TestServer, signal: AbortSignal) => Promise<void>;

/** Returns the milliseconds from the start of `work`, once nodes and pods exist, until every pod is bound. */
async function timeOf(workload: Workload, work: Work): Promise<number> {
  const server = await serverWith(pods(workload));
  const stop = new AbortController();
  const hasNode = ({ spec }: { spec: { nodeName?: string | undefined } }) => spec.nodeName !== undefined;
  const { all } = await untilShown(clientOf(server), podCount, hasNode, stop.signal);
  const start = performance.now();
  const working = work(server, stop.signal);
  await Promise.race([all, working.then(() => all)]);
  const took = performance.now() - start;
  stop.abort();
  await working;
  await server.stop();
  return took;
}

const byClient: Work = async (server) => {
  const client = clientOf(server);
  const waiting = pods('plain').entries();
  const bindAll = async () => {
    for (const [index, { metadata }] of waiting)
      await client.resource(podResource).createSubresource(metadata.name, 'default', 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: metadata.name },
        target: { kind: 'Node', name: `node-${index % nodeCount}` },
      });
  };
  await Promise.all(Array.from({ length: atOnce }, bindAll));
};

async function rateOf(workload: Workload, work: Work): Promise<number> {
  const rates: number[] = [];
  for (let run = 0; run < runs; run++) rates.push((podCount / (await timeOf(workload, work))) * 1000);
  return median(rates);
}

export const bound: Benchmark = {
  name: 'bound',
  async run() {
    const floor = { what: 'bindings alone', value: await rateOf('plain', byClient) };
    const row = async (workload: Workload, what: string, goal: number): Promise<Row> => {
      const value = await rateOf(workload, runScheduler);
      return {
        what: `${podCount} pods bound on ${nodeCount} nodes, ${what}`,
        ...{ value, unit: '/s', floor, target: `≥ ${goal}`, met: value >= goal },
      };
    };
    return [
      await row('plain', 'pods that only request resources', 1_000),
      await row('spread', 'with spread over zones and anti-affinity by node', 300),
    ];
  },
};
