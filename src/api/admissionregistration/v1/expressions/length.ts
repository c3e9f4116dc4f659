/** Limit of the expressions of one object, which are compiled in one turn of the event loop. */
import { invalidTogetherCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';

/**
 * Maximum length of all expressions of a policy or configuration together, in characters: compiling as many
 * takes less than 100 ms. Upstream limits each expression to 100,000 characters, and not their number.
 */
const maxLength = 40_000;

export function lengthCauses(expressions: readonly (string | undefined)[], path: string): StatusCause[] {
  const length = expressions.reduce((sum, expression = '') => sum + expression.length, 0);
  if (length <= maxLength) return [];
  const why = `the expressions have ${length} characters together; at most ${maxLength} are allowed`;
  return [invalidTogetherCause(path, why)];
}
