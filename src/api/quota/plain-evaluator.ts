/** Defaults of most kinds: no required fields, no scopes, no change over time. Pure. */
import { parseQuantity, type Quantity } from '../../apimachinery/quantity.ts';
import type { Evaluator } from './evaluator.ts';

export const plainEvaluator: Pick<Evaluator, 'missing' | 'isInScope' | 'endsIn'> = {
  missing: () => undefined,
  isInScope: () => false,
  endsIn: () => undefined,
};

export const one = parseQuantity('1');

export const wholeNumber = (count: number): Quantity => parseQuantity(count);
