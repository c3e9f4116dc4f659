/** `npm run bench [NAME…]`: the benchmarks of one machine. */
import { pods } from './pods.ts';
import { runBenchmarks } from './run-benchmarks.ts';
import { serviceRules } from './service-rules.ts';
import { idle, start } from './start.ts';

await runBenchmarks([start, pods, serviceRules, idle], process.argv.slice(2));
