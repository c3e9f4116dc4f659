/** `npm run bench:network [NAME…]`: network policies. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { policyChanges } from './policy-changes.ts';
import { policyTraffic } from './policy-traffic.ts';

await runBenchmarks([policyChanges, policyTraffic], process.argv.slice(2));
