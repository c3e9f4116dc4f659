/**
 * Runs one test file in a process of its own: a unit test until its first failure, any other test to its end,
 * where it cleans up.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { CoverageReport } from './coverage.ts';

export const root = join(import.meta.dirname, '../..');
export const cache = join(root, 'node_modules/.cache/mutate');

export type TestResult =
  | { readonly type: 'passed' | 'timed out'; readonly ms: number }
  /** The first failed test of the file; the file itself if no test had begun. */
  | { readonly type: 'failed'; readonly ms: number; readonly test: string };

export interface Replacement {
  /** Path from the repository's root. */
  readonly file: string;
  readonly text: string;
}

export interface TestRunner {
  run(test: string, limitMs: number, replaced?: Replacement): Promise<TestResult>;
  /** Runs the test and returns its coverage of the source too. */
  measure(test: string, limitMs: number): Promise<{ result: TestResult; reports: CoverageReport[] }>;
  /** Ends the running processes, and removes their files. */
  stop(): void;
}

export function testRunner(): TestRunner {
  const running = new Set<number>();
  const base = mkdtempSync(join(tmpdir(), 'mutate-'));

  async function run(
    test: string,
    limitMs: number,
    directory: string,
    env: NodeJS.ProcessEnv,
  ): Promise<TestResult> {
    const began = performance.now();
    // The process group is its own, so that processes which the test started end with it.
    const child = spawn(process.execPath, ['--test-reporter=tap', test], {
      cwd: root,
      env: { ...environment, TMPDIR: directory, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    const { pid } = child;
    if (pid === undefined) throw new Error(`${test}: cannot be started`);
    running.add(pid);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup(pid);
    }, limitMs);
    let failed: string | undefined;
    createInterface({ input: child.stdout }).on('line', (line) => {
      failed ??= /^ *not ok \d+ - (.*)$/.exec(line)?.[1];
      if (failed !== undefined && test.startsWith('test/unit/')) endGroup(pid);
    });
    await once(child, 'exit');
    clearTimeout(timer);
    endGroup(pid);
    running.delete(pid);
    const ms = performance.now() - began;
    if (failed !== undefined) return { type: 'failed', ms, test: failed };
    if (timedOut) return { type: 'timed out', ms };
    return child.exitCode === 0 ? { type: 'passed', ms } : { type: 'failed', ms, test: 'the file' };
  }

  const inDirectory = async <T>(use: (directory: string) => Promise<T>): Promise<T> => {
    const directory = await mkdtemp(`${base}/`);
    try {
      return await use(directory);
    } finally {
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    }
  };

  return {
    run: (test, limitMs, replaced) =>
      inDirectory(async (directory) => {
        if (replaced === undefined) return run(test, limitMs, directory, {});
        const text = join(directory, 'mutant.ts');
        await writeFile(text, replaced.text);
        const url = pathToFileURL(join(root, replaced.file)).href;
        return run(test, limitMs, directory, { MUTANT_URL: url, MUTANT_TEXT: text });
      }),
    measure: (test, limitMs) =>
      inDirectory(async (directory) => {
        const coverage = join(directory, 'coverage');
        const result = await run(test, limitMs, directory, { NODE_V8_COVERAGE: coverage });
        const names = await readdir(coverage).catch(() => []);
        const texts = await Promise.all(names.map((name) => readFile(join(coverage, name), 'utf8')));
        return { result, reports: texts.map((text) => JSON.parse(text) as CoverageReport) };
      }),
    stop() {
      running.forEach(endGroup);
      rmSync(base, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Settings of an outer test run, or of the user, must not affect these processes. */
const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
const environment = {
  ...inherited,
  NODE_COMPILE_CACHE: join(cache, 'node'),
  NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'serve-mutant.ts')).href} --max-old-space-size=1024`,
};

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
