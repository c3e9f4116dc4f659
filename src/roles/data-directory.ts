/** The data directory: made and tried before anything starts, and held by one process at a time. */
import { readFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
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
  let written: string;
  try {
    written = readFileSync(join(path, 'minik8s.pid'), 'utf8').trim();
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
    await mkdir(path, { recursive: true, mode: 0o700 });
    holder = holderOf(path);
  } catch (error) {
    throw notUsable(path, error);
  }
  if (holder !== undefined) {
    throw new Error(
      `${path} is used by minik8s with process id ${holder}; stop it or give another --data-dir`,
    );
  }
  try {
    // Written aside and moved in place: a reader never sees half a line.
    const temporary = `${file}.${process.pid}`;
    const handle = await open(temporary, 'w', 0o600);
    await handle.writeFile(`${identityOf(process.pid)}\n`);
    await handle.close();
    await rename(temporary, file);
  } catch (error) {
    throw notUsable(path, error);
  }
  return { path, release: () => rm(file, { force: true }) };
}

function notUsable(path: string, error: unknown): Error {
  return new Error(
    `the data directory ${path} can not be used (${errorMessage(error)}); give another --data-dir`,
  );
}
