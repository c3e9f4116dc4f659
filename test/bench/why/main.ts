/** `npm run bench:why [NAME…]`: explanations of a cluster of 10,000 pods, and of one object. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { describedObjects } from './described.ts';
import { explainedCluster } from './explained.ts';

await runBenchmarks([explainedCluster, describedObjects], process.argv.slice(2));
