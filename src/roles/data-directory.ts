/** The data directory: made and tried before anything starts, and held by one process at a time. */
import { spawn } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, watch } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage } from '../base/log.ts';

export interface DataDirectory {
  readonly path: string;
  /** Lets another process have it. */
  release(): Promise<void>;
}

/**
 * A process is known by its id and the kernel's count of ticks at its start (proc(5), field 22 of stat): an id
 * alone may since belong to somebody else. Undefined when it does not run; one that has ended and that its parent has
 * not asked after yet does not.
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

/** The process that holds the directory, if it still runs. */
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
 * The id of the process that holds the lock of the file. A process writes its id right after it has got the lock, so
 * this waits for that, at most a second; undefined when there is no id by then.
 */
export async function holderOnceWritten(file: string): Promise<number | undefined> {
  const found = new AbortController();
  const changes = watch(file, { signal: AbortSignal.any([found.signal, AbortSignal.timeout(1000)]) });
  try {
    for (;;) {
      // Asked for before the look, so that a change between the two is not missed.
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

/** Throws one line when the directory cannot be written or another minik8s runs in it. */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const file = join(path, 'minik8s.pid');
  let handle: FileHandle | undefined;
  try {
    await makeDirectory(path);
    handle = await take(file);
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
      // The file stays: whoever removed it could take a lock from somebody who has just opened it.
      await held.truncate(0);
      await held.close();
    },
  };
}

/** Locks the file and writes who has it; undefined when another has. The lock ends with the handle or the process. */
async function take(file: string): Promise<FileHandle | undefined> {
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
 * Node has no flock(2). A lock belongs to the open file, which flock(1) of util-linux shares with us: taken there,
 * it is still ours when that program has ended.
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

/** As `mkdir -p`. Node's own recursion says of a file system that is read-only that there is no such file. */
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
  return new Error(
    `the data directory ${path} cannot be used (${errorMessage(error)}); give another --data-dir`,
  );
}
