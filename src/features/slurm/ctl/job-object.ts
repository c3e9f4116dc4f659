/** The SlurmJob that flags describe. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { UsageError } from '../../../base/usage-error.ts';
import { type Flags, under } from '../../../cli/flags/flags.ts';
import { readSource } from '../../../cli/manifests/source-files.ts';

export const slurmFlags = under('The job', {
  connection: {
    type: 'string',
    hint: 'SECRET',
    about: 'Secret with the address and credentials of the login host; required',
  },
  from: { type: 'string', hint: 'DIR', about: 'directory with the files of the job; at most 1 MB in total' },
  'script-file': { type: 'string', hint: 'PATH', about: 'batch script in --from that is submitted' },
  'run-command': { type: 'string', hint: 'COMMAND', about: 'command of the job; may be repeated' },
  'build-command': {
    type: 'string',
    hint: 'COMMAND',
    about: 'command on the login host before the job is submitted; may be repeated',
  },
  module: { type: 'string', hint: 'MODULE', about: 'environment module to load; may be repeated' },
  result: {
    type: 'string',
    hint: 'PATTERN',
    about: 'files to fetch at the end, such as "out/*.csv"; may be repeated',
  },
  partition: { type: 'string', hint: 'NAME', about: 'partition of the Slurm cluster' },
  nodes: { type: 'string', hint: 'NUMBER', about: 'number of nodes', usual: '1' },
  tasks: { type: 'string', hint: 'NUMBER', about: 'total number of tasks', usual: 'one on each node' },
  'tasks-per-node': { type: 'string', hint: 'NUMBER', about: 'number of tasks on each node', usual: '1' },
  'cpus-per-task': { type: 'string', hint: 'NUMBER', about: 'CPUs for each task', usual: '1' },
  gpus: { type: 'string', hint: 'NUMBER', about: 'GPUs on each node', usual: '0' },
  memory: { type: 'string', hint: 'QUANTITY', about: 'memory on each node, such as 4Gi' },
  array: { type: 'string', hint: 'NUMBERS', about: 'tasks of an array, such as 0-9%2' },
  'sbatch-option': {
    type: 'string',
    hint: 'OPTION',
    about: 'another option of sbatch, such as --sbatch-option=--constraint=a100; may be repeated',
  },
  env: { type: 'string', hint: 'NAME=VALUE', about: 'environment variable of the job; may be repeated' },
  'time-limit': {
    type: 'string',
    hint: 'TIME',
    about: 'time limit of the job, such as 1:30:00',
    usual: 'the limit of the partition',
  },
});

/** Throws UsageError for missing or conflicting flags; the server checks the rest. */
export async function slurmSpec(flags: Flags): Promise<JsonObject> {
  const secretName = flags.text('connection');
  if (secretName === undefined)
    throw new UsageError('ctl slurm create: say how the login host is reached: --connection SECRET');
  const [from, scriptFile, run] = [flags.text('from'), flags.text('script-file'), flags.texts('run-command')];
  if ((scriptFile === undefined) === (run.length === 0))
    throw new UsageError('ctl slurm create: say what is run: either --script-file or --run-command');
  const lists = {
    ...{ run, build: flags.texts('build-command'), modules: flags.texts('module') },
    ...{ results: flags.texts('result'), arguments: flags.texts('sbatch-option') },
  };
  const single = {
    ...{ scriptFile, partition: flags.text('partition'), time: flags.text('time-limit') },
    ...{
      nodes: flags.whole('nodes'),
      tasks: flags.whole('tasks'),
      tasksPerNode: flags.whole('tasks-per-node'),
    },
    ...{ cpusPerTask: flags.whole('cpus-per-task'), gpus: flags.whole('gpus') },
    ...{ memory: flags.text('memory'), array: flags.text('array') },
  };
  const variables = flags.texts('env').map(variable);
  return {
    connection: { secretName },
    ...(from !== undefined && { files: await filesOf(from) }),
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
    ...Object.fromEntries(Object.entries(single).filter(([, value]) => value !== undefined)),
    ...(variables.length > 0 && { environment: Object.fromEntries(variables) }),
  };
}

function variable(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`ctl slurm create: --env takes NAME=VALUE, not ${JSON.stringify(text)}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

async function filesOf(folder: string): Promise<JsonObject[]> {
  const { files, binaryFiles } = await readSource(folder, '--from', { owner: 'job' });
  return [
    ...Object.entries(files).map(([path, content]) => ({ path, content })),
    ...Object.entries(binaryFiles).map(([path, base64]) => ({ path, base64 })),
  ];
}
