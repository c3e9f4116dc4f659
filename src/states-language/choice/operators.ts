/**
 * Comparisons of a Choice rule. Values of different types are neither equal nor ordered; this is no error.
 */
import type { Json } from '../json.ts';
import { orderOf } from '../order.ts';
import { parseTimestamp } from '../timestamp.ts';
import { matchesPattern } from './matches.ts';

/** Type of an operator's value in a definition. */
export type OperandType = 'String' | 'Numeric' | 'Boolean' | 'Timestamp' | 'Pattern' | 'Path' | 'Flag';

export interface ChoiceOperator {
  readonly operand: OperandType;
  /** True if the value is a path to the operand. */
  readonly byPath: boolean;
  readonly holds: (value: Json | undefined, operand: Json) => boolean;
}

type Order = -1 | 0 | 1 | undefined;

const orders: Readonly<Record<string, (order: Order) => boolean>> = {
  Equals: (order) => order === 0,
  LessThan: (order) => order === -1,
  GreaterThan: (order) => order === 1,
  LessThanEquals: (order) => order === -1 || order === 0,
  GreaterThanEquals: (order) => order === 1 || order === 0,
};

const timeOf = (value: Json | undefined) => (typeof value === 'string' ? parseTimestamp(value) : undefined);

const compared: Readonly<
  Record<'String' | 'Numeric' | 'Timestamp', (a: Json | undefined, b: Json) => Order>
> = {
  String: (a, b) => (typeof a === 'string' && typeof b === 'string' ? orderOf(a, b) : undefined),
  Numeric: (a, b) => (typeof a === 'number' && typeof b === 'number' ? orderOf(a, b) : undefined),
  Timestamp: (a, b) => {
    const [first, second] = [timeOf(a), timeOf(b)];
    return first === undefined || second === undefined ? undefined : orderOf(first, second);
  },
};

const is: Readonly<Record<string, (value: Json | undefined) => boolean>> = {
  IsNull: (value) => value === null,
  IsPresent: (value) => value !== undefined,
  IsNumeric: (value) => typeof value === 'number',
  IsString: (value) => typeof value === 'string',
  IsBoolean: (value) => typeof value === 'boolean',
  IsTimestamp: (value) => timeOf(value) !== undefined,
};

const sameBoolean = (value: Json | undefined, operand: Json) =>
  typeof operand === 'boolean' && value === operand;

/** Yields the operator and its variant with a path to the operand. */
function* both(
  name: string,
  operand: OperandType,
  holds: ChoiceOperator['holds'],
): Iterable<[string, ChoiceOperator]> {
  yield [name, { operand, byPath: false, holds }];
  yield [`${name}Path`, { operand: 'Path', byPath: true, holds }];
}

function* all(): Iterable<[string, ChoiceOperator]> {
  for (const [type, order] of Object.entries(compared))
    for (const [name, decide] of Object.entries(orders))
      yield* both(type + name, type as keyof typeof compared, (a, b) => decide(order(a, b)));
  yield* both('BooleanEquals', 'Boolean', sameBoolean);
  const matches = (value: Json | undefined, pattern: Json) =>
    typeof value === 'string' && typeof pattern === 'string' && matchesPattern(value, pattern);
  yield ['StringMatches', { operand: 'Pattern', byPath: false, holds: matches }];
  for (const [name, test] of Object.entries(is))
    yield [name, { operand: 'Flag', byPath: false, holds: (value, wanted) => test(value) === wanted }];
}

/** Operators by their names in a rule. */
export const choiceOperators: ReadonlyMap<string, ChoiceOperator> = new Map(all());
