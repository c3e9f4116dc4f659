/** The match conditions of policies. */
import type { Compiled } from '../../../../cel/compile.ts';
import type { Environment } from '../../../../cel/environment.ts';
import { bool } from '../../../../cel/types/type.ts';
import type { MatchCondition } from '../types.gen.ts';
import type { Expressions } from './expressions.ts';

/** A condition with its expression, which errors quote. */
export interface CompiledCondition {
  readonly expression: string;
  readonly condition: Compiled;
}

/** Compiles the conditions that are not empty. */
export const compileConditions = (
  conditions: readonly MatchCondition[],
  expressions: Expressions,
  environment: Environment,
): readonly CompiledCondition[] =>
  conditions.flatMap(({ expression }, index) => {
    const path = `spec.matchConditions[${index}].expression`;
    const trimmed = expression.trim();
    const condition = trimmed && expressions.compile(trimmed, path, environment, [bool]);
    return condition ? [{ expression: trimmed, condition }] : [];
  });
