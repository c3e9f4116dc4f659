/** Compiles the expressions of a policy: its validation needs all faults, its requests a program. */

import type { Compiled } from '../../../../cel/compile.ts';
import type { Environment } from '../../../../cel/environment.ts';
import { bool, dyn, nullType, string, type Type } from '../../../../cel/types/type.ts';
import type { ValidatingAdmissionPolicy } from '../types.gen.ts';
import { type CompiledCondition, compileConditions } from './compile-conditions.ts';
import { type CompiledVariable, compileVariables } from './compile-variables.ts';
import { expressionEnvironment } from './environment.ts';
import { type ExpressionFault, Expressions } from './expressions.ts';

export interface CompiledPolicy {
  readonly variables: readonly CompiledVariable[];
  readonly matchConditions: readonly CompiledCondition[];
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
    matchConditions: compileConditions(spec.matchConditions ?? [], expressions, plain),
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
