/**
 * The rules for IPv6 addresses that this node holds, as nftables text: what announcement-rules.ts does for
 * ARP, for neighbour discovery (RFC 4861). The kernel answers solicitations because the address is on a link,
 * with the address as the source of its advertisement. Pure.
 */
import { bytesOfAddress } from '../../base/addresses.ts';

export const neighbourTable = 'ip6 minik8s-announced';

/** Chains of the table that always have rules. */
export const neighbourChains: readonly string[] = ['input', 'output', 'guard'].map(
  (chain) => `${neighbourTable} ${chain}`,
);

/** Bits of a message: of its target, its type, its flags, and the type of its first option. */
const [target, type, flags, option] = ['@th,64,128', '@th,0,8', '@th,32,8', '@th,192,8'];
const advertisement = 136;
/** The flag by which receivers replace the hardware address that they know. */
const override = '0x20';
const targetLinkLayerAddress = 2;
const allNodes = '0xff020000000000000000000000000001';

/**
 * Returns the table. A solicitation that this node sends for a held address becomes an unsolicited
 * advertisement to all nodes: both messages have the same length and parts. An advertisement to all nodes by
 * another machine silences this node for a while.
 *
 * Writes to the message itself change no checksum. They add 0x2200 to the sum of its words, and so does the
 * destination ff02::2201 in comparison with ff02::1: the checksum is adapted to the former, and the latter is
 * written without a change of the checksum.
 */
export const neighbourRules = (): string =>
  [
    `add table ${neighbourTable}`,
    `delete table ${neighbourTable}`,
    `table ${neighbourTable} {`,
    '  set held { type ipv6_addr; }',
    '  set confirmed { type ipv6_addr; flags timeout; }',
    `  map announced { typeof ${target} : ip6 saddr; flags timeout; }`,
    '  set rivals { type ipv6_addr . ether_addr; flags dynamic,timeout; timeout 10m; size 4096; }',
    '  set silenced { type ipv6_addr; flags dynamic,timeout; timeout 10s; size 4096; }',
    '  chain input {',
    '    type filter hook input priority filter;',
    '    icmpv6 type nd-neighbor-advert ip6 saddr @confirmed ip6 daddr ff02::1 update @silenced { ip6 saddr }',
    '    icmpv6 type nd-neighbor-advert ip6 saddr @confirmed update @rivals { ip6 saddr . ether saddr }',
    '  }',
    '  chain output {',
    '    type filter hook output priority filter;',
    '    icmpv6 type nd-neighbor-advert ip6 saddr @held ip6 saddr != @confirmed drop',
    '    icmpv6 type nd-neighbor-advert ip6 saddr @silenced drop',
    `    icmpv6 type nd-neighbor-solicit ip6 saddr set ${target} map @announced ip6 saddr @silenced drop`,
    [
      `    icmpv6 type nd-neighbor-solicit ip6 saddr set ${target} map @announced`,
      `ip6 daddr set ff02::2201 @nh,192,128 set ${allNodes}`,
      `${type} set ${advertisement} ${flags} set ${override} ${option} set ${targetLinkLayerAddress}`,
    ].join(' '),
    '  }',
    '  chain guard {',
    '    type filter hook input priority filter - 5;',
    '    ip6 daddr @held meta l4proto tcp reject with tcp reset',
    '    ip6 daddr @held meta l4proto { udp, sctp } reject',
    '  }',
    '}',
    '',
  ].join('\n');

/** Returns a transaction that confirms the addresses for `confirmMs` milliseconds, and forgets all others. */
export function neighbourConfirmation(addresses: readonly string[], confirmMs: number): string {
  const timeout = `timeout ${confirmMs}ms`;
  const add = (set: string, elements: readonly string[]) =>
    `add element ${neighbourTable} ${set} { ${elements.join(', ')} }`;
  return [
    ...['held', 'confirmed'].map((set) => `flush set ${neighbourTable} ${set}`),
    `flush map ${neighbourTable} announced`,
    ...(addresses.length === 0
      ? []
      : [
          add('held', addresses),
          add(
            'confirmed',
            addresses.map((one) => `${one} ${timeout}`),
          ),
          add(
            'announced',
            addresses.map((one) => `${numberOf(one)} ${timeout} : ${one}`),
          ),
        ]),
    '',
  ].join('\n');
}

const numberOf = (address: string): string =>
  `0x${Buffer.from(bytesOfAddress(address) ?? []).toString('hex')}`;

/** Returns the machines, by address, in the output of `nft list set` of the rivals. */
export const neighbourRivalsIn = (
  output: string,
): readonly { readonly address: string; readonly machine: string }[] =>
  [...output.matchAll(/([0-9a-f:]+) \. ([0-9a-f]{2}(?::[0-9a-f]{2}){5})\b/g)].map(
    ([, address = '', machine = '']) => ({ address, machine }),
  );
