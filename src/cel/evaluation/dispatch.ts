/** The choice of an overload by the values of the arguments. */
import type { Overload } from '../functions/overload.ts';
import { accepts, noSuchOverload, type Result, type Value } from '../values/value.ts';
import type { Run } from './run.ts';

/** Calls the first overload that takes the arguments. */
export function dispatch(overloads: readonly Overload[], args: readonly Value[], run: Run): Result {
  for (const overload of overloads) {
    if (overload.parameters.every((type, at) => accepts(type, args[at] ?? null)))
      return overload.apply(args, run);
  }
  return noSuchOverload;
}
