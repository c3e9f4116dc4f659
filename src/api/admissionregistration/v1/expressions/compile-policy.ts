/** Compiles the expressions of a policy: in its validation with all faults, for requests as a program. */

import { type Compiled, compile } from '../../../../cel/compile.ts';
import type { Environment } from '../../../../cel/environment.ts';
import { CelError } from '../../../../cel/error.ts';
import { isReservedWord } from '../../../../cel/property-name.ts';
import { bool, dyn, nullType, sameType, showType, string, type Type } from '../../../../cel/types/type.ts';
import type { ValidatingAdmissionPolicy, Variable } from '../types.gen.ts';
import { expressionEnvironment } from './environment.ts';

/** An expression that does not compile, as a field of the policy. */
export interface ExpressionFault {
  readonly path: string;
  readonly expression: string;
  readonly message: string;
}

export interface CompiledPolicy {
  readonly variables: readonly { readonly name: string; readonly value: Compiled }[];
  readonly matchConditions: readonly { readonly expression: string; readonly condition: Compiled }[];
  readonly validations: readonly CompiledValidation[];
  readonly auditAnnotations: readonly CompiledAnnotation[];
}

interface CompiledAnnotation {
  readonly key: string;
  readonly expression: string;
  readonly value: Compiled;
}

export interface CompiledValidation {
  readonly condition: Compiled;
  readonly expression: string;
  readonly message: string | undefined;
  readonly messageExpression: Compiled | undefined;
  readonly reason: string;
}

export interface PolicyTypes {
  /** Type of the object; default: any. */
  readonly object?: Type;
  /** Type of the parameters, if the policy has any; default: any. */
  readonly params?: Type;
}

/** Collects the faults of expressions while they are compiled. */
class Expressions {
  readonly faults: ExpressionFault[] = [];

  /** Returns undefined for an expression with a fault; `results` are the types that it may have. */
  compile(
    expression: string,
    path: string,
    of: Environment,
    results?: readonly Type[],
  ): Compiled | undefined {
    try {
      const compiled = compile(expression, of);
      const fault = results && wrongResult(compiled.resultType, results);
      if (fault === undefined) return compiled;
      this.faults.push({ path, expression, message: fault });
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.faults.push({ path, expression, message: error.message });
    }
    return undefined;
  }
}

function wrongResult(type: Type, allowed: readonly Type[]): string | undefined {
  if (allowed.some((one) => sameType(one, type))) return undefined;
  const [only, ...others] = allowed.map(showType);
  if (others.length === 0) return `must evaluate to ${only} but got ${showType(type)}`;
  return `must evaluate to one of [${[only, ...others].join(' ')}] but got ${showType(type)}`;
}

export const isIdentifier = (name: string) => /^[_a-zA-Z]\w*$/.test(name) && !isReservedWord(name);

/**
 * Compiles all expressions of the policy that are not empty. The program lacks those with faults, so it may
 * only be used without any.
 */
export function compilePolicy(
  { spec }: Pick<ValidatingAdmissionPolicy, 'spec'>,
  { object = dyn, params = dyn }: PolicyTypes = {},
): { readonly program: CompiledPolicy; readonly faults: readonly ExpressionFault[] } {
  const expressions = new Expressions();
  const parameters = spec.paramKind ? params : undefined;
  const plain = expressionEnvironment({ object, params: parameters });
  const variables = compileVariables(spec.variables ?? [], expressions, object, parameters);
  const all = expressionEnvironment({ object, params: parameters, variables: variables.types });
  const ofMessages = expressionEnvironment({
    ...{ object, params: parameters, variables: variables.types },
    hasAuthorizer: false,
  });
  const program: CompiledPolicy = {
    variables: variables.compiled,
    matchConditions: (spec.matchConditions ?? []).flatMap(({ expression }, index) => {
      const path = `spec.matchConditions[${index}].expression`;
      const trimmed = expression.trim();
      const condition = trimmed && expressions.compile(trimmed, path, plain, [bool]);
      return condition ? [{ expression: trimmed, condition }] : [];
    }),
    validations: compileValidations(spec.validations ?? [], expressions, all, ofMessages),
    auditAnnotations: (spec.auditAnnotations ?? []).flatMap(({ key, valueExpression }, index) => {
      const path = `spec.auditAnnotations[${index}].valueExpression`;
      const trimmed = valueExpression.trim();
      const value = trimmed && expressions.compile(trimmed, path, all, [string, nullType]);
      return value ? [{ key, expression: trimmed, value }] : [];
    }),
  };
  return { program, faults: expressions.faults };
}

/** Compiles variables; each may use those before it. */
function compileVariables(
  variables: readonly Variable[],
  expressions: Expressions,
  object: Type,
  params: Type | undefined,
) {
  const types = new Map<string, Type>();
  const compiled = variables.flatMap(({ name, expression }, index) => {
    const environment = expressionEnvironment({ object, params, variables: new Map(types) });
    const path = `spec.variables[${index}].expression`;
    const value = expression.trim() && expressions.compile(expression, path, environment);
    types.set(name, value ? value.resultType : dyn);
    return value ? [{ name, value }] : [];
  });
  return { compiled, types };
}

function compileValidations(
  validations: NonNullable<ValidatingAdmissionPolicy['spec']['validations']>,
  expressions: Expressions,
  environment: Environment,
  ofMessages: Environment,
): CompiledValidation[] {
  return validations.flatMap(({ expression, message, messageExpression = '', reason }, index) => {
    const path = `spec.validations[${index}]`;
    const condition =
      expression.trim() && expressions.compile(expression, `${path}.expression`, environment, [bool]);
    const text = messageExpression.trim()
      ? expressions.compile(messageExpression, `${path}.messageExpression`, ofMessages, [string])
      : undefined;
    if (!condition) return [];
    return [{ condition, expression, message, messageExpression: text, reason: reason ?? 'Invalid' }];
  });
}
