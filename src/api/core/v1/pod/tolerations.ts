/** Merging of tolerations from two sources (upstream: pkg/util/tolerations, MergeTolerations). */
import { identityOf } from '../../../../apimachinery/equality.ts';
import type { Toleration } from '../types.gen.ts';

/**
 * Returns both lists without tolerations that another one includes. A pod may have thousands, so they are not
 * compared pairwise.
 */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const distinct = new Map<string, Toleration>();
  for (const one of [...first, ...second]) {
    const identity = identityOf(one);
    if (!distinct.has(identity)) distinct.set(identity, one);
  }
  /** The longest toleration of each scope. */
  const longest = new Map<string, Toleration>();
  for (const one of distinct.values()) {
    const scope = scopeOf(one);
    const before = longest.get(scope);
    if (!before || lasts(one) >= lasts(before)) longest.set(scope, one);
  }
  const isIncluded = (one: Toleration) =>
    longest.get(scopeOf(one)) !== one ||
    widerScopes(one).some((scope) => {
      const wide = longest.get(scope);
      return wide !== undefined && wide !== one && lasts(wide) >= lasts(one);
    });
  return [...distinct.values()].filter((one) => !isIncluded(one));
}

/**
 * Returns the key of a set of taints. Without an effect, it includes every effect; with Exists and no key,
 * every taint.
 */
const scope = (key: string, effect: string, value: string | undefined) =>
  JSON.stringify([key, effect, value]);

const anyOrValue = ({ operator, value = '' }: Toleration) => (operator === 'Exists' ? undefined : value);

const scopeOf = (one: Toleration) => scope(one.key ?? '', one.effect ?? '', anyOrValue(one));

/** Returns the toleration's own scope and those that include it. */
function widerScopes(one: Toleration): string[] {
  const { key = '', effect = '' } = one;
  return [effect, ''].flatMap((wideEffect) => [
    scope(key, wideEffect, anyOrValue(one)),
    scope(key, wideEffect, undefined),
    scope('', wideEffect, undefined),
  ]);
}

/** Returns the duration in seconds; only a toleration of NoExecute can be limited. */
const lasts = ({ effect, tolerationSeconds }: Toleration) =>
  effect === 'NoExecute' && tolerationSeconds !== undefined ? tolerationSeconds : Number.POSITIVE_INFINITY;
