/** `ctl slurm`: submits jobs to Slurm clusters from a folder, and fetches their results. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { patchTypes } from '../../../apimachinery/patch.ts';
import { UsageError } from '../../../base/usage-error.ts';
import { dryRunFlag, dryRunOf, dryRunSuffix, type FlagTable } from '../../../cli/flags/flags.ts';
import { outputFlag } from '../../../cli/flags/output-flags.ts';
import { writeQuery } from '../../../cli/flags/write-options.ts';
import { findResource } from '../../../cli/objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../../../cli/objects/object-target.ts';
import { recordsAt, textAt } from '../../../cli/objects/objects.ts';
import { printedFormat } from '../../../cli/printers/object-format.ts';
import { shown } from '../../../cli/printers/table-writer.ts';
import type { Verb, VerbContext, VerbGroup } from '../../../cli/verb.ts';
import { collectionPath } from '../../../client/resource-path.ts';
import { hasEnded, writeResults } from './job-files.ts';
import { slurmFlags, slurmSpec } from './job-object.ts';

async function targetOf(context: VerbContext, verb: string): Promise<ObjectTarget> {
  const [name, ...more] = context.flags.words;
  if (name === undefined || more.length > 0) throw new UsageError(`ctl slurm ${verb}: say which job: NAME`);
  const cluster = context.cluster();
  const resource = findResource(await cluster.resources(), 'slurmjobs.v1.minik8s.io');
  return { resource, namespace: cluster.namespace, name };
}

const create: Verb = {
  about: 'submit a job to a Slurm cluster',
  words: 'NAME --connection SECRET',
  flags: { ...slurmFlags, ...dryRunFlag, ...outputFlag },
  examples: [
    'ctl slurm create fit --connection hpc --from ./fit --script-file run.sbatch # submit a batch script',
    "ctl slurm create fit --connection hpc --run-command 'python3 fit.py' --gpus 1 # submit a command",
  ],
  async run(context) {
    const { flags, io } = context;
    const { resource, namespace, name } = await targetOf(context, 'create');
    const spec = await slurmSpec(flags);
    const object: JsonObject = {
      ...{ apiVersion: 'minik8s.io/v1', kind: 'SlurmJob' },
      ...{ metadata: { name, namespace }, spec },
    };
    const format = printedFormat(flags);
    const dryRun = dryRunOf(flags);
    const path = collectionPath(resource, namespace) + writeQuery(dryRun);
    const written = dryRun === 'client' ? object : await context.cluster().send('POST', path, object);
    io.out(format?.(written) ?? `slurmjob/${name} created${dryRunSuffix[dryRun]}\n`);
  },
};

const resultFlags = {
  output: { type: 'string', short: 'o', hint: 'DIR', about: 'output directory' },
} as const satisfies FlagTable;

const results: Verb = {
  about: 'write the results of a finished job to a directory',
  words: 'NAME',
  flags: resultFlags,
  examples: ['ctl slurm results fit -o ./results # fetch the files of a job'],
  async run(context) {
    const { flags, io, report } = context;
    const folder = flags.text('output');
    if (!folder) throw new UsageError('ctl slurm results: give the directory: -o DIR');
    const target = await targetOf(context, 'results');
    const cluster = context.cluster();
    const job = await cluster.get(targetPath(target));
    if (!hasEnded(job)) throw new Error(`slurmjob/${target.name} has not ended yet`);
    for (const path of await writeResults(cluster, job, folder)) io.out(`${shown(path)}\n`);
    for (const file of recordsAt(job, 'status', 'droppedFiles'))
      report(new Error(shown(`${textAt(file, 'path')} was not fetched: ${textAt(file, 'reason')}`)));
  },
};

const cancel: Verb = {
  about: 'cancel a job; its object and its output stay',
  words: 'NAME',
  examples: ['ctl slurm cancel fit # cancel a job'],
  async run(context) {
    const target = await targetOf(context, 'cancel');
    const cluster = context.cluster();
    const job = await cluster.get(targetPath(target));
    if (hasEnded(job))
      throw new Error(`slurmjob/${target.name} has ended already: ${textAt(job, 'status', 'phase')}`);
    await cluster.send('PATCH', targetPath(target), { spec: { cancel: true } }, patchTypes.merge);
    context.io.out(`slurmjob/${target.name} is being canceled\n`);
  },
};

export const slurm: VerbGroup = {
  about: 'submit jobs to Slurm clusters and fetch their results',
  group: 'Functions, Workflows and Slurm',
  examples: [
    'ctl slurm create fit --connection hpc --from ./fit --script-file run.sbatch # submit a batch script',
    'ctl get slurmjobs # list the jobs with their states',
  ],
  verbs: { create, results, cancel },
};
