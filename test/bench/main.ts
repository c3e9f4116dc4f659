/** `npm run bench [NAME…]`: the benchmarks of one machine. */
import { access } from './access.ts';
import { bodies } from './bodies.ts';
import { bodiesMaster } from './bodies-master.ts';
import { forms } from './forms.ts';
import { load } from './load.ts';
import { nodeReads } from './node-reads.ts';
import { pods } from './pods.ts';
import { readsOfMaster } from './reads.ts';
import { runBenchmarks } from './run-benchmarks.ts';
import { serviceRules } from './service-rules.ts';
import { idle, start } from './start.ts';

await runBenchmarks(
  [start, pods, serviceRules, access, bodies, bodiesMaster, forms, nodeReads, readsOfMaster, load, idle],
  process.argv.slice(2),
);
