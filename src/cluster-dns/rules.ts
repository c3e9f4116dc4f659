/** The link and rules of cluster DNS as text for ip(8) and nft(8). Pure. */
export const linkName = 'minik8s.dns';
export const table = 'minik8s-dns';

/** Chains of the table, all of them with rules. */
export const fixedChains: ReadonlySet<string> = new Set(
  ['prerouting', 'output', 'input'].map((chain) => `ip ${table} ${chain}`),
);

export interface DnsLink {
  /** Addresses that only this server uses on this machine. */
  readonly addresses: readonly string[];
  /** Pattern of the names of pods' links, as nft matches it: `mk8s*`. */
  readonly podLinks: string;
}

/**
 * Returns one transaction that replaces the whole table. Only queries from pods and from this machine are
 * accepted at these addresses. Queries and answers are exempt from connection tracking, see
 * docs/decisions/0009.
 */
export function renderRules({ addresses, podLinks }: DnsLink): string {
  const ours = `{ ${addresses.join(', ')} }`;
  const question = `ip daddr ${ours} meta l4proto { tcp, udp } th dport 53`;
  const answer = `ip saddr ${ours} meta l4proto { tcp, udp } th sport 53`;
  return `add table ip ${table}
delete table ip ${table}
table ip ${table} {
  chain prerouting {
    type filter hook prerouting priority raw; policy accept;
    ${question} notrack
    ${answer} notrack
  }
  chain output {
    type filter hook output priority raw; policy accept;
    ${question} notrack
    ${answer} notrack
  }
  chain input {
    type filter hook input priority filter - 10; policy accept;
    ip daddr != ${ours} accept
    iifname "lo" accept
    iifname "${podLinks}" meta l4proto { tcp, udp } th dport 53 accept
    iifname "${podLinks}" meta l4proto icmp accept
    drop
  }
}
`;
}

export const renderRemoval = () => `add table ip ${table}\ndelete table ip ${table}\n`;

/** Returns the input of `ip -batch`; `present` are the addresses that the link already has. */
export function renderAddresses(addresses: readonly string[], present: readonly string[]): string {
  const add = addresses.filter((one) => !present.includes(one));
  const remove = present.filter((one) => !addresses.includes(one));
  return [
    ...remove.map((one) => `address delete ${one}/32 dev ${linkName}\n`),
    ...add.map((one) => `address add ${one}/32 dev ${linkName}\n`),
    `link set dev ${linkName} up\n`,
  ].join('');
}
