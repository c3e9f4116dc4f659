/** Runs tests of the suite and hands each result on when it is there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { systemExec } from '../../src/base/exec.ts';
import type { Programs } from './programs.ts';
import { focusOf, testsIn } from './selection.ts';
import type { SuiteCluster } from './suite-cluster.ts';
import { SuiteLog, type TestResult } from './suite-log.ts';

export interface Run {
  readonly cluster: SuiteCluster;
  readonly programs: Programs;
  readonly names: readonly string[];
  readonly procs: number;
  /** Where everything that the suite writes goes. */
  readonly logFile: string;
  ended(result: TestResult): void;
}

/** A run as a whole has hours: it is the tests that have limits. */
const limit = '12h';

/** All conformance tests of the suite. */
export async function allTests({ suite }: Programs): Promise<string[]> {
  const { stdout } = await systemExec(suite, ['--list-tests'], { lengthy: true });
  const names = testsIn(stdout);
  if (names.length < 300)
    throw new Error(`${suite} lists ${names.length} conformance tests, which cannot be all`);
  return names;
}

/** Resolves when the suite has ended, whatever it found; rejects when it could not be started. */
export async function runSuite({ cluster, programs, names, procs, logFile, ended }: Run): Promise<void> {
  const [program, args] = cluster.command(programs.ginkgo, [
    ...['run', `--procs=${procs}`, '--no-color', '-v', `--timeout=${limit}`, `--focus=${focusOf(names)}`],
    ...[programs.suite, '--', '--provider=skeleton', '--dump-logs-on-failure=false', '--minStartupPods=0'],
    // Every namespace has its ServiceAccount in Kubernetes; none is served here, and all tests would wait for one.
    ...['--e2e-verify-service-account=false', '--allowed-not-ready-nodes=-1'],
    ...[`--kubectl-path=${programs.kubectl}`, `--kubeconfig=${cluster.kubeconfig}`],
  ]);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const file = createWriteStream(logFile, { flags: 'a' });
  const log = new SuiteLog();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    file.write(text);
    log.read(text).forEach(ended);
  });
  child.stderr.on('data', (bytes: Buffer) => file.write(bytes));
  await once(child, 'close');
  file.end();
  await once(file, 'close');
}
