/** Rules of label selectors in all kinds (upstream: apimachinery, meta/v1/validation). */
import { forbiddenCause, requiredCause, tooManyCause } from '../../../apimachinery/field-error.ts';
import { checkLabelValue, checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import { maxSelectorTerms } from '../../../apimachinery/selector-length.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateLabels } from '../../../apimachinery/validate-meta.ts';
import type { LabelSelector, LabelSelectorRequirement } from './types.gen.ts';

/**
 * Validates a selector. Controllers compare it with every changed pod or node, so its size has a limit, which
 * upstream lacks.
 */
export function validateLabelSelector(selector: LabelSelector, path: string): StatusCause[] {
  const count = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0);
  if (count > maxSelectorTerms) return [tooManyCause(path, count, maxSelectorTerms)];
  return [
    ...validateLabels(selector.matchLabels ?? {}, `${path}.matchLabels`),
    ...(selector.matchExpressions ?? []).flatMap((expression, index) =>
      validateLabelRequirement(expression, `${path}.matchExpressions[${index}]`),
    ),
  ];
}

export function validateLabelRequirement(
  { key, operator, values = [] }: LabelSelectorRequirement,
  path: string,
): StatusCause[] {
  return [
    ...nameCauses(`${path}.key`, key, checkQualifiedName),
    ...valueCountCauses(operator, values, path),
    ...values.flatMap((value, index) => nameCauses(`${path}.values[${index}]`, value, checkLabelValue)),
  ];
}

/** Validates the number of values; an unknown operator may have any number. */
export function valueCountCauses(operator: string, values: readonly string[], path: string): StatusCause[] {
  const listed = operator === 'In' || operator === 'NotIn';
  if (listed && values.length === 0)
    return [requiredCause(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  const bare = operator === 'Exists' || operator === 'DoesNotExist';
  if (!bare || values.length === 0) return [];
  return [
    forbiddenCause(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
  ];
}
