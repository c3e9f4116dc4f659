import { deepCopy } from '../../../apimachinery/equality.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { setPodTemplateDefaults } from '../../core/v1/pod/defaults.ts';
import { podNameWarnings } from '../../core/v1/pod/names.ts';
import { conditionRules, conditionStatuses } from '../../shared-rules.ts';
import { jobColumns } from './job-columns.ts';
import { generateSelector, validateGeneratedSelector } from './job-selector.ts';
import { validateJobStatus } from './job-status.ts';
import { validateJob, validateJobUpdate } from './job-validation.ts';
import { specWarnings } from './job-warnings.ts';
import type { Job } from './types.gen.ts';

export type { Job } from './types.gen.ts';

const unlimited = 2 ** 31 - 1;

/** Sets defaults that are not constants of the type: the Job template of a CronJob does not get them. */
function setDefaults(job: Job): void {
  const { spec } = job;
  setPodTemplateDefaults(spec.template);
  setLabelDefaults(job);
  if (spec.parallelism === undefined) spec.completions ??= 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : unlimited;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  for (const { onPodConditions = [] } of spec.podFailurePolicy?.rules ?? [])
    for (const pattern of onPodConditions) pattern.status ??= 'True';
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
}

const validateWithSelector = (job: Job) => [...validateGeneratedSelector(job), ...validateJob(job)];

/**
 * Gives a Job without labels the labels of its template. Both share the object, so that the labels that are
 * generated with the selector are included.
 */
function setLabelDefaults({ metadata, spec }: Job): void {
  const { labels } = spec.template.metadata;
  if (labels && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = labels;
}

/**
 * Returns true if the Job has its selector. A body that could not be decoded is validated, for further
 * causes, before the selector is generated.
 */
const isPrepared = ({ spec }: Job) => spec.selector !== undefined || spec.manualSelector === true;

function withSelector(job: Job): Job {
  const copy = deepCopy(job);
  generateSelector(copy);
  return copy;
}

const jobWarnings = specWarnings(({ spec }: Job) => spec, 'spec');

export const jobResource: ResourceDefinition<Job> = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  singular: 'job',
  shortNames: [],
  categories: ['all'],
  namespaced: true,
  typeName: 'batch.v1.Job',
  rules: {
    'batch.v1.Job': { requires: 'spec' },
    'batch.v1.JobSpec': {
      acts: 'activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy selector successPolicy suspend template ttlSecondsAfterFinished',
      limits: {
        activeDeadlineSeconds: [0],
        backoffLimit: [0],
        backoffLimitPerIndex: [0],
        completions: [0],
        maxFailedIndexes: [0],
        parallelism: [0],
        ttlSecondsAfterFinished: [0],
      },
    },
    'batch.v1.PodFailurePolicy': { mayLack: 'rules' },
    'batch.v1.PodFailurePolicyRule': {},
    'batch.v1.PodFailurePolicyOnExitCodesRequirement': { mayLack: 'values' },
    'batch.v1.PodFailurePolicyOnPodConditionsPattern': { choices: { status: conditionStatuses } },
    'batch.v1.SuccessPolicy': { mayLack: 'rules' },
    'batch.v1.SuccessPolicyRule': { limits: { succeededCount: [0] } },
    'batch.v1.JobStatus': {},
    'batch.v1.JobCondition': conditionRules,
    'batch.v1.UncountedTerminatedPods': {},
  },
  strategy: {
    setDefaults,
    prepareForCreate: (job) => {
      generateSelector(job);
      setLabelDefaults(job);
    },
    validate: (job) => validateWithSelector(isPrepared(job) ? job : withSelector(job)),
    validateUpdate: validateJobUpdate,
    validateStatus: validateJobStatus,
    warnings: (job, old) => [...podNameWarnings(job, old), ...jobWarnings(job, old)],
    countsGenerations: true,
    orphansByDefault: true,
  },
  hasStatus: true,
  columns: jobColumns,
  selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
  deleteAnswers: 'status',
};
