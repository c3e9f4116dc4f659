/** Chains that forwarded packets pass and that drop them by default. Pure. */
import { familyRanges } from '../base/address-families.ts';
import { defaultNames } from '../network/rules.ts';

/** A chain of the hook `forward` with the policy to drop. */
export interface ForwardChain {
  /** Such as `ip filter`, or `iptables-legacy`. */
  readonly table: string;
  readonly chain: string;
  /** True if a rule of it accepts packets of pods. */
  readonly acceptsPods: boolean;
}

/** Tables of minik8s, such as `ip minik8s-proxy`. */
const isOwn = (table: string) => / minik8s-/.test(table);

/**
 * Returns the ranges of pods whose packets pass a table: those of its family, or of both for a table such as
 * `inet filter`. `clusterCIDR` is one range, or one of each family separated by a comma.
 */
export function rangesIn(table: string, clusterCIDR: string): readonly string[] {
  const { IPv4, IPv6 } = familyRanges(clusterCIDR);
  if (/^(?:ip |iptables-legacy$)/.test(table)) return [IPv4];
  const second = IPv6 === undefined ? [] : [IPv6];
  return table.startsWith('ip6 ') ? second : [IPv4, ...second];
}

/**
 * Returns chains in the output of `nft -a list ruleset` that packets of pods pass. Accept rules name links or
 * the ranges of pods.
 */
export function forwardChains(ruleset: string, clusterCIDR: string): readonly ForwardChain[] {
  return ruleset.split(/^(?=table )/m).flatMap((part) => {
    const [, table = ''] = /^table (\S+ \S+) \{/.exec(part) ?? [];
    const ranges = rangesIn(table, clusterCIDR);
    if (table === '' || isOwn(table) || ranges.length === 0) return [];
    return part.split(/^(?=\s+chain )/m).flatMap((text) => {
      const [, chain] = /^\s+chain (\S+) \{/.exec(text) ?? [];
      if (chain === undefined || !dropsForwarded.test(text)) return [];
      return [{ table, chain, acceptsPods: acceptsPods(text, ranges) }];
    });
  });
}

const dropsForwarded = /^\s+type filter hook forward [^;]*; policy drop;/m;

/** Returns the chain FORWARD in the output of `iptables-legacy -S FORWARD`; none if it accepts by default. */
export function legacyForwardChain(output: string, clusterCIDR: string): readonly ForwardChain[] {
  if (!/^-P FORWARD DROP$/m.test(output)) return [];
  const table = 'iptables-legacy';
  return [{ table, chain: 'FORWARD', acceptsPods: acceptsPods(output, rangesIn(table, clusterCIDR)) }];
}

const acceptsPods = (rules: string, ranges: readonly string[]): boolean =>
  ranges.every((range) =>
    rules
      .split('\n')
      .some(
        (rule) =>
          new RegExp(`(?:jump|goto|-j) ${defaultNames.chain}\\b`).test(rule) ||
          (/(?:accept|ACCEPT)\b/.test(rule) &&
            (rule.includes(range) || rule.includes(`"${defaultNames.linkPrefix}`))),
      ),
  );
