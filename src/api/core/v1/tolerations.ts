/** Tolerations of two origins in one list (upstream: pkg/util/tolerations, MergeTolerations). */
import { identityOf } from '../../../apimachinery/equality.ts';
import type { Toleration } from './types.gen.ts';

/** Both lists in one, without those that say no more than another one. A pod may have thousands, so none is compared with all. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const distinct = new Map<string, Toleration>();
  for (const one of [...first, ...second]) {
    const identity = identityOf(one);
    if (!distinct.has(identity)) distinct.set(identity, one);
  }
  /** Of those that tolerate the same taints, the one that does so longest. */
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

/** Which taints it tolerates; without an effect those of every effect, with Exists and no key every taint. */
const scope = (key: string, effect: string, value: string | undefined) =>
  JSON.stringify([key, effect, value]);

const anyOrValue = ({ operator, value = '' }: Toleration) => (operator === 'Exists' ? undefined : value);

const scopeOf = (one: Toleration) => scope(one.key ?? '', one.effect ?? '', anyOrValue(one));

/** Its own scope, and those that include it. */
function widerScopes(one: Toleration): string[] {
  const { key = '', effect = '' } = one;
  return [effect, ''].flatMap((wideEffect) => [
    scope(key, wideEffect, anyOrValue(one)),
    scope(key, wideEffect, undefined),
    scope('', wideEffect, undefined),
  ]);
}

/** Seconds; only what tolerates an eviction may end. */
const lasts = ({ effect, tolerationSeconds }: Toleration) =>
  effect === 'NoExecute' && tolerationSeconds !== undefined ? tolerationSeconds : Number.POSITIVE_INFINITY;
