/** Builds the submission: a batch script around the job's own commands, and the options of sbatch. */

import { tryParseQuantity } from '../../../apimachinery/quantity.ts';
import { quoted } from '../../../base/shell-words.ts';
import { argumentProblem } from '../api/slurm-options.ts';
import { directiveFaults, directives } from './sbatch-options.ts';
import type { SlurmJob, SlurmJobSpec } from './slurm-job.ts';

/** Folder of the client within the work folder. */
export const controlFolder = '.minik8s';

/** The spec cannot be submitted; the message names the reason. */
export class UnusableSpec extends Error {
  override readonly name = 'UnusableSpec';
}

/** Returns the comment of the job, by which it is found in the queue. */
export const commentOf = (uid: string): string => `minik8s:${uid}`;

/**
 * Returns the options, each one word for sbatch. On the command line they take precedence over the options of
 * the script.
 */
export function sbatchOptions({ name, uid, spec }: SlurmJob): string[] {
  for (const word of spec.arguments ?? []) {
    const fault = argumentProblem(word);
    if (fault !== undefined) throw new UnusableSpec(`arguments: ${word}: ${fault}`);
  }
  const task = spec.array === undefined ? '' : '-%a';
  const option = (flag: string, value: string | number | undefined) =>
    value === undefined ? [] : [`--${flag}=${oneLine(flag, String(value))}`];
  return [
    ...option('job-name', name),
    ...option('partition', spec.partition),
    ...option('account', spec.account),
    ...option('qos', spec.qos),
    ...option('nodes', spec.nodes),
    ...option('ntasks', spec.tasks),
    ...option('ntasks-per-node', spec.tasksPerNode),
    ...option('cpus-per-task', spec.cpusPerTask),
    ...option('gres', gresOf(spec)),
    ...option('mem', spec.memory === undefined ? undefined : `${mebibytes(spec.memory)}M`),
    ...option('time', spec.time === undefined ? undefined : timeOf(spec.time)),
    ...option('array', spec.array),
    ...(spec.arguments ?? []),
    // These options come last, so that no earlier option can change them.
    `--comment=${commentOf(uid)}`,
    `--output=${controlFolder}/stdout${task}`,
    `--error=${controlFolder}/stderr${task}`,
    '--input=/dev/null',
    '--open-mode=truncate',
    // A job that is restarted after its node failed runs the same script again, under the same number.
    '--export=ALL',
  ];
}

/**
 * Returns the batch script. It leaves a file exited.TASK.STATUS (TASK is - for a job without an array), so
 * that the end is known if Slurm has forgotten the job.
 */
export function batchScript({ spec }: SlurmJob, script: string | undefined): string {
  const faults = script === undefined ? [] : directiveFaults(script);
  if (faults.length > 0) throw new UnusableSpec(faults.join('; '));
  return [
    '#!/bin/bash -l',
    ...(script === undefined ? [] : directives(script).map((line) => `#SBATCH ${line}`)),
    `rm -f ${controlFolder}/exited."\${SLURM_ARRAY_TASK_ID:--}".*`,
    ...preamble(spec),
    `${controlFolder}/script`,
    'status=$?',
    `: >${controlFolder}/exited."\${SLURM_ARRAY_TASK_ID:--}".$status`,
    'exit $status',
    '',
  ].join('\n');
}

/** Returns the program that the batch script runs: the user's script, or the commands of `run`. */
export const jobProgram = (spec: SlurmJobSpec, script: string | undefined): string => {
  if (script === undefined) return ['#!/bin/bash', 'set -e', ...(spec.run ?? []), ''].join('\n');
  return script.startsWith('#!') ? script : `#!/bin/bash\n${script}`;
};

/** Returns the build script, for bash -l in the work folder on the login host. */
export const buildScript = (spec: SlurmJobSpec): string =>
  ['set -e', ...preamble(spec), ...(spec.build ?? []), ''].join('\n');

function preamble({ modules = [], environment = {} }: SlurmJobSpec): string[] {
  return [
    ...modules.map((name) => `module load ${quoted(oneLine('modules', name))} || exit 1`),
    ...Object.entries(environment).map(([name, value]) => `export ${variable(name)}=${quoted(value)}`),
  ];
}

function variable(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new UnusableSpec(`environment: ${JSON.stringify(name)} is not the name of a shell variable`);
  return name;
}

function gresOf({ gpus, gpuType }: SlurmJobSpec): string | undefined {
  if (gpus === undefined || gpus === 0) return undefined;
  if (gpuType !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(gpuType))
    throw new UnusableSpec(`gpuType: ${JSON.stringify(gpuType)} is not the type of a GPU`);
  return gpuType === undefined ? `gpu:${gpus}` : `gpu:${gpuType}:${gpus}`;
}

const nanoPerMebibyte = 1_000_000_000n * 1024n * 1024n;

/** Returns the memory in MiB, rounded up, since sbatch accepts only integers. */
function mebibytes(memory: string): bigint {
  const quantity = tryParseQuantity(memory);
  if (quantity === undefined || quantity.nano <= 0n)
    throw new UnusableSpec(`memory: ${JSON.stringify(memory)} is not a quantity above zero`);
  return (quantity.nano + nanoPerMebibyte - 1n) / nanoPerMebibyte;
}

/**
 * Returns the time limit for sbatch, which reads a bare number as minutes; in the spec a number is seconds.
 */
function timeOf(time: string | number): string {
  if (typeof time === 'number')
    return `${Math.floor(time / 60)}:${String(Math.trunc(time) % 60).padStart(2, '0')}`;
  if (!/^(?:\d+-)?\d+(?::\d+){0,2}$/.test(time) && time !== 'UNLIMITED')
    throw new UnusableSpec(
      `time: ${JSON.stringify(time)} is not a time limit of sbatch, such as 1:30:00 or 2-12`,
    );
  return time;
}

function oneLine(field: string, text: string): string {
  if (text === '' || [...text].some((character) => character < ' '))
    throw new UnusableSpec(`${field}: ${JSON.stringify(text)} is empty or holds a control character`);
  return text;
}

const arrayPart = /^(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?$/;

/** Returns the task numbers of an array, or undefined for a job without one. Throws UnusableSpec. */
export function arrayTasks(array: string | undefined): readonly number[] | undefined {
  if (array === undefined) return undefined;
  const [list = '', limit] = array.split('%', 2);
  const wrong = () =>
    new UnusableSpec(`array: ${JSON.stringify(array)} is not a list of tasks, such as 0-9 or 1,3,5-7%2`);
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) throw wrong();
  const tasks = new Set<number>();
  for (const part of list.split(',')) {
    const range = rangeOf(part);
    if (range === undefined) throw wrong();
    addTasks(tasks, range);
  }
  return [...tasks].sort((a, b) => a - b);
}

interface TaskRange {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

function addTasks(tasks: Set<number>, { first, last, step }: TaskRange): void {
  for (let task = first; task <= last; task += step) {
    tasks.add(task);
    if (tasks.size > maxTasks) throw new UnusableSpec(`array: has more than ${maxTasks} tasks`);
  }
}

/** Parses a part of an array, such as `5-9:2`. Returns undefined if it has no task. */
function rangeOf(part: string): TaskRange | undefined {
  const [, first, last = first, step = '1'] = arrayPart.exec(part) ?? [];
  if (first === undefined || Number(step) === 0 || Number(last) < Number(first)) return undefined;
  return { first: Number(first), last: Number(last), step: Number(step) };
}

/** Maximum number of tasks. Slurm's own limit is 1001 unless MaxArraySize is larger. */
const maxTasks = 10_000;
