/** The link and rules of cluster DNS as text for ip(8) and nft(8): data to data. */
export const linkName = 'minik8s.dns';
export const table = 'minik8s-dns';

export interface DnsLink {
  /** Used by this server alone on this machine. */
  readonly addresses: readonly string[];
  /** What the links of pods are called, as nft matches it: `mk8s*`. */
  readonly podLinks: string;
}

/**
 * One transaction that replaces our whole table. Questions come from pods and from this machine; nothing else is
 * let in at these addresses. Questions and answers are not tracked as connections, see docs/decisions/0009.
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

/** For `ip -batch`; `present` are the addresses that the link has already. */
export function renderAddresses(addresses: readonly string[], present: readonly string[]): string {
  const add = addresses.filter((one) => !present.includes(one));
  const remove = present.filter((one) => !addresses.includes(one));
  return [
    ...remove.map((one) => `address delete ${one}/32 dev ${linkName}\n`),
    ...add.map((one) => `address add ${one}/32 dev ${linkName}\n`),
    `link set dev ${linkName} up\n`,
  ].join('');
}
