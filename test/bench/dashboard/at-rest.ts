/** Cost of an open dashboard for the master while nothing changes but the Leases of the nodes. */
import type { BrowserRig } from '../../e2e/harness/browser.ts';
import { median, type Row } from '../report.ts';
import { usageOf } from '../usage.ts';

const settleMs = Number(process.env.BENCH_SETTLE_MS ?? 15_000);
const measuredMs = Number(process.env.BENCH_REST_MS ?? 20_000);
const samples = 10;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Cost {
  /** Percent of a core. */
  readonly cpu: number;
  /** Megabytes of resident memory. */
  readonly memory: number;
}

async function costOf(pid: number): Promise<Cost> {
  await wait(settleMs);
  const before = usageOf(pid).cpu;
  const memory: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await wait(measuredMs / samples);
    memory.push(usageOf(pid).rss / 2 ** 20);
  }
  return { cpu: ((usageOf(pid).cpu - before) * 100_000) / measuredMs, memory: median(memory) };
}

const pages = [
  ['overview', ''],
  ['table of pods', 'k/pods'],
] as const;

/** Measures pages that were opened before, so that work that the master does only once is not counted. */
export async function measureAtRest(
  browser: BrowserRig,
  token: string,
  pid: number,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, path] of pages) {
    const none = await costOf(pid);
    const page = await browser.signIn(token, path);
    const open = await costOf(pid);
    await page.context().close();
    rows.push(
      rowOf(`master while the ${name} is open and at rest: processor`, open.cpu, none.cpu, '% of a core', 2),
      rowOf(`master while the ${name} is open and at rest: memory`, open.memory, none.memory, 'MB', 20),
    );
  }
  return rows;
}

const rowOf = (what: string, value: number, without: number, unit: string, most: number): Row => ({
  ...{ what, value, unit },
  floor: { what: 'no page is open', value: without },
  target: `< floor + ${most}`,
  met: value < without + most,
});
