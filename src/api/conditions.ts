/** Conditions of the type that newer kinds share (upstream: ValidateConditions). */
import { duplicateCause, invalidCause, requiredCause, tooLongCause } from '../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../apimachinery/names.ts';
import type { StatusCause } from '../apimachinery/status-error.ts';
import type { Condition } from './meta/v1/types.gen.ts';

const maxReasonLength = 1024;
const maxMessageLength = 32 * 1024;
const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonShape = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** Validates conditions, except for their statuses, which the decoder checks. */
export function validateConditions(conditions: readonly Condition[], path: string): StatusCause[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const at = `${path}[${index}]`;
    const { type } = condition;
    const twice = seen.has(type) ? [duplicateCause(`${at}.type`, type)] : [];
    seen.add(type);
    return [...twice, ...validateCondition(condition, at)];
  });
}

function validateCondition(condition: Condition, path: string): StatusCause[] {
  const { type, reason, message, observedGeneration, lastTransitionTime } = condition;
  const causes = nameCauses(`${path}.type`, type, checkQualifiedName);
  if (observedGeneration !== undefined && observedGeneration < 0) {
    const why = 'must be greater than or equal to zero';
    causes.push(invalidCause(`${path}.observedGeneration`, observedGeneration, why));
  }
  if (!lastTransitionTime) causes.push(requiredCause(`${path}.lastTransitionTime`, 'must be set'));
  if (!reason) causes.push(requiredCause(`${path}.reason`, 'must be set'));
  else if (reason.length > maxReasonLength) causes.push(tooLongCause(`${path}.reason`, maxReasonLength));
  else if (!reasonShape.test(reason)) {
    const why = `a condition reason begins with a letter and holds letters, digits, '_', ',' and ':'`;
    causes.push(invalidCause(`${path}.reason`, reason, `${why} (it has to match '${reasonPattern}')`));
  }
  if ((message ?? '').length > maxMessageLength)
    causes.push(tooLongCause(`${path}.message`, maxMessageLength));
  return causes;
}
