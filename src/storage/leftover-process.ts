/** Finds and ends processes that an earlier, killed run of this program started. Linux: reads /proc. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { type Clock, sleep } from '../base/clock.ts';

/** The other processes that were started with all of these arguments. */
export async function processesWithArguments(wanted: readonly string[]): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(pids.map(async (pid) => ((await hasArguments(pid, wanted)) ? [pid] : [])));
  return found.flat();
}

async function hasArguments(pid: number, wanted: readonly string[]): Promise<boolean> {
  try {
    const given = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    return wanted.every((argument) => given.includes(argument));
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** The parent of `pid` if it runs the same executable as this process: then `pid` is no leftover. */
export async function parentLikeUs(pid: number): Promise<number | undefined> {
  try {
    const parent = Number((await statFields(pid))[1]);
    const [theirs, ours] = await Promise.all([executable(parent), executable('self')]);
    return theirs === ours ? parent : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

async function executable(pid: number | 'self'): Promise<string> {
  // An upgrade replaces the file under a running process.
  return (await readlink(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '');
}

/** The fields of /proc/PID/stat from the third, the state, on. */
async function statFields(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second, the command, is in parentheses and may hold any character.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** The process ended meanwhile, or belongs to another user, so this program did not start it. */
function isGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM';
}

/** Asks the process to end, kills it after `graceMs`, and waits until it is gone (or a zombie of someone else's). */
export async function endProcess(pid: number, graceMs: number, clock: Clock): Promise<void> {
  const deadline = clock.now() + graceMs;
  let killed = false;
  send(pid, 'SIGTERM');
  while (await isRunning(pid)) {
    if (!killed && clock.now() >= deadline) {
      killed = true;
      send(pid, 'SIGKILL');
    }
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
  try {
    return (await statFields(pid))[0] !== 'Z';
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}
