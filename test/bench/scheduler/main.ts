/** `npm run bench:scheduler [NAME…]`: how many pods a second get a node in a large cluster. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { bound } from './bound.ts';
import { decisions } from './decisions.ts';
import { pending } from './pending.ts';

await runBenchmarks([decisions, bound, pending], process.argv.slice(2));
