/** Time that `minik8s up` takes from an empty data directory until it prints that it is ready. */
import { Cluster } from '../../e2e/harness/cluster.ts';
import { type Benchmark, median, type Row } from '../report.ts';

const starts = 5;
const target = 1200;

async function once(): Promise<number> {
  const cleanups: (() => Promise<void>)[] = [];
  try {
    const cluster = await Cluster.start({ after: (fn) => cleanups.push(fn) }, { stopped: true });
    return await cluster.up();
  } finally {
    for (const cleanup of cleanups) await cleanup();
  }
}

async function run(quick: boolean): Promise<readonly Row[]> {
  const times: number[] = [];
  for (let start = 0; start < (quick ? 1 : starts); start++) times.push(await once());
  const value = median(times);
  return [
    {
      what: 'up: empty data directory → ready',
      value,
      unit: 'ms',
      target: `≤ ${target}`,
      met: value <= target,
    },
  ];
}

export const up = (quick: boolean): Benchmark => ({ name: 'up', run: () => run(quick) });
