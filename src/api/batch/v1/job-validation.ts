/** Rules of Jobs, and of the Jobs that a CronJob makes (upstream: pkg/apis/batch/validation). */
import { deepCopy, deepEqual } from '../../../apimachinery/equality.ts';
import { invalidCause, requiredCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import { matches, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { checkDns1123Label } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validatePodTemplate } from '../../core/v1/pod/template-validation.ts';
import { validateDomainPath } from '../../domain-path.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import { validateFailurePolicy, validateReplacementPolicy, validateSuccessPolicy } from './job-policies.ts';
import type { Job, JobSpec } from './types.gen.ts';

/** Maximums that limit the size of the status, which lists finished indexes. */
const maxParallel = 100_000;
const failedIndexesLimit = 100_000;
const manyCompletions = 100_000;
const maxOfMany = 10_000;

const maxManagerLength = 63;

/** Validates everything but the selector. */
export function validateJobSpec(spec: JobSpec, path: string): StatusCause[] {
  const { podFailurePolicy, successPolicy, managedBy } = spec;
  return [
    ...(managedBy === undefined ? [] : validateManager(managedBy, `${path}.managedBy`)),
    ...(spec.completionMode === 'Indexed' ? validateIndexed(spec, path) : validateNotIndexed(spec, path)),
    ...(spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
      ? [requiredCause(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')]
      : []),
    ...(podFailurePolicy ? validateFailurePolicy(spec, `${path}.podFailurePolicy.rules`) : []),
    ...(successPolicy && spec.completionMode === 'Indexed'
      ? validateSuccessPolicy(spec, `${path}.successPolicy.rules`)
      : []),
    ...validateReplacementPolicy(spec, `${path}.podReplacementPolicy`),
    ...validatePodTemplate(spec.template, `${path}.template`),
    ...validateEndingPods(spec, `${path}.template.spec.restartPolicy`),
  ];
}

function validateManager(managedBy: string, path: string): StatusCause[] {
  const causes = validateDomainPath(managedBy, path);
  return managedBy.length > maxManagerLength ? [...causes, tooLongCause(path, maxManagerLength)] : causes;
}

function validateIndexed(spec: JobSpec, path: string): StatusCause[] {
  const { completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const causes: StatusCause[] = [];
  const atMost = (field: 'parallelism' | 'maxFailedIndexes', most: number, when = '') => {
    const value = spec[field] ?? 0;
    const why = `must be less than or equal to ${most}${when}`;
    if (value > most) causes.push(invalidCause(`${path}.${field}`, value, why));
  };
  if (completions === undefined)
    causes.push(requiredCause(`${path}.completions`, 'when completion mode is Indexed'));
  if (parallelism > maxParallel) atMost('parallelism', maxParallel, ' when completion mode is Indexed');
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions) {
    const why = 'must be less than or equal to completions';
    causes.push(invalidCause(`${path}.maxFailedIndexes`, maxFailedIndexes, why));
  }
  atMost('maxFailedIndexes', failedIndexesLimit);
  if ((completions ?? 0) > manyCompletions && backoffLimitPerIndex !== undefined) {
    if (maxFailedIndexes === undefined) {
      const why = `must be specified when completions is above ${manyCompletions}`;
      causes.push(requiredCause(`${path}.maxFailedIndexes`, why));
    }
    const when = ` when completions are above ${manyCompletions} and used with backoff limit per index`;
    atMost('parallelism', maxOfMany, when);
    atMost('maxFailedIndexes', maxOfMany, when);
  }
  return causes;
}

function validateNotIndexed(spec: JobSpec, path: string): StatusCause[] {
  return (['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy'] as const)
    .filter((field) => spec[field] !== undefined)
    .map((field) => invalidCause(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
}

/** Rejects pods that restart forever, with which the Job would never finish. */
function validateEndingPods({ template, podFailurePolicy }: JobSpec, path: string): StatusCause[] {
  const { restartPolicy } = template.spec;
  if (restartPolicy === 'Always') return [requiredCause(path, 'valid values: "OnFailure", "Never"')];
  if (!podFailurePolicy || restartPolicy === 'Never') return [];
  const why = 'only "Never" is supported when podFailurePolicy is specified';
  return [invalidCause(path, restartPolicy, why)];
}

export function validateJob({ metadata, spec }: Job): StatusCause[] {
  const causes = [...validateSelector(spec), ...validateJobSpec(spec, 'spec')];
  const { completions = 0, completionMode } = spec;
  const hostname = `${metadata.name}-${completions - 1}`;
  if (completionMode === 'Indexed' && completions > 0 && checkDns1123Label(hostname).length > 0)
    causes.push(
      invalidCause(
        'metadata.name',
        metadata.name,
        `will not able to create pod with invalid DNS label: ${hostname}`,
      ),
    );
  return causes;
}

function validateSelector({ selector, template }: JobSpec): StatusCause[] {
  const causes = selector
    ? validateLabelSelector(selector, 'spec.selector')
    : [requiredCause('spec.selector')];
  const { labels } = template.metadata;
  if (matches(selectorFromLabelSelector(selector), labels)) return causes;
  const why = '`selector` does not match template `labels`';
  return [...causes, invalidCause('spec.template.metadata.labels', labels ?? {}, why)];
}

const immutable = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

export function validateJobUpdate({ spec }: Job, { spec: old, status }: Job): StatusCause[] {
  const fixed = immutable
    .filter((field) => !deepEqual(spec[field], old[field]))
    .map((field) => invalidCause(`spec.${field}`, spec[field], 'field is immutable'));
  const notStarted = old.suspend === true && status?.startTime === undefined;
  const before = notStarted ? withPlacement(old.template, spec.template) : old.template;
  return [
    ...validateCompletions(spec, old),
    ...fixed,
    ...(deepEqual(spec.template, before)
      ? []
      : [invalidCause('spec.template', spec.template, 'field is immutable')]),
  ];
}

function validateCompletions(spec: JobSpec, old: JobSpec): StatusCause[] {
  const { completions, parallelism } = spec;
  const path = 'spec.completions';
  if (completions === old.completions) return [];
  if (spec.completionMode !== 'Indexed') return [invalidCause(path, completions, 'field is immutable')];
  return completions === undefined || completions === parallelism
    ? []
    : [invalidCause(path, completions, 'can only be modified in tandem with spec.parallelism')];
}

/**
 * Returns the old template with the new one's scheduling fields, which a queue may set before the first pod
 * exists.
 */
function withPlacement(old: JobSpec['template'], from: JobSpec['template']): JobSpec['template'] {
  const template = deepCopy(old);
  const { spec, metadata } = template;
  const { nodeAffinity, ...others } = spec.affinity ?? {};
  const wanted = from.spec.affinity;
  const affinity = { ...others, ...(wanted?.nodeAffinity && { nodeAffinity: wanted.nodeAffinity }) };
  spec.affinity = wanted === undefined && Object.keys(affinity).length === 0 ? undefined : affinity;
  spec.nodeSelector = from.spec.nodeSelector;
  spec.tolerations = from.spec.tolerations;
  spec.schedulingGates = from.spec.schedulingGates;
  metadata.annotations = from.metadata.annotations;
  metadata.labels = from.metadata.labels;
  return template;
}
