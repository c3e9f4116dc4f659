/** The rules by which a client explains objects: those of Kubernetes' kinds, and those of features. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { type KindKey, kindKeys } from './kinds.ts';
import type { Finding, Rule, Rules } from './rule.ts';
import type { Snapshot } from './snapshot.ts';

export class RuleBook {
  /** All rules by name. */
  readonly rules: Rules;
  readonly #byKind: ReadonlyMap<KindKey, readonly (readonly [string, Rule])[]>;

  /** Takes rules by name. Of the rules for a kind, the first that finds something names the cause. */
  constructor(rules: Rules) {
    this.rules = rules;
    const all = Object.entries(rules);
    this.#byKind = new Map(kindKeys.map((key) => [key, all.filter(([, rule]) => rule.kinds.includes(key))]));
  }

  /** Returns whether the objects of a kind are explained; the others are only read by rules. */
  explains(key: KindKey): boolean {
    return (this.#byKind.get(key)?.length ?? 0) > 0;
  }

  find(
    key: KindKey,
    object: JsonObject,
    seen: Snapshot,
  ): { readonly rule: string; readonly finding: Finding } | undefined {
    for (const [rule, { find }] of this.#byKind.get(key) ?? []) {
      const finding = find(object, seen);
      if (finding) return { rule, finding };
    }
    return undefined;
  }
}
