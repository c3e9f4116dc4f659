/** `ctl describe slurmjob`: its state in Slurm, why it waits, and where its output is. Pure. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { Describer } from '../../../cli/describe/describer.ts';
import {
  createdLine,
  headLines,
  none,
  optionalLine,
  pairsText,
  reasonLines,
  shownAt,
  stringsAt,
  tableLines,
  timeText,
} from '../../../cli/describe/lines.ts';
import { metadataOf, numberAt, recordAt, recordsAt, textAt } from '../../../cli/objects/objects.ts';

export const slurmJobDescriber: Describer = {
  lines: (object) => [
    ...headLines(object),
    createdLine(object),
    `Connection:\tSecret/${textAt(object, 'spec', 'connection', 'secretName')}`,
    ...requestLines(recordAt(object, 'spec')),
    `Phase:\t${textAt(object, 'status', 'phase') || 'Waiting'}`,
    ...slurmLines(recordAt(object, 'status')),
    ...outputLines(object),
    ...reasonLines(object),
  ],
};

const requested = [
  ['Partition', 'partition'],
  ['Account', 'account'],
  ['Nodes', 'nodes'],
  ['Tasks', 'tasks'],
  ['Tasks Per Node', 'tasksPerNode'],
  ['CPUs Per Task', 'cpusPerTask'],
  ['GPUs Per Node', 'gpus'],
  ['GPU Type', 'gpuType'],
  ['Memory Per Node', 'memory'],
  ['Time Limit', 'time'],
  ['Array', 'array'],
] as const;

/** Returns what the job runs and requests; fields that are left to the partition are left out. */
function requestLines(spec: JsonObject): string[] {
  const script = textAt(spec, 'scriptFile') || (spec.script === undefined ? '' : '<in the spec>');
  return [
    ...optionalLine('Script', script),
    ...optionalLine('Commands', stringsAt(spec, 'run').join('; ')),
    'Requests:',
    ...requested.flatMap(([title, field]) => optionalLine(`  ${title}`, shownAt(spec, field))),
  ];
}

function slurmLines(status: JsonObject): string[] {
  const times = (['submitTime', 'startTime', 'endTime'] as const).map((field) => {
    const time = textAt(status, field);
    return time && timeText(time);
  });
  const [submitted = '', started = '', ended = ''] = times;
  const tasks = recordAt(status, 'arrayTasks');
  return [
    'Slurm:',
    `  Job:\t${textAt(status, 'jobID') || none}`,
    `  State:\t${textAt(status, 'state') || none}`,
    ...optionalLine('  Waits For', textAt(status, 'reason').replace(/^None$/, '')),
    ...optionalLine('  Nodes', textAt(status, 'nodes')),
    ...optionalLine('  Array Tasks', Object.keys(tasks).length > 0 ? pairsText(tasks) : ''),
    ...optionalLine('  Submitted', submitted),
    ...optionalLine('  Started', started),
    ...optionalLine('  Ended', ended),
    ...optionalLine('  Exit Code', shownAt(status, 'exitCode')),
  ];
}

/** Returns how much the job has written, the commands that print it, and the files on the host. */
function outputLines(object: JsonObject): string[] {
  const { name, namespace } = metadataOf(object);
  const status = recordAt(object, 'status');
  const [output, errors] = [numberAt(status, 'outputBytes'), numberAt(status, 'errorBytes')];
  const files = recordsAt(status, 'files').map((file) => [
    textAt(file, 'path'),
    `${shownAt(file, 'size')} bytes`,
  ]);
  const dropped = recordsAt(status, 'droppedFiles').map((file) => [
    textAt(file, 'path'),
    `not fetched: ${textAt(file, 'reason')}`,
  ]);
  return [
    'Output:',
    `  Written:\t${output} bytes, errors ${errors} bytes`,
    `  Printed By:\tctl logs slurmjob/${name} -n ${namespace}`,
    ...optionalLine('  Folder On The Host', textAt(status, 'workDir')),
    ...tableLines('Results', ['File', 'State'], [...files, ...dropped]),
    ...(files.length > 0 ? [`Fetched By:\tctl slurm results ${name} -n ${namespace} -o DIR`] : []),
  ];
}
