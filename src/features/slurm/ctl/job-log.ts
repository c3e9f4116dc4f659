/** `ctl logs slurmjob/NAME`: prints the output of a job, which SlurmFiles contain. */
import { UsageError } from '../../../base/usage-error.ts';
import type { PrintLog } from '../../../cli/verb.ts';
import { printSlurmLog } from './job-files.ts';

const known: ReadonlySet<string> = new Set(['follow', 'container']);

export const printJobLog: PrintLog = async ({ io, flags, cluster }, target, given) => {
  const other = given.find((flag) => !known.has(flag));
  if (other !== undefined)
    throw new UsageError(`ctl logs: --${other} is for pods; a SlurmJob has -f and -c FILE`);
  const file = flags.text('container') ?? flags.words[1];
  await printSlurmLog(io, cluster(), target, { file, following: flags.on('follow') });
};
