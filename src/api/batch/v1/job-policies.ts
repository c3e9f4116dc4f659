/**
 * Policies for early failure and early success of a Job (upstream: validatePodFailurePolicy,
 * validateSuccessPolicy).
 */
import {
  duplicateCause,
  invalidCause,
  invalidTogetherCause,
  notSupportedCause,
  requiredCause,
  tooLongCause,
  tooManyCause,
} from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { countIndexes, IndexesError } from './job-indexes.ts';
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from './types.gen.ts';

const maxRules = 20;
const maxExitCodes = 255;
const maxPatterns = 20;
const maxIndexesLength = 64 * 1024;

export function validateFailurePolicy(spec: JobSpec, path: string): StatusCause[] {
  const { rules = [] } = spec.podFailurePolicy ?? {};
  return [
    ...atMost(rules, maxRules, path),
    ...rules.flatMap((rule, index) => validateFailureRule(spec, rule, `${path}[${index}]`)),
  ];
}

function validateFailureRule(spec: JobSpec, rule: PodFailurePolicyRule, path: string): StatusCause[] {
  const { action, onExitCodes, onPodConditions = [] } = rule;
  const causes: StatusCause[] = [];
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
    causes.push(invalidCause(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  if (onExitCodes) causes.push(...validateExitCodes(spec, onExitCodes, `${path}.onExitCodes`));
  causes.push(...atMost(onPodConditions, maxPatterns, `${path}.onPodConditions`));
  for (const [index, { type }] of onPodConditions.entries())
    causes.push(...nameCauses(`${path}.onPodConditions[${index}].type`, type, checkQualifiedName));
  const ways = (onExitCodes ? 1 : 0) + (onPodConditions.length > 0 ? 1 : 0);
  if (ways === 2)
    causes.push(
      invalidTogetherCause(path, 'specifying both OnExitCodes and OnPodConditions is not supported'),
    );
  if (ways === 0)
    causes.push(invalidTogetherCause(path, 'specifying one of OnExitCodes and OnPodConditions is required'));
  return causes;
}

function validateExitCodes(
  { template }: JobSpec,
  { containerName, operator, values = [] }: PodFailurePolicyOnExitCodesRequirement,
  path: string,
): StatusCause[] {
  const causes: StatusCause[] = [];
  const { containers, initContainers = [] } = template.spec;
  if (
    containerName !== undefined &&
    ![...containers, ...initContainers].some(({ name }) => name === containerName)
  )
    causes.push(
      invalidCause(
        `${path}.containerName`,
        containerName,
        'must be one of the container or initContainer names in the pod template',
      ),
    );
  const at = `${path}.values`;
  if (values.length === 0) causes.push(invalidCause(at, values, 'at least one value is required'));
  causes.push(...atMost(values, maxExitCodes, at));
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0)
      causes.push(invalidCause(`${at}[${index}]`, value, 'must not be 0 for the In operator'));
    if (seen.has(value)) causes.push(duplicateCause(`${at}[${index}]`, value));
    seen.add(value);
  }
  if (values.some((value, index) => index > 0 && (values[index - 1] ?? 0) > value))
    causes.push(invalidCause(at, values, 'must be ordered'));
  return causes;
}

/** Validates a success policy. The Job is Indexed, and therefore has a number of completions. */
export function validateSuccessPolicy(
  { successPolicy, completions = 0 }: JobSpec,
  path: string,
): StatusCause[] {
  const { rules = [] } = successPolicy ?? {};
  const none = 'at least one rules must be specified when the successPolicy is specified';
  return [
    ...(rules.length === 0 ? [requiredCause(path, none)] : []),
    ...atMost(rules, maxRules, path),
    ...rules.flatMap((rule, index) => validateSuccessRule(rule, completions, `${path}[${index}]`)),
  ];
}

function validateSuccessRule(rule: SuccessPolicyRule, completions: number, path: string): StatusCause[] {
  const { succeededCount, succeededIndexes } = rule;
  if (succeededCount === undefined && succeededIndexes === undefined)
    return [requiredCause(path, 'at least one of succeededCount or succeededIndexes must be specified')];
  const causes: StatusCause[] = [];
  const atMostCount = (most: number, of: string) => {
    if (succeededCount === undefined || succeededCount <= most) return;
    const why = `must be less than or equal to ${most} (the number of ${of})`;
    causes.push(invalidCause(`${path}.succeededCount`, succeededCount, why));
  };
  atMostCount(completions, 'specified completions');
  if (succeededIndexes !== undefined) {
    const at = `${path}.succeededIndexes`;
    if (succeededIndexes.length > maxIndexesLength) causes.push(tooLongCause(at, maxIndexesLength));
    const found = indexesCause(succeededIndexes, completions, at);
    causes.push(...found.causes);
    atMostCount(found.count, 'indexes in the specified succeededIndexes field');
  }
  return causes;
}

/** Returns the causes for a list of indexes, and the number of indexes: 0 for an invalid list. */
export function indexesCause(text: string, completions: number, path: string) {
  try {
    return { causes: [], count: countIndexes(text, completions) };
  } catch (error) {
    if (!(error instanceof IndexesError)) throw error;
    const why = `error parsing ${path.slice(path.lastIndexOf('.') + 1)}: ${error.message}`;
    return { causes: [invalidCause(path, text, why)], count: 0 };
  }
}

/**
 * Validates the replacement policy. Terminating pods may still fail, so a failure policy requires `Failed`.
 */
export function validateReplacementPolicy({ podReplacementPolicy, podFailurePolicy }: JobSpec, path: string) {
  if (!podFailurePolicy || podReplacementPolicy === undefined || podReplacementPolicy === 'Failed') return [];
  return [notSupportedCause(path, podReplacementPolicy, ['Failed'])];
}

const atMost = (items: readonly unknown[], most: number, path: string): StatusCause[] =>
  items.length > most ? [tooManyCause(path, items.length, most)] : [];
