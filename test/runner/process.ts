/** Runs a test process to its end and reads its report. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { trackingFlag } from './async-tracking.ts';
import type { Line } from './events.ts';
import { type ProcessResult, readReport } from './report.ts';
import { writeEntry } from './shared-process.ts';

export interface ProcessOptions {
  readonly files: readonly string[];
  /** Folder to which `files` are relative. */
  readonly root: string;
  readonly testTimeoutMs: number;
  readonly processTimeoutMs: number;
  /** Maximum time between the end of the last test and that of the process. */
  readonly lingerMs?: number | undefined;
  /** Ends the process; its result is then that of an ended process. */
  readonly signal: AbortSignal;
  /** Receives the output of the process as it is printed. */
  readonly print: (text: string) => void;
}

const moduleUrl = (name: string) => pathToFileURL(join(import.meta.dirname, name)).href;
/** Time between SIGTERM, after which a test cleans up, and SIGKILL. */
const endTimeoutMs = 60_000;
/**
 * Maximum time between the end of the last test and that of its process; hooks remove hosts and engines
 * meanwhile.
 */
const lingerMs = 120_000;
/**
 * Maximum time for receiving the remaining output after the end of a process, even if a program that it left
 * holds the same output open.
 */
const drainMs = 2_000;
const lastLines = 40;

export async function runProcess(
  options: ProcessOptions,
): Promise<ProcessResult & { readonly output: string }> {
  const { files, root, testTimeoutMs, processTimeoutMs, signal, print } = options;
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-test-run-'));
  try {
    const report = join(folder, 'report.jsonl');
    const child = spawn(
      process.execPath,
      [
        trackingFlag,
        `--import=${moduleUrl('resolve-sources.ts')}`,
        `--test-timeout=${testTimeoutMs}`,
        ...reporter('spec.ts', 'stdout'),
        ...reporter('events.ts', report),
        entryOf(files, root, folder),
      ],
      // Standard input is closed when this process is killed: test/e2e/harness/belongings.ts then cleans up.
      { cwd: root, env: environment(options.lingerMs ?? lingerMs), stdio: 'pipe' },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        print(text);
      });
    }
    const end = await ended(child, processTimeoutMs, signal);
    const lastOutput = output.trimEnd().split('\n').slice(-lastLines).join('\n');
    return { ...readReport(files, readLines(report), { ...end, lastOutput }), output };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const reporter = (name: string, destination: string) => [
  `--test-reporter=${moduleUrl(name)}`,
  `--test-reporter-destination=${destination}`,
];

function entryOf(files: readonly string[], root: string, folder: string): string {
  if (files.length === 1) return resolve(root, files[0] ?? '');
  const entry = join(folder, 'shared.test.mjs');
  writeEntry(entry, files, root);
  return entry;
}

/** NODE_TEST_CONTEXT is removed, because it makes node:test report to the runner that set it. */
function environment(lingerMs: number): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return {
    ...env,
    MINIK8S_TEST_RUNNER: String(process.pid),
    MINIK8S_TEST_LINGER_MS: String(lingerMs),
  };
}

async function ended(child: ChildProcess, timeoutMs: number, signal: AbortSignal) {
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const closed = once(child, 'close');
  let timedOut = false;
  let kill: NodeJS.Timeout | undefined;
  const end = () => {
    child.kill('SIGTERM');
    kill ??= setTimeout(() => child.kill('SIGKILL'), endTimeoutMs);
  };
  const timeout = setTimeout(() => {
    timedOut = true;
    end();
  }, timeoutMs);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  const [code, killedBy] = await exited;
  clearTimeout(timeout);
  clearTimeout(kill);
  signal.removeEventListener('abort', end);
  await Promise.race([closed, sleep(drainMs, undefined, { ref: false })]);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  return { code, signal: killedBy, timeoutMs: timedOut ? timeoutMs : undefined };
}

/** The last line may be cut if the process was killed. */
function readLines(path: string): Line[] {
  try {
    const text = readFileSync(path, 'utf8');
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .flatMap((line) => (line === '' ? [] : (JSON.parse(line) as Line)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
