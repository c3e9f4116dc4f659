/** `npm run bench:workflows`: how many states of workflows a second are stored, each before the next begins. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { transitions } from './transitions.ts';

await runBenchmarks([transitions], process.argv.slice(2));
