/** The data directory: made and tried before anything starts, and held by one process at a time. */
import { readFileSync } from 'node:fs';
import { link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage } from '../base/log.ts';

export interface DataDirectory {
  readonly path: string;
  /** Lets another process have it. */
  release(): Promise<void>;
}

/**
 * A process is known by its id and the kernel's count of ticks at its start (proc(5), field 22 of stat): an id
 * alone may since belong to somebody else. Undefined when it does not run.
 */
function identityOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return `${pid} ${afterName[19]}`;
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

/** Throws one line when the directory can not be written or another minik8s runs in it. */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const file = join(path, 'minik8s.pid');
  let holder: number | undefined;
  try {
    await makeDirectory(path);
    holder = await take(file);
  } catch (error) {
    throw notUsable(path, error);
  }
  if (holder !== undefined) {
    throw new Error(
      `${path} is used by minik8s with process id ${holder}; stop it or give another --data-dir`,
    );
  }
  return { path, release: () => rm(file, { force: true }) };
}

/** Makes the file this process's, or tells whose it is. Of several that try at once one succeeds. */
async function take(file: string): Promise<number | undefined> {
  const own = `${file}.${process.pid}`;
  const leftover = `${own}.old`;
  // Written aside and linked in place: a reader never sees half a line, and a link replaces nothing.
  const handle = await open(own, 'w', 0o600);
  try {
    await handle.writeFile(`${identityOf(process.pid)}\n`);
    await handle.close();
    while (!(await linked(own, file))) {
      const holder = holderIn(file);
      if (holder !== undefined) return holder;
      await rename(file, leftover).catch(ignoring('ENOENT'));
      // Between the look and the move another may have taken it: then it is given back.
      if (holderIn(leftover) !== undefined) await linked(leftover, file);
      await rm(leftover, { force: true });
    }
    return undefined;
  } finally {
    await rm(own, { force: true });
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
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
    `the data directory ${path} can not be used (${errorMessage(error)}); give another --data-dir`,
  );
}
