/**
 * Decides whether a write fits into the quotas of its namespace (upstream: admission/plugin/resourcequota
 * CheckRequest). Pure.
 */
import type { ResourceQuota } from '../../api/core/v1/resource-quota.ts';
import type { Evaluator } from '../../api/quota/evaluator.ts';
import { type Scope, scopesOf } from '../../api/quota/pod-scopes.ts';
import { type Amounts, addTo, amountsOf, readAmounts, writeAmounts } from '../../apimachinery/amounts.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  compareQuantities,
  type Quantity,
  subtractQuantities,
  zeroQuantity,
} from '../../apimachinery/quantity.ts';

/** A resource that may only be used within a quota (upstream: LimitedResource). */
export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  /** A resource whose name contains one of these strings requires a quota. */
  readonly matchContains: readonly string[];
  /** Pods in one of these scopes require a quota with that scope. */
  readonly matchScopes: readonly Scope[];
}

export interface QuotaWrite {
  readonly evaluator: Evaluator;
  readonly group: string;
  readonly plural: string;
  readonly object: KubeObject;
  /** The object that the write replaces. */
  readonly old: KubeObject | undefined;
  /** Current time in milliseconds. */
  readonly now: number;
  readonly limited: readonly LimitedResource[];
}

/** Usage of a quota during decisions: `used` grows with every admitted write. */
export interface QuotaUse {
  readonly quota: ResourceQuota;
  readonly hard: Amounts;
  readonly used: Amounts;
}

export type QuotaDecision =
  | { readonly type: 'refused'; readonly why: string }
  /** Usage after the write, in the order of the quotas; an uncharged quota keeps the same value. */
  | { readonly type: 'fits'; readonly uses: readonly QuotaUse[] };

export const useOf = (quota: ResourceQuota): QuotaUse => ({
  quota,
  hard: readAmounts(quota.status?.hard),
  used: readAmounts(quota.status?.used),
});

export function decide(uses: readonly QuotaUse[], write: QuotaWrite): QuotaDecision {
  const { evaluator, object } = write;
  const concerned = uses.filter((use) => concerns(use, write));
  for (const use of concerned) {
    const why = unfit(use, evaluator, object);
    if (why !== undefined) return refused(why);
  }
  const usage = evaluator.usage(object, write.now);
  const negative = [...usage].filter(([, { nano }]) => nano < 0n).map(([name]) => name);
  if (negative.length > 0) return refused(`quota usage is negative for resource(s): ${listed(negative)}`);
  const wanted = increase(usage, write);
  if (wanted.size === 0) return { type: 'fits', uses };
  const uncovered = uncoveredBy(uses, concerned, usage, write);
  if (uncovered !== undefined) return refused(uncovered);
  return take(uses, new Set(concerned), wanted);
}

/** Returns the usage after giving back the charge of a write that was not stored; never below zero. */
export function without(uses: readonly QuotaUse[], write: QuotaWrite): readonly QuotaUse[] {
  const wanted = increase(write.evaluator.usage(write.object, write.now), write);
  return uses.map((use) => {
    const back = concerns(use, write)
      ? amountsOf(wanted, new Set(use.hard.keys()))
      : new Map<string, Quantity>();
    if (back.size === 0) return use;
    const used = new Map(use.used);
    for (const [name, quantity] of back) {
      const left = subtractQuantities(used.get(name) ?? zeroQuantity, quantity);
      used.set(name, left.nano < 0n ? zeroQuantity : left);
    }
    return { ...use, used };
  });
}

const refused = (why: string): QuotaDecision => ({ type: 'refused', why });

const concerns = ({ quota, hard }: QuotaUse, { evaluator, object }: QuotaWrite) =>
  [...hard.keys()].some(evaluator.counts) &&
  scopesOf(quota).every((scope) => evaluator.isInScope(scope, object));

/** Returns why nothing can be charged to the quota, whatever is left of it. */
function unfit(
  { quota, hard, used }: QuotaUse,
  evaluator: Evaluator,
  object: KubeObject,
): string | undefined {
  const { name } = quota.metadata;
  const names = [...hard.keys()].filter(evaluator.counts);
  const missing = evaluator.missing(names, object);
  if (missing !== undefined) return `failed quota: ${name}: ${missing}`;
  return names.every((each) => used.has(each))
    ? undefined
    : `status unknown for quota: ${name}, resources: ${listed(names)}`;
}

/** Returns what the write uses in addition to the old object. */
function increase(usage: Amounts, { evaluator, old, now }: QuotaWrite): Amounts {
  const before = old ? evaluator.usage(old, now) : new Map<string, Quantity>();
  const more = [...usage].map(
    ([name, quantity]) => [name, subtractQuantities(quantity, before.get(name) ?? zeroQuantity)] as const,
  );
  return new Map(more.filter(([, { nano }]) => nano > 0n));
}

/** Returns why the server's configuration requires a quota that does not exist. */
function uncoveredBy(
  uses: readonly QuotaUse[],
  concerned: readonly QuotaUse[],
  usage: Amounts,
  { evaluator, group, limited, object, plural }: QuotaWrite,
): string | undefined {
  const covered = (name: string) => concerned.some(({ hard }) => hard.has(name));
  const texts = limited
    .filter(({ apiGroup, resource }) => apiGroup === group && resource === plural)
    .flatMap(({ matchContains }) => matchContains);
  const names = [...usage]
    .filter(([name, { nano }]) => nano > 0n && texts.some((text) => name.includes(text)) && !covered(name))
    .map(([name]) => name);
  if (names.length > 0) return `insufficient quota to consume: ${listed(names)}`;
  const scopes = limited
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((scope) => evaluator.isInScope(scope, object));
  const there = new Set(
    uses
      .flatMap(({ quota }) => scopesOf(quota))
      .filter((scope) => evaluator.isInScope(scope, object))
      .map(({ scopeName }) => scopeName),
  );
  const open = scopes.filter(({ scopeName }) => !there.has(scopeName));
  if (open.length === 0) return undefined;
  const texted = open.map(
    ({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(' ')}]}`,
  );
  return `insufficient quota to match these scopes: [${texted.join(' ')}]`;
}

function take(uses: readonly QuotaUse[], concerned: ReadonlySet<QuotaUse>, wanted: Amounts): QuotaDecision {
  const next: QuotaUse[] = [];
  for (const use of uses) {
    const requested = concerned.has(use) ? amountsOf(wanted, new Set(use.hard.keys())) : new Map();
    if (requested.size === 0) {
      next.push(use);
      continue;
    }
    const used = new Map(use.used);
    addTo(used, requested);
    const over = new Set([...requested.keys()].filter((name) => isOver(used, use.hard, name)));
    if (over.size > 0) {
      const [asked, taken, most] = [requested, use.used, use.hard].map((amounts) =>
        amountsText(amounts, over),
      );
      const { name } = use.quota.metadata;
      return refused(`exceeded quota: ${name}, requested: ${asked}, used: ${taken}, limited: ${most}`);
    }
    next.push({ ...use, used });
  }
  return { type: 'fits', uses: next };
}

const isOver = (used: Amounts, hard: Amounts, name: string) =>
  compareQuantities(used.get(name) ?? zeroQuantity, hard.get(name) ?? zeroQuantity) > 0;

const listed = (names: readonly string[]) => [...names].sort().join(',');

const amountsText = (amounts: Amounts, names: ReadonlySet<string>) =>
  listed(Object.entries(writeAmounts(amountsOf(amounts, names))).map(([name, text]) => `${name}=${text}`));
