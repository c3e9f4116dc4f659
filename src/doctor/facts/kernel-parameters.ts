/** Reads kernel parameters and limits of open files. */
import { readdir } from 'node:fs/promises';
import { readSysctls } from '../../installation/machine-facts.ts';
import { sysctls } from '../../installation/plan/kernel.ts';
import { type ParameterFacts, watchesName } from '../checks/kernel-parameters.ts';
import type { Sources } from './sources.ts';
import { textOf } from './text-file.ts';

export async function readParameters({ situation: { pid } }: Sources): Promise<ParameterFacts> {
  const values = await readSysctls([...Object.keys(sysctls), watchesName]);
  const [count, , max] = (await textOf('/proc/sys/fs/file-nr')).trim().split(/\s+/);
  const own = pid === undefined ? undefined : await ofProcess(pid);
  return {
    values,
    ...(max !== undefined && { openFiles: { count: Number(count), max: Number(max) } }),
    ...(own && { own }),
  };
}

/** Resolves to undefined without the rights to read the files of the process. */
async function ofProcess(pid: number): Promise<ParameterFacts['own']> {
  const [, max] = /^Max open files +(\d+)/m.exec(await textOf(`/proc/${pid}/limits`)) ?? [];
  const open = await readdir(`/proc/${pid}/fd`).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES' || error.code === 'ENOENT') return undefined;
    throw error;
  });
  return max === undefined || open === undefined ? undefined : { count: open.length, max: Number(max) };
}
