/**
 * Cost of a Deployment with 20 containers in the API server itself, now and before kinds were generated from
 * Kubernetes' own types. Both sources run in turn, in processes of their own; the earlier source is checked
 * out in a work tree for the duration.
 */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemExec } from '../../../src/os/exec.ts';
import { type Benchmark, median, type Row } from '../report.ts';

const root = join(import.meta.dirname, '../../..');
/** The last commit before the table of Kubernetes' types. */
const before = '107450a';

interface Cost {
  readonly create: number;
  readonly update: number;
}

async function costOf(source: string): Promise<Cost> {
  const program = join(import.meta.dirname, 'deployment-cost.ts');
  const { stdout } = await systemExec(process.execPath, [program, source], { lengthy: true });
  const [create = Number.NaN, update = Number.NaN] = stdout.trim().split('\n').map(Number);
  return { create, update };
}

async function withSourceOf<T>(commit: string, work: (source: string) => Promise<T>): Promise<T> {
  const source = join(mkdtempSync(join(tmpdir(), 'minik8s-before-')), 'source');
  const git = (...args: string[]) => systemExec('git', ['-C', root, ...args]);
  await git('worktree', 'add', '--detach', source, commit);
  try {
    symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
    return await work(source);
  } finally {
    await git('worktree', 'remove', '--force', source);
    rmSync(join(source, '..'), { recursive: true, force: true });
  }
}

async function run(rounds: number): Promise<readonly Row[]> {
  const [now, then]: [Cost[], Cost[]] = [[], []];
  await withSourceOf(before, async (earlier) => {
    for (let round = 0; round < rounds; round++) {
      now.push(await costOf(root));
      then.push(await costOf(earlier));
    }
  });
  return (['create', 'update'] as const).map((verb) => {
    const of = (costs: readonly Cost[]) => median(costs.map((cost) => cost[verb]));
    const [value, floor] = [of(now), { what: `at ${before}`, value: of(then) }];
    return {
      what: `Deployment of 20 containers, ${verb}: processor`,
      value,
      unit: 'µs',
      floor,
      target: 'no more',
      met: value <= floor.value,
    };
  });
}

export const deployment = (rounds: number): Benchmark => ({ name: 'deployment', run: () => run(rounds) });
