import { deepEqual } from '../../../apimachinery/equality.ts';
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { validateQuantity } from '../../../apimachinery/quantity.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { maxCauses, type StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { isQuotaName, isWhole, validateQuotaName } from './container/resource-names.ts';
import { wholeUnits } from './container/resource-validation.ts';
import { roundResources } from './pod/spec-defaults.ts';
import type { ResourceQuota, ScopedResourceSelectorRequirement } from './types.gen.ts';

export type { ResourceQuota } from './types.gen.ts';

type Amounts = Readonly<Record<string, string>>;
type Spec = ResourceQuota['spec'];

const scopes = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
];

/** Scopes that do not have values. */
const plainScopes: ReadonlySet<string> = new Set(scopes.filter((scope) => scope !== 'PriorityClass'));
const podAmounts = /^(?:pods|(?:requests\.|limits\.)?(?:cpu|memory))$/;

function validateAmounts(amounts: Amounts, path: string): StatusCause[] {
  return Object.entries(amounts).flatMap(([name, amount]) => {
    const at = `${path}[${name}]`;
    return [
      ...validateQuotaName(name, at),
      ...validateQuantity(at, amount),
      ...(isWhole(name) ? wholeUnits(amount, at) : []),
    ];
  });
}

/**
 * Returns true if the resource can be limited in the scope. A scope selects pods, so only resources of pods
 * can be; BestEffort pods have no amounts, and are only counted.
 */
const fits = (scope: string, name: string) =>
  !isQuotaName(name) || (scope === 'BestEffort' ? name === 'pods' : podAmounts.test(name));

const pairs = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

const conflicts = (given: readonly string[]) =>
  pairs.filter((pair) => pair.every((scope) => given.includes(scope)));

/** Returns the resources that do not fit, once for each scope; not more than are reported. */
const misfits = (given: readonly string[], hard: Amounts): string[] =>
  scopes
    .filter((scope) => given.includes(scope))
    .flatMap((scope) => Object.keys(hard).filter((name) => !fits(scope, name)))
    .slice(0, maxCauses + 1);

function validateScopes({ hard = {}, scopes: given = [] }: Spec): StatusCause[] {
  const fault = (why: string) => invalidCause('spec.scopes', given, why);
  const unknown = given.filter((scope) => !scopes.includes(scope)).slice(0, maxCauses + 1);
  return [
    ...unknown.map(() => fault('unsupported scope')),
    ...misfits(given, hard).map(() => fault('unsupported scope applied to resource')),
    ...conflicts(given).map(() => fault('conflicting scopes')),
  ];
}

function validateScopeSelector({ hard = {}, scopeSelector, scopes: given = [] }: Spec): StatusCause[] {
  const path = 'spec.scopeSelector.matchExpressions';
  const { matchExpressions = [] } = scopeSelector ?? {};
  const names = matchExpressions.map(({ scopeName }) => scopeName);
  return [
    ...misfits(names, hard).map(() =>
      invalidCause(path, scopeSelector, 'unsupported scope applied to resource'),
    ),
    ...matchExpressions.flatMap((requirement) => validateRequirement(requirement, path)),
    ...conflicts(names).map(() => invalidCause(path, given, 'conflicting scopes')),
  ];
}

function validateRequirement(
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
  path: string,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (plainScopes.has(scopeName) && operator !== 'Exists') {
    const named = [...plainScopes].map((scope) => `ResourceQuotaScope${scope}`);
    const why = `must be 'Exists' when scope is any of ${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
    causes.push(invalidCause(`${path}.operator`, operator, why));
  }
  const wantsValues = operator === 'In' || operator === 'NotIn';
  if (wantsValues && values.length === 0) {
    const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    causes.push(requiredCause(`${path}.values`, why));
  }
  if (!wantsValues && values.length > 0) {
    const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    causes.push(invalidCause(`${path}.values`, values, why));
  }
  return causes;
}

const sorted = (given: readonly string[] = []) => [...new Set(given)].sort();

/** Returns `cpu: 1/2` for each resource, used and hard; limits have a separate text. */
function usageText({ status }: ResourceQuota, ofLimits: boolean): string {
  const { hard = {}, used = {} } = status ?? {};
  return Object.keys(hard)
    .filter((name) => name.startsWith('limits.') === ofLimits)
    .sort()
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
    .join(', ');
}

export const resourceQuotaResource: ResourceDefinition<ResourceQuota> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  singular: 'resourcequota',
  shortNames: ['quota'],
  categories: [],
  namespaced: true,
  typeName: 'core.v1.ResourceQuota',
  rules: {
    'core.v1.ResourceQuota': { defaults: { spec: {} } },
    'core.v1.ResourceQuotaSpec': {},
    'core.v1.ScopeSelector': {},
    'core.v1.ScopedResourceSelectorRequirement': { choices: { scopeName: scopes } },
    'core.v1.ResourceQuotaStatus': {},
  },
  strategy: {
    setDefaults: ({ spec, status }) => {
      for (const amounts of [spec.hard, status?.hard, status?.used]) roundResources(amounts);
    },
    validate: ({ spec }) => [
      ...validateAmounts(spec.hard ?? {}, 'spec.hard'),
      ...validateScopes(spec),
      ...validateScopeSelector(spec),
    ],
    validateUpdate: ({ spec }, { spec: old }) =>
      deepEqual(sorted(spec.scopes), sorted(old.scopes))
        ? []
        : [invalidCause('spec.scopes', spec.scopes ?? [], 'field is immutable')],
    validateStatus: ({ status }) => [
      ...validateAmounts(status?.hard ?? {}, 'status.hard'),
      ...validateAmounts(status?.used ?? {}, 'status.used'),
    ],
    countsGenerations: false,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    ageColumn,
    {
      name: 'Request',
      type: 'string',
      description: 'The usage out of the quota, without limits.',
      cell: (quota) => usageText(quota, false),
    },
    {
      name: 'Limit',
      type: 'string',
      description: 'The sum of the limits, out of the quota.',
      cell: (quota) => usageText(quota, true),
    },
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
