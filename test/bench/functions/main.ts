/** `npm run bench:functions [NAME…]`: the cost of calls of functions. */
import { parseArgs } from 'node:util';
import { runBenchmarks } from '../run-benchmarks.ts';
import { atRest } from './at-rest.ts';
import { cold, pooled } from './cold.ts';
import { warm } from './warm.ts';

const help = `usage: npm run bench:functions -- [--quick] [NAME…]
  --quick  few calls, short rounds: only shows that the benchmark works
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean', short: 'h' }, quick: { type: 'boolean' } },
});
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
await runBenchmarks(
  values.quick
    ? [warm(1, 1000), cold(2), pooled(3), atRest(50, 5000)]
    : [warm(3, 3000), cold(7), pooled(7), atRest(1000, 30_000)],
  positionals,
);
