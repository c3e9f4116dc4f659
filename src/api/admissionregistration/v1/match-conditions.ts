/** Match conditions: expressions of CEL that must all be true for a webhook or policy to see a request. */
import {
  duplicateCause,
  invalidCause,
  requiredCause,
  tooManyCause,
} from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { type Compiled, compile } from '../../../cel/compile.ts';
import type { Environment } from '../../../cel/environment.ts';
import { CelError } from '../../../cel/error.ts';
import { showType } from '../../../cel/types/type.ts';
import { expressionEnvironment } from './expressions/environment.ts';
import type { MatchCondition } from './types.gen.ts';

const maxConditions = 64;

/** Variables of the conditions of webhooks, which have no parameters. */
const ofWebhooks = expressionEnvironment({});

/** Compiles the expression of a condition. Throws a CelError, also if its result is no boolean. */
export function compileCondition({ expression }: MatchCondition, environment = ofWebhooks): Compiled {
  const compiled = compile(expression.trim(), environment);
  const type = showType(compiled.resultType);
  if (type === 'bool') return compiled;
  throw new CelError(`must evaluate to bool but got ${type}`);
}

export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  path: string,
  environment = ofWebhooks,
): StatusCause[] {
  if (conditions.length > maxConditions) return [tooManyCause(path, conditions.length, maxConditions)];
  const names = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const { name = '' } = condition;
    const at = `${path}[${index}]`;
    const causes = [
      ...expressionCauses(condition, `${at}.expression`, environment),
      ...nameProblems(name, `${at}.name`),
    ];
    if (name && names.has(name)) causes.push(duplicateCause(`${at}.name`, name));
    names.add(name);
    return causes;
  });
}

const nameProblems = (name: string, path: string): StatusCause[] =>
  name === '' ? [requiredCause(path)] : nameCauses(path, name, checkQualifiedName);

function expressionCauses(condition: MatchCondition, path: string, environment: Environment): StatusCause[] {
  const expression = (condition.expression ?? '').trim();
  if (expression === '') return [requiredCause(path)];
  try {
    compileCondition(condition, environment);
    return [];
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return [invalidCause(path, expression, error.message)];
  }
}
