/** Evaluates the rules of a Choice state that uses JSONPath. */
import type { Comparison } from '../definition/types.ts';
import { stateError } from '../failure.ts';
import type { Json } from '../json.ts';
import type { Roots } from '../paths/evaluate.ts';
import { look } from '../templates/payload.ts';
import { costOf, workProblem } from '../work.ts';
import { choiceOperators } from './operators.ts';

/**
 * Returns true if the rule holds. `And` stops at the first rule that does not hold, `Or` at the first rule
 * that holds. Throws StateError (States.Runtime) if a path finds nothing, except for IsPresent, which tests
 * exactly that.
 */
export function holdsRule(rule: Comparison, roots: Roots): boolean {
  if (rule.And !== undefined) return rule.And.every((inner) => holdsRule(inner, roots));
  if (rule.Or !== undefined) return rule.Or.some((inner) => holdsRule(inner, roots));
  if (rule.Not !== undefined) return !holdsRule(rule.Not, roots);
  const [name = '', operand] = Object.entries(rule).find(([key]) => choiceOperators.has(key)) ?? [];
  const operator = choiceOperators.get(name);
  if (operator === undefined) throw stateError('States.Runtime', 'a Choice rule has no operator');
  const { Variable = '$' } = rule;
  const value = name === 'IsPresent' ? look(Variable, roots) : there(Variable, roots);
  if (roots.work && !roots.work.take(costOf([value], roots.work.left)))
    throw stateError('States.Runtime', workProblem);
  return operator.holds(value, operator.byPath ? there(operand, roots) : (operand as Json));
}

function there(path: unknown, roots: Roots): Json {
  const value = look(String(path), roots);
  if (value === undefined) throw stateError('States.Runtime', `there is nothing at ${String(path)}`);
  return value;
}
