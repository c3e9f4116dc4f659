/** Chains that forwarded packets pass and that drop them by default. Pure. */
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

/** Returns chains in the output of `nft -a list ruleset`. Accept rules name links or the range of pods. */
export function forwardChains(ruleset: string, clusterCIDR: string): readonly ForwardChain[] {
  return ruleset.split(/^(?=table )/m).flatMap((part) => {
    const [, table = ''] = /^table (\S+ \S+) \{/.exec(part) ?? [];
    if (table === '' || isOwn(table)) return [];
    return part.split(/^(?=\s+chain )/m).flatMap((text) => {
      const [, chain] = /^\s+chain (\S+) \{/.exec(text) ?? [];
      if (chain === undefined || !dropsForwarded.test(text)) return [];
      return [{ table, chain, acceptsPods: acceptsPods(text, clusterCIDR) }];
    });
  });
}

const dropsForwarded = /^\s+type filter hook forward [^;]*; policy drop;/m;

/** Returns the chain FORWARD in the output of `iptables-legacy -S FORWARD`; none if it accepts by default. */
export function legacyForwardChain(output: string, clusterCIDR: string): readonly ForwardChain[] {
  if (!/^-P FORWARD DROP$/m.test(output)) return [];
  return [{ table: 'iptables-legacy', chain: 'FORWARD', acceptsPods: acceptsPods(output, clusterCIDR) }];
}

const acceptsPods = (rules: string, clusterCIDR: string): boolean =>
  rules
    .split('\n')
    .some(
      (rule) =>
        new RegExp(`(?:jump|goto|-j) ${defaultNames.chain}\\b`).test(rule) ||
        (/(?:accept|ACCEPT)\b/.test(rule) &&
          (rule.includes(clusterCIDR) || rule.includes(`"${defaultNames.linkPrefix}`))),
    );
