/** Rules that drop packets, in the output of `nft -a list ruleset`. Pure. */
import type { DroppingRule } from './checks/firewall.ts';

/** Maximum number of rules that are returned. */
const maxRules = 50;

/**
 * Returns the rules that drop or reject packets of named addresses in chains that packets pass. Tables of
 * minik8s are skipped.
 */
export function droppingRules(text: string): readonly DroppingRule[] {
  const rules = text.split(/^(?=table )/m).flatMap((part) => {
    const [, table = ''] = /^table (\S+ \S+) \{/.exec(part) ?? [];
    return /^(?:\S+ minik8s|$)/.test(table) ? [] : inTable(table, part);
  });
  return rules.slice(0, maxRules);
}

function inTable(table: string, text: string): readonly DroppingRule[] {
  return text.split(/^(?=\s+chain )/m).flatMap((part) => {
    const [, chain] = /^\s+chain (\S+) \{/.exec(part) ?? [];
    if (chain === undefined || !isPassed.test(part)) return [];
    return part.split('\n').flatMap((line) => {
      const drop = dropIn(line.trim());
      return drop ? [{ table, chain, ...drop }] : [];
    });
  });
}

const isPassed = /^\s+type \S+ hook (?:ingress|prerouting|input|forward|output|postrouting) /m;

function dropIn(line: string): Pick<DroppingRule, 'handle' | 'rule'> | undefined {
  const [, rule, handle] =
    /^(.*\b[sd]addr (?:\{ )?[\d.].* (?:drop|reject)(?: with .*)?) # handle (\d+)$/.exec(line) ?? [];
  return rule === undefined ? undefined : { rule, handle: Number(handle) };
}
