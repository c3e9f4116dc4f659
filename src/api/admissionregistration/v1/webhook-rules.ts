/** Validation of the rules of a webhook: which operations and resources it is called for. */
import { invalidCause, notSupportedCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { RuleWithOperations } from './types.gen.ts';

const operationNames = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

export function validateRule(
  { operations = [], apiGroups = [], apiVersions = [], resources = [] }: Omit<RuleWithOperations, 'scope'>,
  path: string,
): StatusCause[] {
  return [
    ...validateList(operations, `${path}.operations`, 'operations'),
    ...operations.flatMap((operation, index) =>
      operationNames.includes(operation)
        ? []
        : [notSupportedCause(`${path}.operations[${index}]`, operation, operationNames)],
    ),
    ...validateList(apiGroups, `${path}.apiGroups`, 'API groups'),
    ...validateList(apiVersions, `${path}.apiVersions`, 'API versions'),
    ...emptyItems(apiVersions, `${path}.apiVersions`),
    ...validateResources(resources, `${path}.resources`),
  ];
}

/** Validates that the list has items, and that `*` stands alone. */
function validateList(list: readonly string[], path: string, what: string): StatusCause[] {
  if (list.length === 0) return [requiredCause(path)];
  if (list.length === 1 || !list.includes('*')) return [];
  return [invalidCause(path, list, `if '*' is present, must not specify other ${what}`)];
}

const emptyItems = (list: readonly string[], path: string): StatusCause[] =>
  list.flatMap((item, index) => (item === '' ? [requiredCause(`${path}[${index}]`)] : []));

/** Validates resources and subresources: none may be covered by a wildcard before it. */
function validateResources(resources: readonly string[], path: string): StatusCause[] {
  if (resources.length === 0) return [requiredCause(path)];
  const everySubresourceOf = new Set<string>();
  const ofEveryResource = new Set<string>();
  let lastIsBare = false;
  const coveredBy = (resource: string, subresource: string): string[] => {
    const wildcards = [
      ...(everySubresourceOf.has(resource) ? [`${resource}/*`] : []),
      ...(ofEveryResource.has(subresource) ? [`*/${subresource}`] : []),
    ];
    if (subresource === '*') everySubresourceOf.add(resource);
    if (resource === '*') ofEveryResource.add(subresource);
    return wildcards;
  };
  const causes = resources.flatMap((item, index): StatusCause[] => {
    const at = `${path}[${index}]`;
    const slash = item.indexOf('/');
    if (item === '') return [requiredCause(at)];
    // As upstream, the last item without a subresource decides.
    if (slash < 0) lastIsBare = item !== '*';
    const wildcards = slash < 0 ? [] : coveredBy(item.slice(0, slash), item.slice(slash + 1));
    return wildcards.map((by) => invalidCause(at, item, `if '${by}' is present, must not specify ${item}`));
  });
  if (resources.length > 1 && resources.includes('*/*'))
    causes.push(invalidCause(path, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && lastIsBare) {
    const why = "if '*' is present, must not specify other resources without subresources";
    causes.push(invalidCause(path, resources, why));
  }
  return causes;
}
