/**
 * The metrics pages of a node with 100 real containers: the cost of one page, the time for which it blocks
 * the event loop, and the cost of all pages when each is requested every 15 seconds at a separate time, as
 * Prometheus does. Only processor time is measured, so that other load of the machine counts little.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { reportFor } from '../../src/kubelet/server/node-reports.ts';
import { everyMs } from '../../src/kubelet/usage/usage-reader.ts';
import { reportSources } from '../fixtures/agent-reports.ts';
import { maxTurn } from './longest-turn.ts';
import { type Benchmark, median, type Row } from './report.ts';
import { withUsedPods } from './used-pods.ts';

const containers = 100;
const rounds = 15;
const scrapes = 4;
const everySeconds = 15;
const pages = ['/metrics', '/metrics/cadvisor', '/metrics/resource', '/metrics/probes'];

/** Returns the milliseconds of processor time of this process, including its other threads. */
function used(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function costs(work: () => Promise<unknown>): Promise<number> {
  const spent: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = used();
    await work();
    spent.push(used() - before);
  }
  return median(spent);
}

const run = (): Promise<readonly Row[]> =>
  withUsedPods(containers, async ({ pods, observe, reader }) => {
    const sources = {
      ...reportSources(() => pods, observe),
      usage: (oldestMs?: number) => reader.read(oldestMs),
    };
    const ask = async (path: string) => {
      const report = await reportFor(sources, new URL(path, 'https://kubelet'));
      if (!report) throw new Error(`nothing at ${path}`);
      return report.body;
    };
    const page = async () => void (await ask('/metrics/cadvisor'));
    await page();
    const read = await costs(() => reader.read(0));
    const told = await costs(page);
    const turns: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await reader.read(0);
      turns.push(await maxTurn(page));
    }
    const readTurn = await maxTurn(() => reader.read(0));
    await sleep(everyMs);
    const share = everySeconds * 1000;
    const atRest = used();
    await sleep(scrapes * share);
    const alone = ((used() - atRest) / (scrapes * share)) * 100;
    const before = used();
    const until = performance.now() + scrapes * share;
    await Promise.all(
      pages.map(async (path, index) => {
        await sleep((index * share) / pages.length);
        while (performance.now() < until) {
          await ask(path);
          await sleep(share);
        }
      }),
    );
    const all = ((used() - before) / (scrapes * share)) * 100;
    return [
      {
        what: `/metrics/cadvisor with ${containers} containers, CPU time`,
        ...{ value: told, unit: 'ms', target: '< 30', met: told < 30 },
      },
      { what: 'one reading of the usage of all containers, CPU time', value: read, unit: 'ms' },
      { what: 'longest turn of the event loop during a page, median', value: median(turns), unit: 'ms' },
      { what: 'longest turn of the event loop during a reading', value: readTurn, unit: 'ms' },
      {
        what: `agent from which ${pages.length} pages are read every ${everySeconds} s`,
        ...{ value: all, unit: '% of a core', floor: { what: 'without scrapes', value: alone } },
      },
      {
        what: 'additional processor time of the agent for these pages',
        ...{ value: all - alone, unit: '% of a core', target: '< 1', met: all - alone < 1 },
      },
    ];
  });

export const cadvisorPage: Benchmark = { name: 'cadvisor-page', run };
