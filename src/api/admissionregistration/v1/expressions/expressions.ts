/** The expressions of one policy, compiled one after another. */
import { type Compiled, compile } from '../../../../cel/compile.ts';
import type { Environment } from '../../../../cel/environment.ts';
import { CelError } from '../../../../cel/error.ts';
import { sameType, showType, type Type } from '../../../../cel/types/type.ts';

/** An expression that does not compile, as a field of the policy. */
export interface ExpressionFault {
  readonly path: string;
  readonly expression: string;
  readonly message: string;
}

/** Collects the faults of expressions while they are compiled. */
export class Expressions {
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
