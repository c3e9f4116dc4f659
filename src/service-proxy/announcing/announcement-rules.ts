/**
 * The rules for IPv4 addresses that this node holds, as nftables text. The kernel answers ARP requests for an
 * address because the address is on a link; these rules limit the answers to the time in which the agent
 * confirms it, so that a node whose agent has died is silent. Pure.
 */

import { neighbourChains, neighbourTable } from './neighbour-rules.ts';

export const arpTable = 'arp minik8s-announced';
export const guardTable = 'ip minik8s-announced';

/** Chains of the tables of both families, all of them with rules. */
export const fixedChains: ReadonlySet<string> = new Set([
  ...[`${arpTable} input`, `${arpTable} output`, `${guardTable} input`],
  ...neighbourChains,
]);

export interface HeldAddress {
  readonly address: string;
  /** Link on which the address is. */
  readonly link: string;
}

/**
 * Returns the tables. A request that this node makes for a held address becomes an announcement: its sender
 * is the address itself. An announcement by another machine silences this node for a while: the newest holder
 * is the one that answers. Connections to other ports of the address do not reach processes of the machine.
 */
export const announcementTables = (): string =>
  [
    `add table ${arpTable}`,
    `delete table ${arpTable}`,
    `table ${arpTable} {`,
    '  set held { type ipv4_addr; }',
    '  set confirmed { type ipv4_addr; flags timeout; }',
    '  set rivals { type ipv4_addr . ether_addr; flags dynamic,timeout; timeout 10m; size 4096; }',
    '  set silenced { type ipv4_addr; flags dynamic,timeout; timeout 10s; size 4096; }',
    '  chain input {',
    '    type filter hook input priority filter;',
    '    arp saddr ip @confirmed arp daddr ip @confirmed update @silenced { arp saddr ip }',
    '    arp saddr ip @confirmed update @rivals { arp saddr ip . arp saddr ether }',
    '  }',
    '  chain output {',
    '    type filter hook output priority filter;',
    '    arp operation reply arp saddr ip @held arp saddr ip != @confirmed drop',
    '    arp operation reply arp saddr ip @silenced drop',
    '    arp operation request arp daddr ip @silenced accept',
    '    arp operation request arp daddr ip @confirmed arp saddr ip set arp daddr ip',
    '  }',
    '}',
    `add table ${guardTable}`,
    `delete table ${guardTable}`,
    `table ${guardTable} {`,
    '  set held { type ipv4_addr; }',
    '  chain input {',
    '    type filter hook input priority filter - 5;',
    '    ip daddr @held meta l4proto tcp reject with tcp reset',
    '    ip daddr @held meta l4proto { udp, sctp } reject',
    '  }',
    '}',
    '',
  ].join('\n');

/** Returns a transaction that confirms the addresses for `confirmMs` milliseconds, and forgets all others. */
export function confirmation(addresses: readonly string[], confirmMs: number): string {
  const timed = addresses.map((address) => `${address} timeout ${confirmMs}ms`);
  return [
    `flush set ${arpTable} held`,
    `flush set ${arpTable} confirmed`,
    `flush set ${guardTable} held`,
    ...(addresses.length === 0
      ? []
      : [
          `add element ${arpTable} held { ${addresses.join(', ')} }`,
          `add element ${arpTable} confirmed { ${timed.join(', ')} }`,
          `add element ${guardTable} held { ${addresses.join(', ')} }`,
        ]),
    '',
  ].join('\n');
}

/** Returns the machines, by address, in the output of `nft list set` of the rivals. */
export const rivalsIn = (output: string): readonly { readonly address: string; readonly machine: string }[] =>
  [...output.matchAll(/(\d+(?:\.\d+){3}) \. ([0-9a-f]{2}(?::[0-9a-f]{2}){5})\b/g)].map(
    ([, address = '', machine = '']) => ({ address, machine }),
  );

/** Returns a transaction that ends the silence of the addresses of a table. */
export const endOfSilence = (table: string): string => `flush set ${table} silenced\n`;

/** Returns a transaction that deletes the tables in the output of `nft list tables`; empty without any. */
export const removal = (tables: string): string =>
  [arpTable, guardTable, neighbourTable]
    .filter((table) => tables.split('\n').includes(`table ${table}`))
    .map((table) => `delete table ${table}\n`)
    .join('');
