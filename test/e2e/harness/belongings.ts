/**
 * What a test's process has on this machine, written down, so that it goes away however that process ends: with Ctrl-C,
 * without its runner, killed. Its hooks take down what they made; this is for when they do not come to it.
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
 * Files `PID TICKS`, and `PID TICKS N` for what a process takes away of others; one belonging a line, as JSON, and as `gone`
 * one that is no more.
 */
const journals = join(tmpdir(), 'minik8s-tests');
const name = identityOf(process.pid) ?? '';
let open = false;
let adopted = 0;

/** Writes down what was just made, with nothing awaited in between: a signal would find it there and not written. */
export function keep(belonging: Belonging): void {
  begin();
  appendFileSync(join(journals, name), `${JSON.stringify(belonging)}\n`);
}

/** Strikes out what has been taken away: its name may be another's by now. */
export function letGo(belonging: Belonging): void {
  appendFileSync(join(journals, name), `${JSON.stringify({ gone: belonging })}\n`);
}

/** A directory that goes with this process. */
export function makeDirectory(prefix: string, parent = tmpdir()): string {
  const path = mkdtempSync(join(parent, prefix));
  keep({ kind: 'directory', path });
  return path;
}

/**
 * Takes away what processes that have ended left. A cluster that worked on this machine itself waits for somebody who
 * has the machine: its rules have the names of another's that may work there now.
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
  // A runner that was killed tells nobody; it held the other end of this.
  if (process.env.NODE_TEST_CONTEXT !== undefined || process.env.MINIK8S_TEST_RUNNER !== undefined) {
    process.stdin.on('end', () => process.exit(1)).resume();
    if ('unref' in process.stdin) process.stdin.unref();
  }
  sweep();
}

/** What resists is told, and tried again by the next run. */
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
