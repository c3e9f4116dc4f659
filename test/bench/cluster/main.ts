/** `npm run bench:cluster [NAME…]`: the benchmarks of many machines. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { deadNode } from './dead-node.ts';
import { dns } from './dns.ts';
import { endpoints } from './endpoints.ts';
import { heartbeats } from './heartbeats.ts';
import { load } from './load.ts';
import { overlay } from './overlay.ts';

await runBenchmarks([heartbeats, deadNode, dns, overlay, endpoints, load], process.argv.slice(2));
