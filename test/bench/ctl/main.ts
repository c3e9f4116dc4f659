/**
 * `npm run bench:ctl [VERB…]`: the built `ctl` beside kubectl 1.32, one after the other on one server, whose
 * resources both keep in a cache on disk. Prints a table, and the same data as JSON in the last line.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlOf } from '../../fixtures/kubectls.ts';
import { median, printTable, type Row } from '../report.ts';
import { fill, logText, verbs } from './verbs.ts';

const runs = Number(process.env.BENCH_RUNS ?? 15);
const executable = join(import.meta.dirname, '../../../dist/minik8s');

const kubectl = kubectlOf('1.32');
if (!kubectl) {
  process.stderr.write('error: kubectl 1.32 is not there: bin/get-kubectl builds it\n');
  process.exit(2);
}
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !verbs.some((verb) => verb.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `error: no verb ${unknown.join(', ')}; known: ${verbs.map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(2);
}

const server = await startHttpsTestServer({ nodeConnection: async () => new Response(new Blob([logText])) });
const home = await mkdtemp(join(tmpdir(), 'minik8s-bench-ctl-'));
const manifest = join(home, 'manifest.yaml');
const environment = {
  HOME: home,
  PATH: process.env.PATH ?? '',
  KUBECONFIG: await server.kubeconfigFor('kubernetes-admin', ['system:masters']),
};

/** Returns the milliseconds from the start of the program until its output has been read and it has ended. */
async function timeOf(program: string, args: readonly string[]): Promise<number> {
  const start = performance.now();
  const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.resume();
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${String(status)}: ${said}`);
  return performance.now() - start;
}

const rows: Row[] = [];
try {
  await writeFile(manifest, await fill(server));
  for (const { name, args } of verbs) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    process.stderr.write(`${name} …\n`);
    const words = args(manifest);
    const times: Record<'ctl' | 'kubectl', number[]> = { ctl: [], kubectl: [] };
    // Taking turns, both meet the same state of the machine. The first run of each fills its cache.
    for (let run = 0; run <= runs; run++) {
      const ours = await timeOf(executable, ['ctl', ...words]);
      const theirs = await timeOf(kubectl.path, words);
      if (run > 0) {
        times.ctl.push(ours);
        times.kubectl.push(theirs);
      }
    }
    const [value, floor] = [median(times.ctl), median(times.kubectl)];
    const target = { target: '≤ kubectl', met: value <= floor };
    rows.push({
      what: `ctl ${name}`,
      value,
      unit: 'ms',
      floor: { what: 'kubectl', value: floor },
      ...target,
    });
  }
} finally {
  await server.stop();
  await rm(home, { recursive: true, force: true });
}
printTable(rows);
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);
