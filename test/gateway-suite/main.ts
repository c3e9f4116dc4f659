/** bin/gateway-conformance: the Gateway API's own conformance tests against dist/minik8s. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Cluster } from '../e2e/harness/cluster.ts';
import { Host } from '../e2e/harness/host.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { makeSuiteImages, nginxImage } from './images.ts';
import { suitePrograms } from './programs.ts';
import { failuresOf, resultsIn, type TestResult } from './suite-log.ts';

const help = `usage: bin/gateway-conformance [TEST...]

Runs the conformance tests of the Gateway API's profiles GATEWAY-HTTP and GATEWAY-GRPC, core and extended, on
a cluster of its own: all of them, or the tests with these names, such as HTTPRouteMatching. Needs Go, and a
mirror of Debian for the nginx of Debian 13.
Writes dist/gateway-conformance/report.yaml (the suite's own report), results.txt and suite.log.
`;

const root = join(import.meta.dirname, '../..');
const directory = join(root, 'dist/gateway-conformance');
const say = (line: string) => process.stdout.write(`gateway-conformance: ${line}\n`);

async function main(tests: readonly string[]): Promise<number> {
  mkdirSync(directory, { recursive: true });
  const closers: (() => Promise<void>)[] = [];
  const cleanup = { after: (close: () => Promise<void>) => void closers.push(close) };
  try {
    const programs = await suitePrograms(say);
    say('images: making stand-ins');
    const images = await makeSuiteImages(programs);
    const host = await Host.start(cleanup, { images });
    const cluster = await Cluster.start(cleanup, { host, flags: [`--nginx-image=${nginxImage}`] });
    closers.push(async () => writeFileSync(join(directory, 'minik8s.log'), cluster.log));
    await waitFor('the class', async () =>
      /True/.test(await cluster.kubectl('get', 'gatewayclass', 'minik8s')),
    );
    const runs = tests.length === 0 ? [[]] : tests.map((name) => [`-run-test=${name}`]);
    let output = '';
    for (const flags of runs) output += await run(host, cluster, programs.suite, flags);
    writeFileSync(join(directory, 'suite.log'), output);
    return report(resultsIn(output), output);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Resolves to the output of the suite. */
async function run(host: Host, cluster: Cluster, suite: string, flags: readonly string[]): Promise<string> {
  say(`running the suite ${flags.join(' ')}`);
  const [program, args] = host.command(suite, [
    ...['-test.v', '-test.timeout=4h', '-test.run=TestConformance', '-gateway-class=minik8s'],
    ...['-conformance-profiles=GATEWAY-HTTP,GATEWAY-GRPC', '-cleanup-base-resources=false'],
    ...['-organization=minik8s', '-project=minik8s', '-url=https://minik8s.test', '-version=source'],
    ...['-contact=none', `-report-output=${join(directory, 'report.yaml')}`],
    ...flags,
  ]);
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const { name, state, seconds } of resultsIn(text))
        if (state !== 'skipped') say(`${state} ${name} (${seconds} s)`);
    });
  await once(child, 'close');
  return output;
}

function report(results: readonly TestResult[], output: string): number {
  const lines = results.map(({ name, state }) => {
    const parts = state === 'failed' ? failuresOf(output, name).map((part) => `\n    ${part}`) : [];
    return `${state} ${name}${parts.join('')}`;
  });
  writeFileSync(join(directory, 'results.txt'), `${lines.join('\n')}\n`);
  const count = (state: TestResult['state']) => results.filter((one) => one.state === state).length;
  say(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
  for (const line of lines.filter((one) => one.startsWith('failed'))) say(line);
  say(`results: ${relative(process.cwd(), directory)}`);
  return count('failed') === 0 && count('passed') > 0 ? 0 : 1;
}

const words = process.argv.slice(2);
if (words.includes('--help') || words.includes('-h')) process.stdout.write(help);
else
  process.exitCode = await main(words).catch((error: Error) => {
    process.stderr.write(`gateway-conformance: ${error.message}\n`);
    return 1;
  });
