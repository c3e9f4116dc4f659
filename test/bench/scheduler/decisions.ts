/**
 * Decisions only: no server, no bindings. bound.ts measures decisions together with everything else; its
 * floor is the bindings alone.
 */
import { systemRandom } from '../../../src/base/random.ts';
import { plugins } from '../../../src/scheduler/plugins/index.ts';
import { scheduleOne } from '../../../src/scheduler/schedule-one.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { nodeCount, nodes, podCount, pods, type Workload } from './objects.ts';

const runs = 3;

/** Returns the decisions per second. */
function decide(workload: Workload): number {
  const snapshot = new Snapshot();
  for (const node of nodes()) snapshot.setNode(node);
  const all = plugins();
  let begin = 0;
  const waiting = pods(workload);
  const start = performance.now();
  for (const pod of waiting) {
    const decision = scheduleOne(pod, snapshot, {
      policy: 'Default',
      random: systemRandom,
      plugins: all,
      begin,
    });
    if (decision.kind !== 'node') throw new Error(`no node for ${pod.metadata.name}`);
    begin = (begin + decision.lookedAt) % nodeCount;
    snapshot.assume(pod, decision.node);
  }
  return (podCount / (performance.now() - start)) * 1000;
}

function rowOf(workload: Workload, what: string): Row {
  const rates = Array.from({ length: runs }, () => decide(workload));
  return {
    what: `decisions of ${podCount} pods on ${nodeCount} nodes, ${what}`,
    value: median(rates),
    unit: '/s',
  };
}

export const decisions: Benchmark = {
  name: 'decisions',
  run: async () => [
    rowOf('plain', 'pods that ask for resources alone'),
    rowOf('spread', 'with spread over zones and anti-affinity by node'),
  ],
};
