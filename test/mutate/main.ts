/**
 * `npm run mutate [-- FILE_OR_FOLDER…]`: makes small changes of the source and checks whether a test fails.
 * The tests of a file are those that import it and execute the changed code, the nearest first. Earlier
 * outcomes count as long as neither the file nor its tests have changed, so that an interrupted run continues
 * where it was.
 */
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import PQueue from 'p-queue';
import { importsOf } from '../fixtures/imports.ts';
import { coverageOf, type Ran, ranAt } from './coverage.ts';
import { matchEquivalents } from './equivalent.ts';
import { equivalents } from './equivalents/index.ts';
import { Judge } from './judge.ts';
import { mutantsOf, mutated } from './mutants.ts';
import { type Outcome, OutcomeLog, proofOf } from './outcomes.ts';
import { belowAim, type FileOutcomes, reportOf } from './report.ts';
import { cache, root, testRunner } from './run-test.ts';
import { sampleOf } from './sample.ts';
import { TestGraph } from './test-graph.ts';

/** Sources of a run without names. */
const usual = [
  'src/grpc',
  'src/storage',
  'src/apiserver',
  'src/controllers',
  'src/scheduler',
  ...globSync('src/kubelet/*/plan', { cwd: root }).sort(),
  'src/service-proxy',
];

/** Tests of a part besides its unit tests. None of them needs the machine for itself. */
const further: Readonly<Record<string, readonly string[]>> = {
  'src/apiserver/': ['test/integration/apiserver/*.test.ts'],
  'src/kube-apiserver/': ['test/integration/apiserver/*.test.ts'],
  'src/kube-apiserver/rbac/': ['test/integration/rbac/*.test.ts'],
  'src/kube-apiserver/proxy/': ['test/integration/streaming/api-proxy*.test.ts'],
  'src/kube-apiserver/subresources/': ['test/integration/streaming/{api-proxy,logs,streams}.test.ts'],
  'src/apiserver/upgrade/': ['test/integration/streaming/streams.test.ts'],
  'src/client/': ['test/integration/client/*.test.ts'],
  'src/controller-runtime/': ['test/integration/controller-runtime/*.test.ts'],
  'src/controllers/': ['test/integration/controllers/*.test.ts'],
  'src/kubelet/devices/': [
    'test/integration/kubelet/{card-errors,device-manager,device-plugin-faults,devices,kernel-log,node-devices,unruly-devices}.test.ts',
  ],
  'src/features/triggers/agent/': ['test/integration/kubelet/many-watched-files.test.ts'],
  'src/features/functions/agent/': [
    'test/integration/features/functions/agent/{build-engine-faults,unruly-functions}.test.ts',
  ],
  'src/service-proxy/': [
    'test/integration/service-proxy/kernel.test.ts',
    'test/integration/service-proxy/through-node.test.ts',
  ],
  'src/scheduler/': ['test/integration/scheduler/*.test.ts'],
  // These tests use an SSH server in this process; jobs.test.ts, on a real Slurm, would occupy the machine
  // for a minute.
  'src/features/slurm/client/': [
    'test/integration/features/slurm/client/{client,connection,failed-steps,host-scripts,odd-results,ssh}.test.ts',
  ],
  // These tests use a program, or a server in this process, in place of etcd, and take seconds. Unit tests
  // cover the rest of the store.
  'src/storage/embedded-etcd.ts': ['test/integration/storage/embedded-etcd.test.ts'],
  'src/storage/etcd-process.ts': ['test/integration/storage/etcd-process.test.ts'],
  'src/storage/etcd.ts': [
    'test/integration/storage/etcd-{calls,certificates,connection,endpoints,long-answers}.test.ts',
  ],
  'src/storage/leftover-process.ts': ['test/integration/storage/leftover-process.test.ts'],
  'src/storage/take-over.ts': ['test/integration/storage/take-over.test.ts'],
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    /** Number of tests that run at a time. */
    jobs: { type: 'string', default: String(availableParallelism()) },
    /** More tests that may detect a mutant, by name or pattern. */
    with: { type: 'string', multiple: true, default: [] },
    /** Runs only the unit tests, and those of --with. */
    unit: { type: 'boolean', default: false },
    /**
     * Runs only these tests, by name or pattern: quick when it is known which test should detect the mutant.
     */
    only: { type: 'string', multiple: true, default: [] },
    /** Maximum number of mutants of each file, drawn at random: for files whose tests take long. */
    sample: { type: 'string', default: 'all' },
    /** Seed of the sample. */
    seed: { type: 'string', default: '1' },
  },
});
const jobs = Number(values.jobs);
if (!Number.isSafeInteger(jobs) || jobs < 1) throw new Error('--jobs wants a number from 1');

const sampleSize = values.sample === 'all' ? Number.POSITIVE_INFINITY : Number(values.sample);
if (!(sampleSize >= 1)) throw new Error('--sample wants a number from 1');

const runner = testRunner();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    runner.stop();
    process.exit(128 + constants.signals[signal]);
  });
}

const filesOf = (...patterns: readonly string[]) =>
  globSync([...patterns], { cwd: root, exclude: ['**/*.gen.ts'] }).sort();
const graph = new TestGraph(
  new Map(
    filesOf('src/**/*.ts', 'test/**/*.ts').map((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [file, { text, imports: importsOf(file, text) }];
    }),
  ),
);
const unitTests = filesOf('test/unit/**/*.test.ts');

/** Returns the named files, and the files in the named folders. */
function sourcesOf(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const path = relative(root, resolve(name));
    const found = statSync(join(root, path)).isDirectory() ? filesOf(`${path}/**/*.ts`) : [path];
    if (!path.startsWith('src')) throw new Error(`${name} is not in src/`);
    return found;
  });
}

function testsOf(file: string): readonly string[] {
  if (values.only.length > 0) return graph.reaching(file, filesOf(...values.only));
  const own = values.unit ? [] : Object.keys(further).filter((folder) => file.startsWith(folder));
  const patterns = [...own.flatMap((folder) => further[folder] ?? []), ...values.with];
  return graph.reaching(file, [...new Set([...unitTests, ...filesOf(...patterns)])]);
}

interface Baseline {
  readonly ms: number;
  readonly ran: Readonly<Record<string, Ran[]>>;
}

const failing = new Set<string>();
const baselines = new Map<string, Promise<Baseline | undefined>>();

/** Resolves to the duration and the coverage of a test with the unchanged source; undefined if it fails. */
function baselineOf(test: string): Promise<Baseline | undefined> {
  const known = baselines.get(test) ?? measure(test);
  baselines.set(test, known);
  return known;
}

async function measure(test: string): Promise<Baseline | undefined> {
  const path = join(cache, 'coverage', `${graph.hashOf(test)}.json`);
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Baseline;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const { result, reports } = await runner.measure(test, 300_000);
  if (result.type !== 'passed') {
    failing.add(test);
    return undefined;
  }
  const ran = Object.fromEntries(coverageOf(reports, `${pathToFileURL(root).href}/`));
  const baseline = { ms: result.ms, ran };
  mkdirSync(join(cache, 'coverage'), { recursive: true });
  writeFileSync(path, JSON.stringify(baseline));
  return baseline;
}

const stale: string[] = [];

async function mutateFile(file: string): Promise<FileOutcomes> {
  const source = readFileSync(join(root, file), 'utf8');
  const all = mutantsOf(file, source);
  const same = matchEquivalents(file, source, all, equivalents);
  const mutants = sampleOf(all, sampleSize, `${values.seed} ${file}`);
  if (mutants.length < all.length)
    process.stderr.write(`${file}: ${mutants.length} of ${all.length} mutants, with --seed=${values.seed}\n`);
  stale.push(...same.stale.map(({ line, change }) => `${file}: ${line}: ${change}`));
  const queue = new PQueue({ concurrency: jobs });
  const candidates = await queue.addAll(
    testsOf(file).map((test) => async () => {
      const baseline = await baselineOf(test);
      const ran = baseline?.ran[file];
      return baseline && ran ? [{ test, ms: baseline.ms, runs: (offset: number) => ranAt(ran, offset) }] : [];
    }),
  );
  const tests = candidates.flat();
  const times = new Map(tests.map(({ test, ms }) => [test, ms]));
  const everything = proofOf(
    source,
    tests.map(({ test }) => graph.hashOf(test)),
  );
  const proof = (outcome: Outcome) =>
    'by' in outcome ? proofOf(source, [graph.hashOf(outcome.by)]) : everything;
  const log = new OutcomeLog(join(cache, 'outcomes'), file);
  const judge = new Judge(tests, (mutant, test) =>
    // A generous limit: on a busy machine a test must not count as one that never ends.
    runner.run(test, 10_000 + 6 * (times.get(test) ?? 0), { file, text: mutated(source, mutant) }),
  );
  const outcomes = await queue.addAll(
    mutants.map((mutant) => async () => {
      if (same.matched.has(mutant)) return [mutant, { type: 'equivalent' }] as const;
      const known = log.get(mutant, proof);
      if (known) return [mutant, known] as const;
      const outcome = await judge.judge(mutant);
      log.add(mutant, outcome, proof(outcome));
      return [mutant, outcome] as const;
    }),
  );
  return { file, outcomes };
}

const done: FileOutcomes[] = [];
for (const file of sourcesOf(positionals.length > 0 ? positionals : usual)) {
  const found = await mutateFile(file);
  if (found.outcomes.length > 0) done.push(found);
  const left = found.outcomes.filter(([, { type }]) => type === 'survived' || type === 'not run').length;
  process.stderr.write(`${file}: ${found.outcomes.length} mutants, ${left} not noticed\n`);
}
runner.stop();
process.stdout.write(reportOf(done));
const complaints = [
  ...[...failing].map((test) => `${test} fails with the source as it is, and was left out`),
  ...stale.map((entry) => `test/mutate/equivalents has what the source does not: ${entry}`),
  ...belowAim(done).map((folder) => `${folder} is below the aim`),
];
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
if (complaints.length > 0) process.exitCode = 1;
