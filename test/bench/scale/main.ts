/** `npm run bench:scale [NAME…]`: controllers with many objects, with simulated nodes. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { autoscaling } from './autoscalers.ts';
import { daemons } from './daemons.ts';
import { jobs } from './jobs.ts';
import { stateful } from './stateful.ts';

await runBenchmarks([jobs, stateful, daemons, autoscaling], process.argv.slice(2));
