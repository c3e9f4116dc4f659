/** Links of this machine and the addresses on them, in the output of `ip -json address show`. Pure. */
import { familyOf, offsetIn } from '../../base/address-families.ts';
import { sameAddress } from '../../base/addresses.ts';
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
  readonly deprecated?: boolean;
  readonly nodad?: boolean;
}

/**
 * Returns the link on which to answer for the address: the one in whose range the address is, or else that of
 * the node's own address of the family. Undefined if there is neither.
 */
export function linkFor(
  address: string,
  nodeIP: string | undefined,
  links: readonly KernelLink[],
): string | undefined {
  const most = familyOf(address) === 'IPv6' ? 127 : 31;
  const isNear = ({ local, prefixlen = most }: KernelAddress) =>
    local !== undefined && prefixlen < most && offsetIn(`${local}/${prefixlen}`, address) !== undefined;
  const own = ({ local = '' }: KernelAddress) => nodeIP !== undefined && sameAddress(local, nodeIP);
  const find = (has: (one: KernelAddress) => boolean) =>
    links.find(({ ifname, addr_info }) => ifname !== 'lo' && addr_info.some(has))?.ifname;
  return find(isNear) ?? find(own);
}

/**
 * Returns the addresses that an agent has put on links: nothing else makes such addresses expire. The kernel
 * never uses them as the source of a connection: those of IPv4 have the scope `host`, those of IPv6 are
 * deprecated from the beginning.
 */
export const heldOn = (links: readonly KernelLink[]): readonly HeldAddress[] =>
  links.flatMap(({ ifname, addr_info }) =>
    ifname === 'lo'
      ? []
      : addr_info.flatMap((one) =>
          one.local !== undefined && one.dynamic && (isHeldIPv4(one) || isHeldIPv6(one))
            ? [{ address: one.local, link: ifname }]
            : [],
        ),
  );

const isHeldIPv4 = ({ prefixlen, scope }: KernelAddress) => prefixlen === 32 && scope === 'host';
const isHeldIPv6 = ({ prefixlen, deprecated, nodad }: KernelAddress) =>
  prefixlen === 128 && deprecated === true && nodad === true;
