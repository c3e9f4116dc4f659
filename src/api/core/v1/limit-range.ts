/**
 * LimitRange: minimums, maximums and defaults of resources for the pods, containers and claims of a
 * namespace.
 */
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import { compareQuantities, parseQuantity } from '../../../apimachinery/quantity.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { maxCauses, type StatusCause } from '../../../apimachinery/status-error.ts';
import { createdAtColumn, nameColumn } from '../../columns.ts';
import {
  isExclusive,
  validateContainerResourceName,
  validateResourceName,
} from './container/resource-names.ts';
import { roundResources } from './pod/spec-defaults.ts';
import type { LimitRange, LimitRangeItem } from './types.gen.ts';

export type { LimitRange } from './types.gen.ts';

const tables = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
type Table = (typeof tables)[number];
const types = ['Pod', 'Container', 'PersistentVolumeClaim'];

/**
 * Sets defaults: the limit defaults to the maximum; the request defaults to the limit, or else to the
 * minimum.
 */
function setItemDefaults(item: LimitRangeItem): void {
  for (const table of tables) roundResources(item[table]);
  if (item.type !== 'Container') return;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  if (Object.keys(limits).length > 0) item.default = limits;
  if (Object.keys(requests).length > 0) item.defaultRequest = requests;
}

/** Validates an item; the resources stop when there are more causes than are reported. */
function validateItem(item: LimitRangeItem, path: string): StatusCause[] {
  const isPod = item.type === 'Pod';
  const judged = tables.filter((table) => !isPod || !table.startsWith('default'));
  return [
    ...validateType(item.type, `${path}.type`),
    ...validateNames(item, judged, path),
    ...(isPod ? noDefaults(item, path) : []),
    ...(item.type === 'PersistentVolumeClaim' ? validateStorage(item, `${path}.limits`) : []),
    ...validateAllAmounts(item, judged, path),
  ];
}

function validateNames(item: LimitRangeItem, judged: readonly Table[], path: string): StatusCause[] {
  const isContainer = item.type === 'Pod' || item.type === 'Container';
  const check = isContainer ? validateContainerResourceName : validateResourceName;
  const causes: StatusCause[] = [];
  for (const table of judged)
    for (const name of Object.keys(item[table] ?? {})) {
      causes.push(...check(name, `${path}.${table}[${name}]`));
      if (causes.length > maxCauses) return causes;
    }
  return causes;
}

function validateAllAmounts(item: LimitRangeItem, judged: readonly Table[], path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const name of new Set(judged.flatMap((table) => Object.keys(item[table] ?? {})))) {
    causes.push(...validateAmounts(item, name, path));
    if (causes.length > maxCauses) break;
  }
  return causes;
}

function validateType(type: string, path: string): StatusCause[] {
  const causes = nameCauses(path, type, checkQualifiedName);
  if (causes.length > 0 || type.includes('/') || types.includes(type)) return causes;
  return [invalidCause(path, type, 'must be a standard limit type or fully qualified')];
}

/** Rejects defaults for a pod, whose resources are those of its containers. */
const noDefaults = (item: LimitRangeItem, path: string): StatusCause[] =>
  (['default', 'defaultRequest'] as const)
    .filter((table) => Object.keys(item[table] ?? {}).length > 0)
    .map((table) => forbiddenCause(`${path}.${table}`, "may not be specified when `type` is 'Pod'"));

function validateStorage({ min, max }: LimitRangeItem, path: string): StatusCause[] {
  if (min?.storage !== undefined || max?.storage !== undefined) return [];
  return [
    requiredCause(path, 'either minimum or maximum storage value is required, but neither was provided'),
  ];
}

/** Names of the amounts in messages. */
const called = { min: 'min', max: 'max', default: 'default', defaultRequest: 'default request' } as const;

/**
 * Pairs of amounts of which the first must not exceed the second; then the field of the cause, and the amount
 * that it shows.
 */
const orders = [
  ['min', 'max', 'min', 'min'],
  ['min', 'defaultRequest', 'defaultRequest', 'defaultRequest'],
  ['defaultRequest', 'max', 'defaultRequest', 'defaultRequest'],
  ['defaultRequest', 'default', 'defaultRequest', 'defaultRequest'],
  ['min', 'default', 'default', 'min'],
  ['default', 'max', 'default', 'max'],
] as const;

function validateAmounts(item: LimitRangeItem, name: string, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [low, high, field, shown] of item.type === 'Pod' ? orders.slice(0, 1) : orders) {
    const [lower, upper] = [item[low]?.[name], item[high]?.[name]];
    if (lower === undefined || upper === undefined || !isGreater(lower, upper)) continue;
    const limit = low === 'defaultRequest' && high === 'default' ? 'default limit' : called[high];
    const why = `${called[low]} value ${lower} is greater than ${limit} value ${upper}`;
    causes.push(invalidCause(`${path}.${field}[${name}]`, item[shown]?.[name], why));
  }
  return [...causes, ...validateRatio(item, name, path), ...validateExclusive(item, name, path)];
}

function validateRatio(item: LimitRangeItem, name: string, path: string): StatusCause[] {
  const ratio = item.maxLimitRequestRatio?.[name];
  const [min, max] = [item.min?.[name], item.max?.[name]];
  if (ratio === undefined) return [];
  const at = `${path}.maxLimitRequestRatio[${name}]`;
  const causes = isGreater('1', ratio) ? [invalidCause(at, ratio, `ratio ${ratio} is less than 1`)] : [];
  if (min === undefined || max === undefined) return causes;
  const most = number(max) / number(min);
  if (number(ratio) > most) {
    const text = Number.isFinite(most) ? most.toFixed(6) : String(most);
    causes.push(invalidCause(at, ratio, `ratio ${ratio} is greater than max/min = ${text}`));
  }
  return causes;
}

/** Requires equal requests and limits for resources that cannot be overcommitted. */
function validateExclusive(item: LimitRangeItem, name: string, path: string): StatusCause[] {
  const [limit, request] = [item.default?.[name], item.defaultRequest?.[name]];
  if (item.type === 'Pod' || !isExclusive(name) || limit === undefined || request === undefined) return [];
  if (!isGreater(limit, request) && !isGreater(request, limit)) return [];
  const why = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
  return [invalidCause(`${path}.defaultRequest[${name}]`, request, why)];
}

const isGreater = (a: string, b: string) =>
  a !== b && compareQuantities(parseQuantity(a), parseQuantity(b)) > 0;
const number = (text: string) => Number(parseQuantity(text).nano) / 1e9;

function validateRange({ spec }: LimitRange): StatusCause[] {
  const seen = new Set<string>();
  return spec.limits.flatMap((item, index) => {
    const path = `spec.limits[${index}]`;
    const twice = seen.has(item.type) ? [duplicateCause(`${path}.type`, item.type)] : [];
    seen.add(item.type);
    return [...twice, ...validateItem(item, path)];
  });
}

export const limitRangeResource: ResourceDefinition<LimitRange> = {
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  singular: 'limitrange',
  shortNames: ['limits'],
  categories: [],
  namespaced: true,
  typeName: 'core.v1.LimitRange',
  rules: {
    'core.v1.LimitRange': { defaults: { spec: {} } },
    'core.v1.LimitRangeSpec': { defaults: { limits: [] } },
    'core.v1.LimitRangeItem': {},
  },
  strategy: {
    setDefaults: ({ spec }) => spec.limits.forEach(setItemDefaults),
    validate: validateRange,
    countsGenerations: false,
    createsOnUpdate: true,
  },
  hasStatus: false,
  columns: [nameColumn, createdAtColumn],
  selectableFields: {},
  deleteAnswers: 'status',
};
