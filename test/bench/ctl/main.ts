/**
 * `npm run bench:ctl [VERB…]`: the built `ctl` beside kubectl 1.32, one after the other on one server, whose
 * resources both keep in a cache on disk, and `ctl logs` of 100 MB beside `docker logs` (large-log.ts).
 * Prints a table with the medians of the elapsed time and of the processor time, and the same data as JSON in
 * the last line. On a machine with other load the processor time is the one to compare. BENCH_RUNS is the
 * number of runs.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatKubeconfig, parseKubeconfig } from '../../../src/client/kubeconfig.ts';
import { startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlOf } from '../../fixtures/kubectls.ts';
import { median, printTable, type Row } from '../report.ts';
import { largeLogName, largeLogRows } from './large-log.ts';
import { type Times, timesOf } from './times.ts';
import { fill, logText, verbs } from './verbs.ts';

const runs = Number(process.env.BENCH_RUNS ?? 15);
const executable = join(import.meta.dirname, '../../../dist/minik8s');

const kubectl = kubectlOf('1.32');
if (!kubectl) {
  process.stderr.write('error: kubectl 1.32 is not there: bin/get-kubectl builds it\n');
  process.exit(2);
}
const wanted = process.argv.slice(2);
const known = [...verbs.map(({ name }) => name), largeLogName];
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`error: no verb ${unknown.join(', ')}; known: ${known.join(', ')}\n`);
  process.exit(2);
}
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);

const server = await startHttpsTestServer({ nodeConnection: async () => new Response(new Blob([logText])) });
const home = await mkdtemp(join(tmpdir(), 'minik8s-bench-ctl-'));
const manifest = join(home, 'manifest.yaml');
const kubeconfig = join(home, 'kubeconfig');
const environment = { HOME: home, PATH: process.env.PATH ?? '', KUBECONFIG: kubeconfig };

/** Returns the rows of a verb: elapsed and processor time of both clients. */
function rowsOf(name: string, ctl: readonly Times[], theirs: readonly Times[]): Row[] {
  const row = (what: string, part: keyof Times): Row => {
    const value = median(ctl.map((times) => times[part]));
    const floor = median(theirs.map((times) => times[part]));
    const target = { target: '≤ kubectl', met: value <= floor };
    return { what, value, unit: 'ms', floor: { what: 'kubectl', value: floor }, ...target };
  };
  return [row(`ctl ${name}, elapsed`, 'elapsed'), row(`ctl ${name}, processor`, 'processor')];
}

const rows: Row[] = [];
try {
  const given = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
  // Kubeconfigs of users are YAML.
  await writeFile(kubeconfig, formatKubeconfig(parseKubeconfig(await readFile(given, 'utf8'), given)));
  await writeFile(manifest, await fill(server));
  for (const { name, args } of verbs) {
    if (!isWanted(name)) continue;
    process.stderr.write(`${name} …\n`);
    const words = args(manifest);
    const times = { ctl: [] as Times[], kubectl: [] as Times[] };
    // The clients take turns, so that the load of the machine is the same for both. The first run of each
    // fills its cache.
    for (let run = 0; run <= runs; run++) {
      const ours = await timesOf(executable, ['ctl', ...words], environment);
      const theirs = await timesOf(kubectl.path, words, environment);
      if (run === 0) continue;
      times.ctl.push(ours);
      times.kubectl.push(theirs);
    }
    rows.push(...rowsOf(name, times.ctl, times.kubectl));
  }
} finally {
  await server.stop();
  await rm(home, { recursive: true, force: true });
}
if (isWanted(largeLogName)) {
  process.stderr.write(`${largeLogName} …\n`);
  rows.push(...(await largeLogRows(runs)));
}
printTable(rows);
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);
