/** SlurmJob: a job of a Slurm cluster, submitted over SSH by a pod of the namespace. */
import * as v from 'valibot';
import { ageColumn, nameColumn, none } from '../../../api/columns.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import {
  conditionSchema,
  int32,
  int64,
  objectMetaSchema,
  struct,
  time,
} from '../../../apimachinery/schema.ts';
import { askedFields, endFields, workFields } from './slurm-job-fields.ts';
import { validateSlurmJob, validateSlurmJobUpdate } from './slurm-validation.ts';

/** Phases; the last three are final. */
export const slurmPhases = [
  'Waiting',
  'Uploading',
  'Building',
  'Submitted',
  'Running',
  'Fetching',
  'Succeeded',
  'Failed',
  'Canceled',
] as const;

const word = (about: string) => v.optional(v.pipe(v.string(), v.description<string, string>(about)));
const at = (about: string) => v.optional(v.pipe(time(), v.description(about)));
const bytes = (about: string) => v.optional(v.pipe(int64(), v.description(about)));

const fetched = {
  path: v.pipe(v.string(), v.description<string, string>('Its path below the work folder.')),
  size: v.pipe(int64(), v.description('How many bytes it has.')),
};

const statusSchema = v.pipe(
  struct({
    phase: v.optional(
      v.pipe(
        v.picklist(slurmPhases),
        v.description(
          'How far it is: Waiting, Uploading, Building, Submitted, Running, Fetching, and at the end Succeeded, Failed or Canceled.',
        ),
      ),
    ),
    acceptedTime: at('When the client first saw it.'),
    state: word('Its state as Slurm says, such as PENDING or COMPLETED.'),
    reason: word('Why it is in that state, as Slurm says, such as Resources.'),
    jobID: word('The number that Slurm gave it.'),
    nodes: word('The nodes that it runs on, as Slurm writes them.'),
    exitCode: v.optional(
      v.pipe(
        int32(),
        v.description('The exit status of the batch script; 128 and the number of a signal that ended it.'),
      ),
    ),
    submitTime: at('When Slurm took it.'),
    startTime: at('When Slurm started it.'),
    endTime: at('When it ended in Slurm.'),
    arrayTasks: v.optional(
      v.pipe(v.record(v.string(), int32()), v.description('How many tasks of an array are in each state.')),
    ),
    workDir: word('Its work folder on the host.'),
    outputBytes: bytes('How many bytes it has written to its standard output.'),
    errorBytes: bytes('How many bytes it has written to its standard error.'),
    files: v.optional(
      v.pipe(v.array(struct(fetched)), v.description('Results that were fetched: SlurmFiles hold them.')),
    ),
    droppedFiles: v.optional(
      v.pipe(
        v.array(
          struct({
            ...fetched,
            reason: v.pipe(v.string(), v.description<string, string>('Why it was not fetched.')),
          }),
        ),
        v.description('What was not fetched. The work folder is kept then.'),
      ),
    ),
    conditions: v.optional(
      v.pipe(
        v.array(conditionSchema),
        v.description(
          'Connected, Uploaded, Built, Submitted and ResultsFetched say what was done; Complete and Failed how it ended.',
        ),
      ),
    ),
  }),
  v.description('How far the job is, written by the client.'),
);

const slurmJobSchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('SlurmJob'), v.description('The kind of the object: SlurmJob.')),
    metadata: objectMetaSchema,
    spec: v.pipe(
      struct({ ...workFields, ...askedFields, ...endFields }),
      v.description(
        'What is run. Nothing but cancel, activeDeadlineSeconds and ttlSecondsAfterFinished can be changed.',
      ),
    ),
    status: v.optional(statusSchema),
  }),
  v.description('SlurmJob is a job of a Slurm cluster.'),
);

export type SlurmJob = v.InferOutput<typeof slurmJobSchema>;

/**
 * Finalizer that is present while the job may run on the host and must be canceled before the object is
 * removed.
 */
export const slurmFinalizer = 'minik8s.io/slurm-cancel';

const ends: readonly (string | undefined)[] = ['Succeeded', 'Failed', 'Canceled'];

/** Returns true if the job's phase is final. */
export const slurmJobEnded = ({ status }: Pick<SlurmJob, 'status'>): boolean => ends.includes(status?.phase);

const column = (name: string, description: string, cell: (job: SlurmJob) => string, priority?: 1) => ({
  name,
  type: 'string' as const,
  description,
  cell,
  ...(priority && { priority }),
});

const addFinalizer = ({ metadata }: SlurmJob) => {
  const { finalizers = [] } = metadata;
  if (!finalizers.includes(slurmFinalizer)) metadata.finalizers = [...finalizers, slurmFinalizer];
};

export const slurmJobResource: ResourceDefinition<SlurmJob> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'SlurmJob',
  plural: 'slurmjobs',
  singular: 'slurmjob',
  shortNames: ['sj'],
  categories: [],
  namespaced: true,
  typeName: 'SlurmJob',
  schema: slurmJobSchema,
  strategy: {
    prepareForCreate: addFinalizer,
    // An update that omits the finalizer must not orphan a job on the host. The finalizer can be removed
    // during a deletion.
    prepareForUpdate: (job, old) => {
      const had = old.metadata.finalizers?.includes(slurmFinalizer) ?? false;
      if (had && old.metadata.deletionTimestamp === undefined) addFinalizer(job);
    },
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate: validateSlurmJob,
    validateUpdate: validateSlurmJobUpdate,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    column('Phase', 'How far it is.', ({ status }) => status?.phase ?? 'Waiting'),
    column('State', 'Its state as Slurm says.', ({ status }) => status?.state || none),
    column('Job', 'The number that Slurm gave it.', ({ status }) => status?.jobID || none),
    column('Exit', 'The exit status of the batch script.', ({ status }) => String(status?.exitCode ?? none)),
    column('Reason', 'Why it is in that state, as Slurm says.', ({ status }) => status?.reason || none, 1),
    column('Partition', 'The partition that was asked for.', ({ spec }) => spec.partition || none, 1),
    column('Nodes', 'The nodes that it runs on.', ({ status }) => status?.nodes || none, 1),
    ageColumn,
  ],
  selectableFields: {
    'spec.connection.secretName': ({ spec }) => spec.connection.secretName,
    'status.phase': ({ status }) => status?.phase ?? 'Waiting',
  },
  deleteAnswers: 'status',
};
