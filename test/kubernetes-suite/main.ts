/** bin/conformance: Kubernetes' own conformance tests against dist/minik8s. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { systemExec } from '../../src/os/exec.ts';
import { executable } from '../e2e/harness/cluster.ts';
import { conformanceDoc, type Measured } from './conformance-doc.ts';
import { help, type Options, optionsOf } from './options.ts';
import { type Programs, suitePrograms } from './programs.ts';
import { fileOf, lineOf, type Recorded, type Results, readResults } from './results.ts';
import { allTests, runTests } from './run-suite.ts';
import { type Selection, select } from './selection.ts';
import { givenCluster, type SuiteCluster, startCluster } from './suite-cluster.ts';
import { makeSuiteImages } from './suite-images.ts';
import type { TestSet } from './suite-log.ts';
import { tableOf } from './table.ts';
import { resultsFolder, versionsIn } from './versions.ts';

const root = join(import.meta.dirname, '../..');
const all = join(root, 'dist/conformance');
/** The names of all conformance tests of a version, in the folder of its results. */
const testsFile = 'tests.txt';
const say = (line: string) => process.stdout.write(`conformance: ${line}\n`);

async function main(options: Options): Promise<number> {
  const set: TestSet = options.others ? 'others' : 'conformance';
  const made = `nodes-${options.nodes}${options.dualStack ? '-dual-stack' : ''}`;
  const cluster = options.kubeconfig === undefined ? made : 'given';
  const place = options.others ? `${cluster}-others` : cluster;
  const ofVersion = join(all, resultsFolder(options.version));
  const directory = join(ofVersion, place);
  const file = join(directory, 'results.tsv');
  mkdirSync(directory, { recursive: true });
  const programs = await suitePrograms(options.version, say);
  const names = await allTests(programs, set);
  if (set === 'conformance') writeFileSync(join(ofVersion, testsFile), `${names.join('\n')}\n`);
  const asked = options.pattern !== undefined || options.again || options.failed;
  if (!options.writeDoc || asked) {
    const selection = select(names, resultsOf(file), options);
    report(selection, resultsOf(file));
    // Forgotten now, so that a run that is stopped goes on with them.
    write(file, new Map([...resultsOf(file)].filter(([name]) => !selection.run.includes(name))));
    if (selection.run.length > 0) await runOnCluster(programs, set, selection.run, directory, file, options);
  }
  const results = resultsOf(file);
  // Lines were added as tests ended.
  write(file, results);
  if (options.writeDoc) {
    const page = join(root, 'docs/conformance.md');
    writeFileSync(page, conformanceDoc(measured(options.version, options.nodes), otherVersions(options)));
    say(`${relative(process.cwd(), page)} written`);
  }
  const meant = names.filter((name) => options.pattern?.test(name) ?? set === 'conformance');
  process.stdout.write(`\n${tableOf(meant, results)}`);
  say(`results: ${relative(process.cwd(), file)}`);
  return meant.some((name) => results.get(name)?.state === 'failed') ? 1 : 0;
}

/** Returns the results of a version, as earlier runs have left them. */
function measured(version: string, nodes: number): Measured {
  const resultsIn = (folder: string) => resultsOf(join(all, resultsFolder(version), folder, 'results.tsv'));
  const names = readFileSync(join(all, resultsFolder(version), testsFile), 'utf8')
    .trim()
    .split('\n');
  return {
    ...{ suiteVersion: version, nodes, names, results: resultsIn(`nodes-${nodes}`) },
    onTwoNodes: nodes === 1 ? resultsIn('nodes-2') : undefined,
    others: resultsIn(`nodes-${nodes}-others`),
  };
}

/** Returns the results of all versions but the selected one. */
function otherVersions({ version, nodes }: Options): Measured[] {
  return versionsIn(readdirSync(all)).flatMap((other) => {
    if (other === version) return [];
    const folder = join(all, resultsFolder(other));
    if (!existsSync(join(folder, `nodes-${nodes}`, 'results.tsv'))) return [];
    if (existsSync(join(folder, testsFile))) return [measured(other, nodes)];
    say(
      `the page leaves ${other} out, whose list of tests is missing: run bin/conformance --version ${other}`,
    );
    return [];
  });
}

function report({ run, done, left }: Selection, results: Results): void {
  say(`${run.length} tests to run, ${done.length} have a result, ${left.size} are left out`);
  for (const [reason, tests] of Map.groupBy(left.keys(), (name) => left.get(name)))
    say(`  left out: ${tests.length}: ${reason}`);
  const builds = new Set(done.map((name) => results.get(name)?.build));
  if (builds.size > 0) say(`  those with a result are of ${[...builds].join(', ')}; --again runs them again`);
}

async function runOnCluster(
  programs: Programs,
  set: TestSet,
  names: readonly string[],
  directory: string,
  file: string,
  { nodes, procs, kubeconfig, dualStack }: Options,
): Promise<void> {
  const build = kubeconfig === undefined ? await versionOf(executable) : 'not known here';
  const closers: (() => Promise<void>)[] = [];
  const images = kubeconfig === undefined ? await makeSuiteImages(programs, say) : [];
  const made = kubeconfig === undefined;
  say(made ? `starting a cluster of ${nodes === 1 ? 'one node' : `${nodes} nodes`}` : `using ${kubeconfig}`);
  let cluster: SuiteCluster | undefined;
  try {
    cluster = made
      ? await startCluster({ after: (close) => closers.push(close) }, { nodes, images, dualStack })
      : givenCluster(kubeconfig);
    const logFile = join(directory, `${new Date().toISOString().replaceAll(':', '-')}.log`);
    const place = relative(process.cwd(), logFile);
    say(`running ${names.length} tests, ${procs} at a time; what they say is in ${place}`);
    let count = 0;
    await runTests({
      ...{ cluster, programs, set, names, procs, logFile },
      ended(result) {
        appendFileSync(file, lineOf({ ...result, build }));
        const number = String(++count).padStart(3);
        say(`${number}/${names.length} ${result.state} ${result.seconds} s ${result.name}`);
      },
    });
    if (!cluster.running) throw new Error('minik8s ended while the tests ran: run again with --failed');
  } finally {
    if (cluster) writeFileSync(join(directory, 'minik8s.log'), cluster.log());
    for (const close of closers.reverse()) await close();
  }
}

function write(file: string, results: Results): void {
  writeFileSync(`${file}.new`, fileOf(results));
  renameSync(`${file}.new`, file);
}

const versionOf = async (file: string) => (await systemExec(file, ['version'])).stdout.trim();

const resultsOf = (file: string): ReadonlyMap<string, Recorded> =>
  readResults(existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Undefined, and said, where they are wrong. */
function optionsOrComplaint(): Options | undefined {
  try {
    return optionsOf(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`conformance: ${(error as Error).message}; see bin/conformance --help\n`);
    return undefined;
  }
}

const options = optionsOrComplaint();
if (options?.help) process.stdout.write(help);
else
  process.exitCode =
    options === undefined
      ? 2
      : await main(options).catch((error: Error) => {
          process.stderr.write(`conformance: ${error.message}\n`);
          return 1;
        });
