/** Finds and ends processes that an earlier, killed run of this program started. Linux: reads /proc. */
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { type Clock, sleep } from '../base/clock.ts';

/**
 * Returns the other processes of this user that were started with all of these arguments. Any user may start
 * a process of its own with such arguments.
 */
export async function processesWithArguments(wanted: readonly string[]): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => ((await unlessGone(isOurs(pid, wanted))) ? [pid] : [])),
  );
  return found.flat();
}

async function isOurs(pid: number, wanted: readonly string[]): Promise<boolean> {
  const { uid } = await stat(`/proc/${pid}`);
  if (uid !== process.geteuid?.()) return false;
  const given = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
  return wanted.every((argument) => given.includes(argument));
}

/**
 * Returns whether a process has the same directory at this path as this one: a container, or another mount
 * namespace, has a directory of its own there.
 */
export async function hasSameDirectory(pid: number, directory: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all([
    unlessGone(stat(`/proc/${pid}/root${directory}`)),
    stat(directory),
  ]);
  return theirs?.ino === ours.ino && theirs.dev === ours.dev;
}

/** Returns the parent of `pid` if it runs the same executable as this process: then `pid` is no leftover. */
export async function parentLikeUs(pid: number): Promise<number | undefined> {
  const fields = await unlessGone(statFields(pid));
  const parent = Number(fields?.[1]);
  const [theirs, ours] = await Promise.all([unlessGone(executable(parent)), executable('self')]);
  return theirs === ours ? parent : undefined;
}

async function executable(pid: number | 'self'): Promise<string> {
  // An upgrade replaces the file under a running process.
  return (await readlink(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '');
}

/** Returns the fields of /proc/PID/stat from the third one, the state. */
async function statFields(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field, the command, is in parentheses and may contain any character.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/**
 * Returns a result read from /proc; undefined if the process has ended meanwhile, or belongs to another user.
 */
async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isGone(error) || codeOf(error) === 'EACCES') return undefined;
    throw error;
  }
}

const isGone = (error: unknown) => codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH';
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/**
 * Ends a process: asks it to end, kills it after `graceMs`, and waits until it is gone (or a zombie of
 * another parent). Rejects if the process must not be ended by this user.
 */
export async function endProcess(pid: number, graceMs: number, clock: Clock): Promise<void> {
  const deadline = clock.now() + graceMs;
  send(pid, 'SIGTERM');
  while (await isRunning(pid)) {
    if (clock.now() >= deadline) send(pid, 'SIGKILL');
    await sleep(clock, 10);
  }
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

async function isRunning(pid: number): Promise<boolean> {
  const fields = await unlessGone(statFields(pid));
  return fields !== undefined && fields[0] !== 'Z';
}
