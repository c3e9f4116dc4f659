/** All functions, by name. */
import { addresses } from '../kubernetes/addresses.ts';
import { authorization } from '../kubernetes/authorizer.ts';
import { namedFormats } from '../kubernetes/formats.ts';
import { jsonPatches } from '../kubernetes/json-patch.ts';
import { lists } from '../kubernetes/lists.ts';
import { quantities } from '../kubernetes/quantities.ts';
import { strings } from '../kubernetes/strings.ts';
import { urls } from '../kubernetes/urls.ts';
import { versions } from '../kubernetes/versions.ts';
import { operators } from './operators.ts';
import { optionals } from './optionals.ts';
import { declare, type Overload } from './overload.ts';
import { standard } from './standard.ts';
import { times } from './times.ts';

export type FunctionTable = ReadonlyMap<string, readonly Overload[]>;

function byName(overloads: readonly Overload[]): FunctionTable {
  return Map.groupBy(overloads, ({ name }) => name);
}

/** Functions whose operands are not all evaluated; the planner has a rule for each. */
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
  ...declare(
    [
      ...lists,
      ...strings,
      ...urls,
      ...addresses,
      ...quantities,
      ...versions,
      ...namedFormats,
      ...jsonPatches,
      ...authorization,
    ],
    true,
  ),
]);
