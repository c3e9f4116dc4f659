/** `npm run bench:workflows`: states of workflows stored per second, each before the next begins. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { transitions } from './transitions.ts';

await runBenchmarks([transitions], process.argv.slice(2));
