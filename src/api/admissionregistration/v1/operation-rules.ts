/** Rules by which webhooks and policies select operations on resources (upstream: validateRuleWithOperations). */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { RuleWithOperations } from './types.gen.ts';

/** Validates a rule, except for the names of its operations and its scope, which the decoder checks. */
export function validateOperationRule(rule: RuleWithOperations, path: string): StatusCause[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [] } = rule;
  return [
    ...validateChoice(operations, `${path}.operations`, 'operations'),
    ...validateChoice(apiGroups, `${path}.apiGroups`, 'API groups'),
    ...validateChoice(apiVersions, `${path}.apiVersions`, 'API versions'),
    ...requireNonEmpty(apiVersions, `${path}.apiVersions`),
    ...validateResources(resources, `${path}.resources`),
  ];
}

/** Validates a list of names that is not empty, and in which `*` stands alone. */
function validateChoice(names: readonly string[], path: string, what: string): StatusCause[] {
  if (names.length === 0) return [requiredCause(path)];
  if (names.length === 1 || !names.includes('*')) return [];
  return [invalidCause(path, names, `if '*' is present, must not specify other ${what}`)];
}

const requireNonEmpty = (names: readonly string[], path: string) =>
  names.flatMap((name, index) => (name === '' ? [requiredCause(`${path}[${index}]`)] : []));

/**
 * Validates resources, each `NAME`, `NAME/SUBRESOURCE` or either with `*`. A wildcard only excludes the names
 * behind it in the list, as upstream has it.
 */
function validateResources(resources: readonly string[], path: string): StatusCause[] {
  if (resources.length === 0) return [requiredCause(path)];
  const causes = resources.flatMap((resource, index) => {
    const at = `${path}[${index}]`;
    if (resource === '') return [requiredCause(at)];
    return coveringWildcards(resource, resources.slice(0, index)).map((by) =>
      invalidCause(at, resource, `if '${by}' is present, must not specify ${resource}`),
    );
  });
  const isBare = (resource: string) => resource !== '*' && !resource.includes('/');
  if (resources.length > 1 && resources.includes('*/*'))
    causes.push(invalidCause(path, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && resources.some(isBare)) {
    const why = "if '*' is present, must not specify other resources without subresources";
    causes.push(invalidCause(path, resources, why));
  }
  return causes;
}

/** Returns those of the earlier resources that stand for the subresource; none for a resource itself. */
function coveringWildcards(resource: string, earlier: readonly string[]): readonly string[] {
  const end = resource.indexOf('/');
  if (end < 0) return [];
  const wildcards = [`${resource.slice(0, end)}/*`, `*/${resource.slice(end + 1)}`];
  return [...new Set(wildcards)].filter((wildcard) => earlier.includes(wildcard));
}
