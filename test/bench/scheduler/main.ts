/** `npm run bench:scheduler [NAME…]`: pods scheduled per second in a large cluster. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { bound } from './bound.ts';
import { decisions } from './decisions.ts';
import { pending } from './pending.ts';

await runBenchmarks([decisions, bound, pending], process.argv.slice(2));
