/**
 * `npm run e2e`: every test file, several at a time, those that take longest first. Most of their time they wait (for a
 * lease that ends, an engine that starts). With files named, `npm run e2e -- FILE…`, those.
 */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runAndReport } from '../report.ts';

const concurrency = 3;
const timeoutMs = 480_000;
/**
 * Those of more than forty seconds, the longest first. Those that lock this machine (functions, workflows, faults) stand apart, so
 * that none waits for another in a place where a third could run.
 */
const long = [
  ...['samples', 'functions', 'overlay', 'renewal', 'conformance-network', 'autoscaling'],
  ...[
    'workflows',
    'slurm',
    'node-life',
    'kills',
    'join',
    'dns',
    'faults',
    'streaming',
    'triggers',
    'start-faults',
  ],
  ...['acknowledged-writes', 'hello', 'terminal', 'node-approval', 'volumes', 'service-accounts'],
  ...['faults-dockerd', 'dns-routing', 'three-machines', 'api-proxy', 'function-pool', 'bad-input'],
  ...['probes', 'monitoring', 'monitoring-sample'],
];

const rank = (file: string) => {
  const index = long.indexOf(basename(file, '.test.ts'));
  return index < 0 ? long.length : index;
};

const all = globSync(join(import.meta.dirname, '*.test.ts')).sort();
const named = process.argv.slice(2);
const files = named.length > 0 ? named : all.sort((one, other) => rank(one) - rank(other));

// Stopped by a signal, the files take away what they made (harness/belongings.ts).
runAndReport({ files, concurrency, timeout: timeoutMs });
