/** Runs tests of the suite and hands each result on when it is there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { systemExec } from '../../src/os/exec.ts';
import type { Programs } from './programs.ts';
import { focusOf, testsIn } from './selection.ts';
import type { SuiteCluster } from './suite-cluster.ts';
import { SuiteLog, type TestResult, type TestSet } from './suite-log.ts';

export interface Run {
  readonly cluster: SuiteCluster;
  readonly programs: Programs;
  readonly set: TestSet;
  readonly names: readonly string[];
  readonly procs: number;
  /** Folder for everything that the suite writes. */
  readonly logFile: string;
  ended(result: TestResult): void;
}

/** A run as a whole has hours: it is the tests that have limits. */
const limit = '12h';

/** All tests of the set. */
export async function allTests({ suite }: Programs, set: TestSet): Promise<string[]> {
  const { stdout } = await systemExec(suite, ['--list-tests'], { lengthy: true });
  const names = testsIn(stdout, set);
  if (names.length < 300)
    throw new Error(`${suite} lists ${names.length} tests of the set ${set}, which cannot be all`);
  return names;
}

/**
 * Runs the tests together, and then each that has no result by itself: some end the suite's own process when
 * they fail, and with it what else that process had begun. One that does so again has failed.
 */
export async function runTests(run: Run): Promise<void> {
  const missing = new Set(run.names);
  const ended = (result: TestResult) => {
    missing.delete(result.name);
    run.ended(result);
  };
  await runSuite({ ...run, ended });
  for (const name of missing) {
    if (!run.cluster.running) return;
    const crash = await runSuite({ ...run, names: [name], procs: 1, ended });
    if (!missing.has(name)) continue;
    if (crash === undefined) throw new Error(`${name} has no result: see ${run.logFile}`);
    ended({ name, state: 'failed', seconds: 0, message: `the suite's own process ended: ${crash}` });
  }
}

/**
 * Resolves when the suite has ended, whatever it found, with what it said if it fell; rejects when it cannot
 * be started.
 */
async function runSuite({
  cluster,
  programs,
  set,
  names,
  procs,
  logFile,
  ended,
}: Run): Promise<string | undefined> {
  const [program, args] = cluster.command(programs.ginkgo, [
    ...[
      'run',
      `--procs=${procs}`,
      '--no-color',
      '-v',
      `--timeout=${limit}`,
      '--output-interceptor-mode=none',
      `--focus=${focusOf(names, set)}`,
    ],
    ...[programs.suite, '--', '--provider=skeleton', '--dump-logs-on-failure=false', '--minStartupPods=0'],
    '--allowed-not-ready-nodes=-1',
    ...[`--kubectl-path=${programs.kubectl}`, `--kubeconfig=${cluster.kubeconfig}`],
  ]);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const file = createWriteStream(logFile, { flags: 'a' });
  const log = new SuiteLog(set);
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      file.write(text);
      log.read(text).forEach(ended);
    });
  await once(child, 'close');
  file.end();
  await once(file, 'close');
  return log.crash;
}
