/** SlurmJob: a job of a Slurm cluster, submitted over SSH by a pod of the namespace. */
import { ageColumn, nameColumn, none } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { conditionRules } from '../../../api/shared-rules.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { slurmJobTypes } from './slurm-job-types.ts';
import { validateSlurmJob, validateSlurmJobUpdate } from './slurm-validation.ts';
import type { SlurmJob } from './types.gen.ts';

export type { SlurmJob } from './types.gen.ts';

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

/**
 * Finalizer that is present while the job may run on the host and must be canceled before the object is
 * removed.
 */
export const slurmFinalizer = 'minik8s.io/slurm-cancel';

const ends: readonly (string | undefined)[] = ['Succeeded', 'Failed', 'Canceled'];

/** Returns true if the job's phase is final. */
export const slurmJobEnded = ({
  status,
}: {
  readonly status?: Pick<NonNullable<SlurmJob['status']>, 'phase'> | undefined;
}): boolean => ends.includes(status?.phase);

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
  types: slurmJobTypes,
  rules: {
    SlurmJob: headRules('SlurmJob'),
    SlurmJobSpec: { defaults: { resultsLimit: '16Mi', keepFiles: false, cancel: false } },
    SlurmJobStatus: { choices: { phase: slurmPhases } },
    SlurmJobStatusConditions: conditionRules,
  },
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
    column('Phase', 'The phase of the job.', ({ status }) => status?.phase ?? 'Waiting'),
    column('State', 'The state in Slurm.', ({ status }) => status?.state || none),
    column('Job', 'The number of the job in Slurm.', ({ status }) => status?.jobID || none),
    column('Exit', 'The exit status of the batch script.', ({ status }) => String(status?.exitCode ?? none)),
    column('Reason', 'The reason of the state in Slurm.', ({ status }) => status?.reason || none, 1),
    column('Partition', 'The requested partition.', ({ spec }) => spec.partition || none, 1),
    column('Nodes', 'The nodes on which the job runs.', ({ status }) => status?.nodes || none, 1),
    ageColumn,
  ],
  selectableFields: {
    'spec.connection.secretName': ({ spec }) => spec.connection.secretName,
    'status.phase': ({ status }) => status?.phase ?? 'Waiting',
  },
  deleteAnswers: 'status',
};
