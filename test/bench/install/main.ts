/** `npm run bench:install [NAME…]`: from the copied file to a node, restarts, a killed master, backups. */
import { runBenchmarks } from '../run-benchmarks.ts';
import { idleRows } from '../start.ts';
import { backups } from './backups.ts';
import { copied } from './copied.ts';
import { killed } from './killed.ts';
import { restart } from './restart.ts';

const idle = { name: 'idle', run: () => idleRows(150) };

await runBenchmarks([copied, restart, killed, backups, idle], process.argv.slice(2));
