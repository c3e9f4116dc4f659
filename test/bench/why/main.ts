/** `npm run bench:why [NAME…]`: explanations of a cluster of 10,000 pods, and of one object. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { explainedCluster } from './explained.ts';

await runBenchmarks([explainedCluster], process.argv.slice(2));
