/**
 * Rules of a schema, compiled (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go).
 * Pure.
 */

import type { Steps } from '../../../apimachinery/steps.ts';
import { fieldAtPath } from '../../../apimachinery/structural-schema/field-path.ts';
import type { StructuralSchema, ValidationRule } from '../../../apimachinery/structural-schema/schema.ts';
import { type Compiled, compileInSteps } from '../../../cel/compile.ts';
import type { Environment } from '../../../cel/environment.ts';
import { CelError } from '../../../cel/error.ts';
import { optionalOf, type Type } from '../../../cel/types/type.ts';

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** The program, or the reason why there is none. */
  readonly program: Compiled | Refusal;
  /** The program of the messageExpression, if there is one. */
  readonly message?: Compiled | Refusal | undefined;
  /** True if the rule compares the value with its old one: it applies to updates only. */
  readonly usesOldSelf: boolean;
  /** Path below the value that the causes name. */
  readonly fieldPath: string;
}

/** Reason why an expression cannot be used. */
export class Refusal {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

/** Rules of each schema that are compiled so far: several requests may need them at the same time. */
const compiledSoFar = new WeakMap<StructuralSchema, CompiledRule[]>();

/** Returns the rules of one schema. `type` is that of its values, always the same for one schema. */
export function* compileRules(schema: StructuralSchema, type: Type): Steps<readonly CompiledRule[]> {
  const rules = compiledSoFar.get(schema) ?? [];
  compiledSoFar.set(schema, rules);
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    if (index < rules.length) continue;
    const compiled = yield* compileRule(rule, schema, type);
    if (rules.length === index) rules.push(compiled);
    yield;
  }
  return rules;
}

function* compileRule(rule: ValidationRule, schema: StructuralSchema, type: Type): Steps<CompiledRule> {
  const oldSelf = rule.optionalOldSelf ? optionalOf(type) : type;
  const environment: Environment = { variables: { self: type, oldSelf } };
  const program = yield* compiled(rule.rule, environment, isBool, 'cel expression must evaluate to a bool');
  const found = rule.fieldPath ? fieldAtPath(rule.fieldPath, schema) : undefined;
  const common = {
    rule,
    program,
    usesOldSelf: !(program instanceof Refusal) && (yield* needsOldSelf(rule.rule, type)),
    fieldPath: found && 'path' in found ? found.path : '',
  };
  if (!rule.messageExpression || program instanceof Refusal) return common;
  const wrong = 'messageExpression must evaluate to a string';
  const message = yield* compiled(rule.messageExpression, environment, isString, wrong);
  return {
    ...common,
    message:
      message instanceof Refusal && message.detail !== wrong
        ? new Refusal(`messageExpression ${message.detail}`)
        : message,
  };
}

function* compiled(
  expression: string,
  environment: Environment,
  accepts: (type: Type) => boolean,
  wrong: string,
): Steps<Compiled | Refusal> {
  try {
    const program = yield* compileInSteps(expression, environment);
    return accepts(program.resultType) ? program : new Refusal(wrong);
  } catch (error) {
    if (error instanceof CelError) return new Refusal(error.message);
    throw error;
  }
}

const isBool = (type: Type) => type.kind === 'scalar' && type.name === 'bool';
const isString = (type: Type) => type.kind === 'scalar' && type.name === 'string';

/** Returns true if an expression that compiles does not compile without the variable oldSelf. */
function* needsOldSelf(expression: string, type: Type): Steps<boolean> {
  if (!expression.includes('oldSelf')) return false;
  return (yield* compiled(expression, { variables: { self: type } }, isBool, '')) instanceof Refusal;
}
