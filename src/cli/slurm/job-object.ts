/** The SlurmJob that flags describe. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Flags, FlagTable } from '../flags.ts';
import { readSource } from '../functions/source.ts';

export const slurmFlags = {
  connection: {
    type: 'string',
    hint: 'SECRET',
    about: 'the Secret that says how the login host is reached; needed',
  },
  from: { type: 'string', hint: 'DIR', about: 'a folder with the files of the job; 1 MB in all' },
  'script-file': { type: 'string', hint: 'PATH', about: 'the batch script in --from that is submitted' },
  'run-command': { type: 'string', hint: 'COMMAND', about: 'a command of the job; may be repeated' },
  'build-command': {
    type: 'string',
    hint: 'COMMAND',
    about: 'a command on the login host before the job is submitted; may be repeated',
  },
  module: { type: 'string', hint: 'MODULE', about: 'an environment module to load; may be repeated' },
  result: {
    type: 'string',
    hint: 'PATTERN',
    about: 'files to fetch at the end, such as "out/*.csv"; may be repeated',
  },
  partition: { type: 'string', hint: 'NAME', about: 'the partition' },
  gpus: { type: 'string', hint: 'NUMBER', about: 'GPUs on each node' },
  'time-limit': { type: 'string', hint: 'TIME', about: 'how long it may run, such as 1:30:00' },
} as const satisfies FlagTable;

/** Throws UsageError for what is missing or does not go together; the server checks the rest. */
export async function slurmSpec(flags: Flags): Promise<JsonObject> {
  const secretName = flags.text('connection');
  if (secretName === undefined)
    throw new UsageError('ctl slurm create: say how the login host is reached: --connection SECRET');
  const [from, scriptFile, run] = [flags.text('from'), flags.text('script-file'), flags.texts('run-command')];
  if ((scriptFile === undefined) === (run.length === 0))
    throw new UsageError('ctl slurm create: say what is run: either --script-file or --run-command');
  const lists = { run, build: flags.texts('build-command'), modules: flags.texts('module') };
  const rest = { ...lists, results: flags.texts('result') };
  const gpus = flags.whole('gpus');
  const [partition, time] = [flags.text('partition'), flags.text('time-limit')];
  return {
    connection: { secretName },
    ...(from !== undefined && { files: await filesOf(from) }),
    ...(scriptFile !== undefined && { scriptFile }),
    ...Object.fromEntries(Object.entries(rest).filter(([, list]) => list.length > 0)),
    ...(partition !== undefined && { partition }),
    ...(gpus !== undefined && { gpus }),
    ...(time !== undefined && { time }),
  };
}

async function filesOf(folder: string): Promise<JsonObject[]> {
  const { files, binaryFiles } = await readSource(folder);
  return [
    ...Object.entries(files).map(([path, content]) => ({ path, content })),
    ...Object.entries(binaryFiles).map(([path, base64]) => ({ path, base64 })),
  ];
}
