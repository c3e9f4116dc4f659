/** Converts jobs for Slurm clusters, in three forms. Pure: the contents of their files are passed in. */

import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { shellWord } from '../../base/shell-words.ts';
import type { Fields } from './fields.ts';
import { baseName, type Read } from './functions.ts';

/** The fields that contain paths of this machine. */
export const slurmPathFields = [
  'cudaPath',
  'slurmPath',
  'submitDirectory',
  'submitDir',
  'sourceCodePath',
  'MakefilePath',
];

/** The Secret of converted jobs: their manifests contain a password, or no credentials. */
const connectionSecret = 'slurm';

const marks = [...slurmPathFields, 'compileCommands', 'runCommands', 'runCmd', 'slurm'];

/** Returns whether a manifest of the kind Job is a SlurmJob; Kubernetes' own Job has a pod template. */
export const isSlurmJob = (object: JsonObject): boolean => {
  const spec = isRecord(object.spec) ? object.spec : {};
  return marks.some((mark) => (object[mark] ?? spec[mark]) !== undefined);
};

/**
 * Returns the spec of a SlurmJob. Throws if it has neither a script nor commands, or if its files are not
 * found.
 */
export function slurmJob(name: string, fields: Fields, read: Read): JsonObject {
  fields.note(
    'connection',
    `added: create a Secret ${connectionSecret} with host, user, privateKey or password, and knownHosts`,
  );
  const connection = { secretName: connectionSecret };
  if (fields.has('slurmPath')) return { connection, ...ofScript(fields, read) };
  if (fields.has('slurm')) return { connection, ...ofMakefile(name, fields, read) };
  return { connection, ...ofCommands(fields, read) };
}

/** Converts a program, and a batch script that builds and runs it. */
function ofScript(fields: Fields, read: Read): JsonObject {
  const scriptFile = baseName(fields.text('slurmPath') ?? '');
  const files = filesAt(['cudaPath', 'slurmPath'], fields, read);
  if (!files.some(({ path }) => path === scriptFile)) throw new Error('slurmPath: not a file');
  return { files, scriptFile };
}

/** Converts a folder, the commands that build its program, and the commands of the job. */
function ofCommands(fields: Fields, read: Read): JsonObject {
  const files = filesAt(['submitDirectory', 'submitDir'], fields, read);
  const [build, run] = [fields.take('compileCommands'), fields.take('runCommands', 'runCmd')];
  if (!Array.isArray(run)) throw new Error('runCommands: expected the commands to run');
  for (const field of ['username', 'userName', 'password'])
    fields.drop(field, `it belongs in the Secret ${connectionSecret}`);
  for (const field of ['outputFile', 'errorFile', 'output', 'error'])
    fields.drop(field, '`ctl logs slurmjob/NAME` prints the output of the job');
  return {
    ...(files.length > 0 && { files }),
    ...(Array.isArray(build) && { build }),
    run,
    ...asked(fields, {
      partition: ['partition'],
      tasks: ['nTasks', 'numTasks'],
      tasksPerNode: ['nTasksPerNode', 'numTasksPerNode'],
      gpus: ['gpuNums', 'gpuNum'],
    }),
  };
}

/** Converts a program with its Makefile, and the name of the file that it builds. */
function ofMakefile(name: string, fields: Fields, read: Read): JsonObject {
  const makefile = baseName(fields.text('MakefilePath') ?? '');
  const files = filesAt(['sourceCodePath', 'MakefilePath'], fields, read);
  fields.drop('ResultPath', '`ctl slurm results NAME -o DIR` and `ctl logs slurmjob/NAME` fetch the results');
  const slurm = fields.part('slurm');
  slurm.drop('jobName', 'the job has the name of the object');
  const given = slurm.text('targetExecutableFileName');
  const target = given ?? name;
  if (given === undefined)
    slurm.note('targetExecutableFileName', `missing: the job runs ./${name}, which the Makefile must build`);
  const time = slurm.text('time');
  return {
    files,
    build: [makefile === '' || makefile === 'Makefile' ? 'make' : `make -f ${shellWord(makefile)}`],
    run: [`./${shellWord(target)}`],
    ...asked(slurm, {
      partition: ['partition'],
      nodes: ['Node'],
      tasksPerNode: ['ntasksPerNode'],
      cpusPerTask: ['cpusPerTask'],
      gpus: ['GPU'],
    }),
    ...(time !== undefined && { time: asSbatchTime(time) }),
  };
}

/** Accepts `00:00:05:00` for `00-00:05:00`. */
function asSbatchTime(time: string): string {
  const days = /^(\d+):(\d+:\d+:\d+)$/.exec(time);
  return days ? `${days[1]}-${days[2]}` : time;
}

/**
 * Returns the requested resources. Numbers may be texts; other values are kept, and the server rejects them.
 */
function asked(fields: Fields, names: Readonly<Record<string, readonly string[]>>): JsonObject {
  const found = Object.entries(names).flatMap(([field, words]) => {
    const value = fields.text(...words);
    if (value === undefined || value === '') return [];
    return [[field, field !== 'partition' && /^\d+$/.test(value) ? Number(value) : value] as const];
  });
  // Zero GPUs means the same as a missing field.
  return Object.fromEntries(found.filter(([field, value]) => field !== 'gpus' || value !== 0));
}

/** Returns the files of all these fields; a file that two fields name is returned once. */
function filesAt(names: readonly string[], fields: Fields, read: Read): JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const name of names) {
    const path = fields.text(name);
    if (path === undefined || path === '') continue;
    const { files, binaryFiles } = read(path);
    for (const [at, content] of Object.entries(files)) found.set(at, { path: at, content });
    for (const [at, base64] of Object.entries(binaryFiles)) found.set(at, { path: at, base64 });
  }
  return [...found.values()];
}
