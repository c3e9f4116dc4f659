/** The data directory: created and tested before anything starts, and locked by one process at a time. */
import { spawn } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, watch } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage } from '../base/log.ts';

export interface DataDirectory {
  readonly path: string;
  /** Releases the lock, so that another process can use the directory. */
  release(): Promise<void>;
}

/**
 * Returns the identity of a process: its id and its start time in the kernel's clock ticks (proc(5), field 22
 * of stat), since the id alone may have been reused. Returns undefined for a process that does not run,
 * including one that has ended but is not yet reaped by its parent.
 */
export function identityOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return afterName[0] === 'Z' ? undefined : `${pid} ${afterName[19]}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
    throw error;
  }
}

/** Returns the id of the process that holds the directory, if that process still runs. */
export function holderOf(path: string): number | undefined {
  return holderIn(join(path, 'minik8s.pid'));
}

function holderIn(file: string): number | undefined {
  let written: string;
  try {
    written = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const pid = Number(written.split(' ')[0]);
  return Number.isInteger(pid) && pid > 0 && identityOf(pid) === written ? pid : undefined;
}

/**
 * Resolves to the id of the process that holds the lock of the file. A process writes its id right after it
 * has got the lock, so this waits up to one second for the id; resolves to undefined if there is none by
 * then.
 */
export async function holderOnceWritten(file: string): Promise<number | undefined> {
  const found = new AbortController();
  const changes = watch(file, { signal: AbortSignal.any([found.signal, AbortSignal.timeout(1000)]) });
  try {
    for (;;) {
      // The wait for a change begins before the file is read, so that no change after the reading is missed.
      const change = changes.next();
      change.catch(() => undefined);
      const holder = holderIn(file);
      if (holder !== undefined) return holder;
      await change;
    }
  } catch (error) {
    if ((error as Error).name === 'AbortError') return undefined;
    throw error;
  } finally {
    found.abort();
  }
}

/** Rejects with a one-line error if the directory cannot be written or another minik8s runs in it. */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const file = join(path, 'minik8s.pid');
  let handle: FileHandle | undefined;
  try {
    await makeDirectory(path);
    handle = await lockFile(file);
  } catch (error) {
    throw notUsable(path, error);
  }
  if (handle === undefined) {
    const holder = await holderOnceWritten(file);
    const whom = holder === undefined ? 'another minik8s' : `minik8s with process id ${holder}`;
    throw new Error(`${path} is used by ${whom}; stop it or give another --data-dir`);
  }
  const held = handle;
  return {
    path,
    async release() {
      // The file is not removed: removal could take the lock away from a process that has just opened the
      // file.
      await held.truncate(0);
      await held.close();
    },
  };
}

/**
 * Locks the file and writes the identity of this process into it; undefined if another process holds the
 * lock. The lock ends with the handle or the process.
 */
export async function lockFile(file: string): Promise<FileHandle | undefined> {
  const handle = await open(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    if (await locked(handle.fd)) {
      await handle.truncate(0);
      await handle.write(`${identityOf(process.pid)}\n`, 0);
      return handle;
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/**
 * Node has no flock(2). A lock belongs to the open file, which is passed on to flock(1) of util-linux: a lock
 * taken there remains ours after that program has ended.
 */
function locked(fd: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', ['--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
    child.once('error', (error) => reject(new Error('flock of util-linux cannot be run', { cause: error })));
    child.once('exit', (code) => {
      if (code === 0 || code === 1) resolve(code === 0);
      else reject(new Error(`flock ended with ${code}`));
    });
  });
}

/** Creates a directory like `mkdir -p`. Node's own recursion reports a read-only file system as ENOENT. */
async function makeDirectory(path: string): Promise<void> {
  const make = () => mkdir(path, { mode: 0o700 }).catch(ignoring('EEXIST'));
  try {
    await make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectory(dirname(path));
    await make();
  }
}

const ignoring = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error;
};

function notUsable(path: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  return new Error(
    `the data directory ${path} cannot be used (${errorMessage(error)}); ${remedies[code ?? ''] ?? 'give another --data-dir'}`,
  );
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'run minik8s as its owner (sudo), or give another --data-dir',
  EISDIR: 'remove the directory that is in the place of the lock',
};
