/** The variables of policies, which their other expressions read. */
import type { Compiled } from '../../../../cel/compile.ts';
import { isReservedWord } from '../../../../cel/property-name.ts';
import { dyn, type Type } from '../../../../cel/types/type.ts';
import type { Variable } from '../types.gen.ts';
import { expressionEnvironment } from './environment.ts';
import type { Expressions } from './expressions.ts';

export interface CompiledVariable {
  readonly name: string;
  readonly value: Compiled;
}

export const isIdentifier = (name: string) => /^[_a-zA-Z]\w*$/.test(name) && !isReservedWord(name);

/** Compiles variables; each may use those before it. */
export function compileVariables(
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
