/** Runs the test files of a stage, runs failed files once more, and stores and prints the results. */
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commitOf, runsOf, writeRecord } from './flake-record.ts';
import {
  needsOf,
  nextProcess,
  processesOf,
  type RunningProcess,
  secondsLeft,
  type TestProcess,
} from './plan.ts';
import { runProcess } from './process.ts';
import { type Limits, MeasuredRoom, type Room } from './processor-room.ts';
import { machineSeconds } from './processor-seconds.ts';
import { ProgressPrinter } from './progress.ts';
import type { ProcessResult } from './report.ts';
import { allowedSkips, judgeSkips } from './skips.ts';
import { type FileTime, slowest } from './slowest.ts';
import type { Stage } from './stages.ts';
import { expectedSeconds, kilobytesOf, readTimes, usualTimes, writeTimes } from './times.ts';
import { failureText, filesToRunAgain, totalLines, type Verdict, verdictOf } from './verdict.ts';

export interface StageOptions {
  readonly root: string;
  /** Test files, relative to `root`. */
  readonly files: readonly string[];
  /**
   * Folder for the results: STAGE.json, STAGE.log, runs-STAGE.jsonl, and flaky-STAGE.txt if a file passed
   * only when it was run again.
   */
  readonly results: string;
  /** File with the duration of each test file. */
  readonly times: string;
  /** Texts, separated by commas: a skip whose reason contains one of them does not fail the run. */
  readonly allowed: string | undefined;
  /** True to print the whole output of the processes. */
  readonly verbose: boolean;
  /** True to end with a line that has only the counts; otherwise the stage's name precedes them. */
  readonly totals: boolean;
  readonly signal: AbortSignal;
  /** Measures whether more processes than the least have room; this machine's processors by default. */
  readonly roomFor?: (limits: Limits) => Room;
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Contents of STAGE.json. */
export interface StageResult {
  readonly stage: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly flaky: readonly string[];
  /** Processor time of the machine meanwhile, with that of containers and of whatever else it runs. */
  readonly machineSeconds: number;
  /** Processor time of starting the processes and loading the files. */
  readonly loadingSeconds: number;
  readonly files: readonly FileTime[];
}

/** Returns whether the stage passed; false if it was interrupted. */
export async function runStage(stage: Stage, options: StageOptions): Promise<boolean> {
  const { root, results, signal, out, times } = options;
  for (const name of [`${stage.name}.json`, `${stage.name}.log`, `flaky-${stage.name}.txt`, runsFile(stage)])
    rmSync(join(results, name), { force: true });
  mkdirSync(results, { recursive: true });
  const machineBefore = machineSeconds();
  const known = [readTimes(times), readTimes(usualTimes)] as const;
  const tests = options.files.map((file) => ({
    file,
    seconds: expectedSeconds(stage, file, kilobytesOf(file, root), known),
    ...needsOf(readFileSync(resolve(root, file), 'utf8')),
  }));
  const limits = { least: stage.concurrency, most: stage.maxConcurrency ?? stage.concurrency };
  const first = await runAll(stage, processesOf(stage, tests), limits, options);
  const again = signal.aborted ? [] : filesToRunAgain(first);
  if (again.length > 0) out.write(`\nrunning again, alone: ${again.join(', ')}\n`);
  const alone = tests
    .filter(({ file }) => again.includes(file))
    .map((test) => ({ ...test, name: test.file, files: [test.file] }));
  const second = await runAll(stage, alone, { least: 1, most: 1 }, options);
  if (signal.aborted) {
    const done = first.reduce((sum, { files }) => sum + files.length, 0);
    out.write(`\n${stage.name}: interrupted; ${done} of ${tests.length} files had ended\n`);
    return false;
  }
  const used = {
    machineSeconds: rounded(machineSeconds() - machineBefore),
    loadingSeconds: rounded([...first, ...second].reduce((sum, result) => sum + result.loadingSeconds, 0)),
  };
  return conclude(stage, verdictOf(first, second), used, options);
}

/** Returns the results of the processes that ended by themselves. */
async function runAll(
  stage: Stage,
  processes: readonly TestProcess[],
  limits: Limits,
  options: StageOptions,
): Promise<ProcessResult[]> {
  const { root, signal, out, verbose } = options;
  const waiting = [...processes];
  const running = new Map<TestProcess, number>();
  const results: ProcessResult[] = [];
  const since = (at: number) => (performance.now() - at) / 1000;
  const active = (): RunningProcess[] => [...running].map(([process, at]) => ({ process, since: since(at) }));
  const filesIn = (some: readonly TestProcess[]) => some.reduce((sum, { files }) => sum + files.length, 0);
  const progress = new ProgressPrinter(out, () => ({
    stage: stage.name,
    done: results.reduce((sum, { files }) => sum + files.length, 0),
    all: filesIn(processes),
    failed: results.flatMap(({ files }) => files).filter(({ failures }) => failures.length > 0).length,
    secondsLeft: secondsLeft(active(), waiting, Math.max(limits.least, running.size)),
    running: active().map(({ process }) => process.name),
  }));
  const live = verbose && processes.length === 1;
  const room = options.roomFor?.(limits) ?? new MeasuredRoom(limits);

  async function run(process: TestProcess): Promise<void> {
    const { testTimeoutMs, processTimeoutMs, lingerMs } = stage;
    const print = (text: string) => void (live && out.write(text));
    const timeouts = { testTimeoutMs, processTimeoutMs, lingerMs };
    const result = await runProcess({ files: process.files, root, ...timeouts, signal, print });
    running.delete(process);
    appendFileSync(join(options.results, `${stage.name}.log`), `== ${process.name}\n${result.output}`);
    if (signal.aborted) return;
    results.push(result);
    progress.clear();
    if (verbose && !live) out.write(`\n== ${process.name}\n${result.output}`);
    // The output of the process already contains the failures of its tests.
    const told = verbose && !result.died;
    for (const file of result.files)
      if (file.failures.length > 0 && !told) out.write(failureText(file, 'FAILED'));
    progress.moved();
  }

  async function work(): Promise<void> {
    const turns = new Set<Promise<void>>();
    while (!signal.aborted) {
      const process = room.mayStart(running.size)
        ? nextProcess(
            waiting,
            [...running.keys()].some(({ locksMachine }) => locksMachine),
          )
        : undefined;
      if (process === undefined) {
        if (turns.size === 0) break;
        await Promise.race(waiting.length > 0 ? [...turns, ...room.change(running.size)] : turns);
        continue;
      }
      room.started();
      waiting.splice(waiting.indexOf(process), 1);
      running.set(process, performance.now());
      const turn: Promise<void> = run(process).finally(() => turns.delete(turn));
      turns.add(turn);
    }
    await Promise.all(turns);
  }

  try {
    await work();
  } finally {
    progress.stop();
    room.stop();
  }
  return results;
}

const runsFile = ({ name }: Stage) => `runs-${name}.jsonl`;

const rounded = (seconds: number) => Math.round(seconds * 100) / 100;

function conclude(
  stage: Stage,
  verdict: Verdict,
  used: Pick<StageResult, 'machineSeconds' | 'loadingSeconds'>,
  options: StageOptions,
): boolean {
  const { results, times, out } = options;
  const { files, flaky, failed, skips } = verdict;
  if (files.length !== options.files.length)
    throw new Error(`${options.files.length} test files were to run, ${files.length} have a result`);
  const durations = files.map(({ file, seconds, processorSeconds }) => ({
    file,
    seconds: rounded(seconds),
    processorSeconds: rounded(processorSeconds),
  }));
  const passed = files.filter(({ failures }) => failures.length === 0);
  writeTimes(times, {
    ...readTimes(times),
    ...Object.fromEntries(passed.map(({ file, seconds }) => [file, rounded(seconds)])),
  });
  const texts = flaky.map((file) => failureText(file, 'FLAKY'));
  if (texts.length > 0) writeFileSync(join(options.results, `flaky-${stage.name}.txt`), texts.join('\n'));
  const now = { date: new Date().toISOString(), commit: commitOf(options.root) };
  writeRecord(join(results, runsFile(stage)), runsOf(verdict, now));
  const result: StageResult = {
    stage: stage.name,
    passed: verdict.passedTests,
    failed: verdict.failedTests,
    skipped: verdict.skippedTests,
    flaky: flaky.map(({ file }) => file),
    ...used,
    files: durations,
  };
  writeFileSync(join(results, `${stage.name}.json`), `${JSON.stringify(result, undefined, 2)}\n`);
  const { text, refused } = judgeSkips(skips, allowedSkips(options.allowed));
  out.write(slowest(durations, used.loadingSeconds));
  out.write(text);
  for (const flake of texts) out.write(`\n${flake}`);
  if (failed.length > 0) out.write(`\nfailed files:\n${failed.map(({ file }) => `  ${file}\n`).join('')}`);
  const lines = totalLines(result);
  out.write(options.totals ? lines : lines.replaceAll(/^/gm, `${stage.name}: `).replace(/^\w+: $/m, ''));
  return failed.length === 0 && !refused;
}
