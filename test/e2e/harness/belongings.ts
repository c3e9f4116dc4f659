/**
 * Records everything that a test's process has on this machine, so that it is removed even if the
 * process ends by Ctrl-C, without its runner, or by a kill. Hooks normally remove what they created; this
 * record is for tests whose hooks do not run.
 */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf } from '../../../src/roles/data-directory.ts';
import { hasMachine } from '../../fixtures/machine-lock.ts';
import { type Belonging, endProcesses, isThere, takeAway } from './take-away.ts';

/**
 * Journals named `PID TICKS`, or `PID TICKS N` for belongings of other processes that this process removes.
 * Each line is one belonging as JSON; `gone` marks a removed one.
 */
const journals = join(tmpdir(), 'minik8s-tests');
const name = identityOf(process.pid) ?? '';
let open = false;
let adopted = 0;

/**
 * Records a new belonging. Nothing may be awaited between its creation and this call: a signal in between
 * would leave it unrecorded.
 */
export function keep(belonging: Belonging): void {
  begin();
  appendFileSync(join(journals, name), `${JSON.stringify(belonging)}\n`);
}

/** Records that a belonging was removed: another process may have its name by now. */
export function letGo(belonging: Belonging): void {
  appendFileSync(join(journals, name), `${JSON.stringify({ gone: belonging })}\n`);
}

/** Creates a directory that is removed with this process. */
export function makeDirectory(prefix: string, parent = tmpdir()): string {
  const path = mkdtempSync(join(parent, prefix));
  keep({ kind: 'directory', path });
  return path;
}

/**
 * Removes the belongings of processes that have ended. A cluster that worked on this machine itself is only
 * removed by a process with the machine lock: a running cluster may have rules with the same names.
 */
export function sweep(): void {
  mkdirSync(journals, { recursive: true, mode: 0o700 });
  for (const file of readdirSync(journals)) {
    const owner = file.split(' ', 2);
    if (identityOf(Number(owner[0])) === owner.join(' ')) continue;
    const left = read(file);
    if (left.some(({ kind }) => kind === 'cluster') && !hasMachine()) {
      endProcesses(left);
      continue;
    }
    const mine = `${name} ${++adopted}`;
    try {
      renameSync(join(journals, file), join(journals, mine));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
    settle(mine);
  }
}

function begin(): void {
  if (open) return;
  open = true;
  process.on('exit', () => {
    for (const file of readdirSync(journals)) if (`${file} `.startsWith(`${name} `)) settle(file);
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  // A killed runner sends no notice, but then the other end of standard input is closed.
  if (process.env.NODE_TEST_CONTEXT !== undefined || process.env.MINIK8S_TEST_RUNNER !== undefined) {
    process.stdin.on('end', () => process.exit(1)).resume();
    if ('unref' in process.stdin) process.stdin.unref();
  }
  sweep();
}

/** Belongings that cannot be removed are reported, and retried by the next run. */
function settle(file: string): void {
  try {
    const left = read(file).filter(isThere);
    if (left.length > 0) takeAway(left);
    rmSync(join(journals, file), { force: true });
  } catch (error) {
    process.stderr.write(`left behind by a test, see ${join(journals, file)}: ${String(error)}\n`);
  }
}

function read(file: string): Belonging[] {
  try {
    const lines = readFileSync(join(journals, file), 'utf8').split('\n');
    const left = new Map<string, Belonging>();
    for (const line of lines.filter(Boolean)) {
      const entry = JSON.parse(line) as Belonging | { readonly gone: Belonging };
      if ('gone' in entry) left.delete(JSON.stringify(entry.gone));
      else left.set(line, entry);
    }
    return [...left.values()];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
