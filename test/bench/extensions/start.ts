/**
 * The start of a master with many definitions, compared with the start of the same master without
 * definitions.
 */
import { administrators, clientOf } from '../api/servers.ts';
import { Lane, requestBytes } from '../lane.ts';
import { withMaster } from '../master.ts';
import { type Benchmark, median, type Row, timed } from '../report.ts';
import { usageOf } from '../usage.ts';
import { applyMany, untilServed } from './many.ts';
import type { ExtensionOptions } from './options.ts';

const settleMs = 10_000;
const maxMoreSeconds = 2;
const maxMoreMegabytes = 200;

/** Returns the seconds of the starts, and the memory of the last one in MB. */
const startsWith = (count: number, rounds: number) =>
  withMaster(['--bind-address=127.0.0.1'], async ({ server, authority, restart }) => {
    const target = await clientOf(Number(new URL(server).port), authority, administrators);
    if (count > 0) {
      await applyMany(target, count);
      await untilServed(target, count);
    }
    let pid = 0;
    const times = await timed(rounds, async () => {
      pid = (await restart()).pid ?? 0;
      if (count > 0) await untilServed(target, count);
      else await answered(target);
    });
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    return { seconds: median(times) / 1000, megabytes: usageOf(pid).rss / 2 ** 20 };
  });

async function answered(target: Awaited<ReturnType<typeof clientOf>>): Promise<void> {
  const lane = new Lane(target, true);
  await lane.ask(requestBytes('GET', '/api/v1/namespaces'));
  lane.close();
}

export const start = ({ definitions, rounds }: ExtensionOptions): Benchmark => ({
  name: 'start',
  run: async (): Promise<readonly Row[]> => {
    const without = await startsWith(0, rounds);
    const with_ = await startsWith(definitions, rounds);
    const row = (what: string, unit: string, which: 'seconds' | 'megabytes', more: number): Row => ({
      what: `${what} with ${definitions} definitions`,
      value: with_[which],
      unit,
      floor: { what: 'without', value: without[which] },
      target: `< ${more} ${unit} more`,
      met: with_[which] - without[which] < more,
    });
    return [
      row('a master: stop and start', 's', 'seconds', maxMoreSeconds),
      row('a master: memory (RSS) after a start', 'MB', 'megabytes', maxMoreMegabytes),
    ];
  },
});
