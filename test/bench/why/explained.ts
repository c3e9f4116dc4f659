/** Explanation of the whole cluster, without pauses and in steps between which the event loop turns. */
import { featureRules } from '../../../src/features/why.ts';
import { explainAll, type Problem } from '../../../src/why/explain.ts';
import { RuleBook } from '../../../src/why/rule-book.ts';
import { rules } from '../../../src/why/rules/index.ts';
import { Snapshot } from '../../../src/why/snapshot.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { clusterObjects, podCount } from './objects.ts';

const runs = Number(process.env.BENCH_RUNS ?? 9);
const book = new RuleBook({ ...rules, ...featureRules });
const used = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

interface Measured {
  readonly totalMs: number;
  /** The longest step, during which the event loop is blocked. */
  readonly longestMs: number;
  readonly problems: readonly Problem[];
}

/** Explains a new snapshot, whose indexes are created during the explanation, as in a client. */
function explained(objects: ReturnType<typeof clusterObjects>): Measured {
  const began = used();
  const steps = explainAll(new Snapshot({ nowMs: Date.parse('2026-01-02T00:00:00Z'), objects }), book);
  let longestMs = 0;
  for (let last = began; ; ) {
    const step = steps.next();
    const now = used();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    if (step.done) return { totalMs: now - began, longestMs, problems: step.value };
  }
}

export const explainedCluster: Benchmark = {
  name: 'explained',
  run: async () => {
    const objects = clusterObjects();
    const measured = Array.from({ length: runs + 1 }, () => explained(objects));
    const [first, ...warm] = measured;
    if (!first) throw new Error('nothing was measured');
    const causes = first.problems.length;
    const row = (what: string, value: number, unit: string, most?: number): Row => ({
      ...{ what, value, unit },
      ...(most !== undefined && { target: `< ${most}`, met: value < most }),
    });
    return [
      row(`${podCount} pods explained, first time in a process: processor`, first.totalMs, 'ms', 300),
      row('first explanation: longest step', first.longestMs, 'ms', 50),
      row(
        `${podCount} pods explained, median of ${runs} further times: processor`,
        median(warm.map((one) => one.totalMs)),
        'ms',
        300,
      ),
      row('further explanations: longest step, median', median(warm.map((one) => one.longestMs)), 'ms', 50),
      row('number of problems found', causes, ''),
    ];
  },
};
