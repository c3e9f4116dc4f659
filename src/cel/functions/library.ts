/** All functions, by name. */
import { operators } from './operators.ts';
import { optionals } from './optionals.ts';
import { declare, type Overload } from './overload.ts';
import { standard } from './standard.ts';
import { times } from './times.ts';

export type FunctionTable = ReadonlyMap<string, readonly Overload[]>;

function byName(overloads: readonly Overload[]): FunctionTable {
  return Map.groupBy(overloads, ({ name }) => name);
}

/** Functions whose operands are not all evaluated; the planner knows them by name. */
const lazy = declare([
  ['_?_:_(bool, A, A): A', ([, value = null]) => value],
  ['_&&_(bool, bool): bool', ([value = null]) => value],
  ['_||_(bool, bool): bool', ([value = null]) => value],
  ['@not_strictly_false(bool): bool', ([value = null]) => value],
  ['_?._(dyn, string): optional<V>', ([value = null]) => value],
]);

/** The functions of the language, and those of Kubernetes. */
export const functionTable: FunctionTable = byName([
  ...lazy,
  ...declare([...operators, ...standard, ...times, ...optionals]),
]);
