/**
 * Checks of rules when a definition is applied: types, estimated cost, and the use of oldSelf
 * (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation). Pure.
 */
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { Steps } from '../../../apimachinery/steps.ts';
import {
  innerSchemas,
  isEmbedded,
  type StructuralSchema,
} from '../../../apimachinery/structural-schema/schema.ts';
import { maxRequest, sized } from '../../../cel/kubernetes/schema-type.ts';
import { type CompiledRule, compileRules, Refusal } from './compiled-rules.ts';
import { defaultRuleCauses } from './rule-causes.ts';

/** Greatest estimated cost of a rule, and of all rules of a schema. */
const maxRuleCost = 10_000_000;
const maxSchemaCost = 100_000_000;

/** Cost that stands for every cost above 2^64 - 1. */
const unlimited = 2 ** 64;

/** Returns the causes of all rules in the schema of an object; `path` is the field of the schema. */
export function* definitionRuleCauses(schema: StructuralSchema, path: string): Steps<StatusCause[]> {
  const work: Work = { causes: [], total: 0, expensive: [] };
  yield* visit(schema, path, { isObject: true, cardinality: 1, uncorrelatable: undefined }, work);
  if (work.total > maxSchemaCost) {
    for (const { path: at } of work.expensive.sort((a, b) => b.cost - a.cost).slice(0, 4))
      work.causes.push(
        forbiddenCause(
          at,
          'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
        ),
      );
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    work.causes.push(forbiddenCause(path, costMessage(name, work.total, maxSchemaCost)));
  }
  return work.causes;
}

interface Work {
  readonly causes: StatusCause[];
  total: number;
  readonly expensive: { readonly path: string; readonly cost: number }[];
}

interface Position {
  readonly isObject: boolean;
  /** Greatest number of values of the schema in an object; undefined if nothing limits it. */
  readonly cardinality: number | undefined;
  /** Path of the nearest list from the root whose items cannot be found in the old object. */
  readonly uncorrelatable: string | undefined;
}

function* visit(schema: StructuralSchema, path: string, position: Position, work: Work): Steps<void> {
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) yield* checkRules(schema, path, position, work);
  if (schema.default !== undefined && schema.default !== null)
    work.causes.push(...(yield* defaultRuleCauses(schema, `${path}.default`)));
  const cardinality = times(position.cardinality, maxElements(schema));
  for (const [inner, at] of innerSchemas(schema, path)) {
    const isLost = inner === schema.items && schema['x-kubernetes-list-type'] !== 'map';
    const uncorrelatable = position.uncorrelatable ?? (isLost ? path : undefined);
    yield* visit(inner, at, { isObject: isEmbedded(inner), cardinality, uncorrelatable }, work);
    yield;
  }
}

function maxElements({
  type,
  additionalProperties,
  maxProperties,
  maxItems,
}: StructuralSchema): number | undefined {
  if (type === 'array') return maxItems;
  return type === 'object' && additionalProperties !== undefined ? maxProperties : 1;
}

function times(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : product(left, right);
}

const product = (cost: number, count: number) => (cost === 0 ? 0 : Math.min(cost * count, unlimited));

function* checkRules(schema: StructuralSchema, path: string, position: Position, work: Work): Steps<void> {
  const own = sized(schema, 'self', position.isObject);
  const at = `${path}.x-kubernetes-validations`;
  if (!own) {
    const why =
      'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
    work.causes.push({ reason: 'InternalError', message: `Internal error: ${why}`, field: at });
    return;
  }
  const cardinality = position.cardinality ?? Math.floor(maxRequest / (own.least + 1));
  for (const [index, rule] of (yield* compileRules(schema, own.type)).entries())
    checkRule(rule, `${at}[${index}]`, { cardinality, uncorrelatable: position.uncorrelatable }, work);
}

interface RulePosition {
  readonly cardinality: number;
  readonly uncorrelatable: string | undefined;
}

function checkRule(compiled: CompiledRule, path: string, position: RulePosition, work: Work): void {
  const { rule, program, message, usesOldSelf } = compiled;
  if (program instanceof Refusal) {
    work.causes.push(invalidCause(`${path}.rule`, rule, program.detail));
    return;
  }
  const cost = product(program.estimatedCost.max, position.cardinality);
  observe('estimated rule cost', cost, `${path}.rule`, work);
  if (message instanceof Refusal)
    work.causes.push(invalidCause(`${path}.messageExpression`, rule, message.detail));
  else if (message)
    observe('estimated messageExpression cost', message.estimatedCost.max, `${path}.messageExpression`, work);
  if (usesOldSelf && position.uncorrelatable !== undefined) {
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${position.uncorrelatable}`;
    work.causes.push(invalidCause(`${path}.rule`, rule.rule, why));
  } else if (!usesOldSelf && rule.optionalOldSelf !== undefined)
    work.causes.push(
      invalidCause(
        `${path}.optionalOldSelf`,
        rule.optionalOldSelf,
        'may not be set if oldSelf is not used in rule',
      ),
    );
}

function observe(name: string, cost: number, path: string, work: Work): void {
  if (cost > maxRuleCost) work.causes.push(forbiddenCause(path, costMessage(name, cost, maxRuleCost)));
  work.total = Math.min(work.total + cost, unlimited);
  if (cost >= maxSchemaCost / 100) work.expensive.push({ path, cost });
}

function costMessage(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
