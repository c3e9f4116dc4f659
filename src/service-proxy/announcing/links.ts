/** Links of this machine and the addresses on them, in the output of `ip -json -4 address show`. Pure. */
import { hasAddress, rangeAround } from '../../base/addresses.ts';
import type { HeldAddress } from './announcement-rules.ts';

export interface KernelLink {
  readonly ifname: string;
  readonly addr_info: readonly KernelAddress[];
}

interface KernelAddress {
  readonly local?: string;
  readonly prefixlen?: number;
  readonly scope?: string;
  readonly dynamic?: boolean;
}

/**
 * Returns the link on which to answer for the address: the one in whose range the address is, or else that of
 * the node's own address. Undefined if there is neither.
 */
export function linkFor(address: string, nodeIP: string, links: readonly KernelLink[]): string | undefined {
  const isNear = ({ local, prefixlen = 32 }: KernelAddress) => {
    const range = local === undefined || prefixlen >= 31 ? undefined : rangeAround(`${local}/${prefixlen}`);
    return range !== undefined && hasAddress(range, address);
  };
  const own = ({ local }: KernelAddress) => local === nodeIP;
  const find = (has: (one: KernelAddress) => boolean) =>
    links.find(({ ifname, addr_info }) => ifname !== 'lo' && addr_info.some(has))?.ifname;
  return find(isNear) ?? find(own);
}

/** Returns the addresses that an agent has put on links: nothing else makes such addresses expire. */
export const heldOn = (links: readonly KernelLink[]): readonly HeldAddress[] =>
  links.flatMap(({ ifname, addr_info }) =>
    ifname === 'lo'
      ? []
      : addr_info.flatMap(({ local, prefixlen, scope, dynamic }) =>
          local !== undefined && prefixlen === 32 && scope === 'host' && dynamic
            ? [{ address: local, link: ifname }]
            : [],
        ),
  );
