/** `npm run bench:dashboard [NAME…]`: the dashboard in Chromium on a master with 10,000 pods. */
import { BrowserRig } from '../../e2e/harness/browser.ts';
import { type BenchMaster, withMaster } from '../master.ts';
import type { Benchmark, Row } from '../report.ts';
import { runBenchmarks } from '../run-benchmarks.ts';
import { measureAtRest } from './at-rest.ts';
import { fillWithPods } from './many-pods.ts';
import { measureViews } from './views.ts';

type Measure = (browser: BrowserRig, token: string, master: BenchMaster) => Promise<readonly Row[]>;

/** Measures in a browser on a master of its own with many pods. */
const onManyPods = (name: string, measure: Measure): Benchmark => ({
  name,
  run: () =>
    withMaster(['--bind-address=127.0.0.1'], async (master) => {
      const ends: (() => unknown)[] = [];
      try {
        const pods = await fillWithPods(master);
        ends.push(() => pods.close());
        const browser = await BrowserRig.start({ after: (end) => ends.push(end) }, master.server);
        return await measure(browser, pods.token, master);
      } finally {
        for (const end of ends.toReversed()) await end();
      }
    }),
});

const views = onManyPods('views', (browser, token) => measureViews(browser, token));
const atRest = onManyPods('at-rest', (browser, token, { process: { pid = 0 } }) =>
  measureAtRest(browser, token, pid),
);

await runBenchmarks([views, atRest], process.argv.slice(2));
