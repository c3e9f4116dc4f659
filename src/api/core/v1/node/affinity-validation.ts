/** Rules of a pod's affinity to nodes (upstream: validateNodeAffinity, ValidateNodeSelectorRequirement). */
import { forbiddenCause, invalidCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import {
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
  nameCauses,
} from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { NodeSelectorTerm, PodSpec } from '../types.gen.ts';

type Requirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number];

export function validateNodeAffinity({ affinity }: PodSpec, path: string): StatusCause[] {
  const at = `${path}.affinity.nodeAffinity`;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const preferred = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const terms = `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  return [
    ...(required?.nodeSelectorTerms.length === 0
      ? [requiredCause(terms, 'must have at least one node selector term')]
      : []),
    ...(required?.nodeSelectorTerms ?? []).flatMap((term, index) => validateTerm(term, `${terms}[${index}]`)),
    ...preferred.flatMap(({ weight, preference }, index) => {
      const one = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
      const wrong = weight < 1 || weight > 100;
      const causes = wrong ? [invalidCause(`${one}.weight`, weight, 'must be in the range 1-100')] : [];
      return [...causes, ...validateTerm(preference, `${one}.preference`)];
    }),
  ];
}

/** Validates a term. `anyValue` allows values that no label can have, as in a volume's affinity. */
export function validateTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  path: string,
  allow: { anyValue: boolean } = { anyValue: false },
): StatusCause[] {
  return [
    ...matchExpressions.flatMap((one, index) =>
      validateLabels(one, `${path}.matchExpressions[${index}]`, allow),
    ),
    ...matchFields.flatMap((one, index) => validateField(one, `${path}.matchFields[${index}]`)),
  ];
}

function validateLabels(
  { key, operator, values = [] }: Requirement,
  path: string,
  { anyValue }: { anyValue: boolean },
): StatusCause[] {
  const labels = anyValue ? [] : values;
  return [
    ...countOfValues(operator, values, `${path}.values`),
    ...nameCauses(`${path}.key`, key, checkQualifiedName),
    ...labels.flatMap((value, index) => nameCauses(`${path}.values[${index}]`, value, checkLabelValue)),
  ];
}

function countOfValues(operator: Requirement['operator'], values: readonly string[], path: string) {
  const count = values.length;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return count > 0 ? [] : [requiredCause(path, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist': {
      const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      return count === 0 ? [] : [forbiddenCause(path, why)];
    }
    case 'Gt':
    case 'Lt': {
      const why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
      return count === 1 ? [] : [requiredCause(path, why)];
    }
    default:
      // The schema rejects unknown operators.
      return [];
  }
}

/** Validates a requirement on fields: the name is the only supported field of a node. */
function validateField({ key, operator, values = [] }: Requirement, path: string): StatusCause[] {
  if (operator !== 'In' && operator !== 'NotIn') {
    return [invalidCause(`${path}.operator`, operator, 'not a valid selector operator')];
  }
  if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    return [requiredCause(`${path}.values`, why)];
  }
  if (key !== 'metadata.name') {
    return [invalidCause(`${path}.key`, key, 'not a valid field selector key')];
  }
  return values.flatMap((value) => nameCauses(`${path}.values[0]`, value, checkDns1123Subdomain));
}
