/** Renders a change of the overlay as text for nft(8), ip(8) and bridge(8). Pure. */
import type { NetworkNames } from '../rules.ts';
import type { OverlayChange, VxlanLink } from './state.ts';

export const vni = 1;
/** The port of the kernel's VXLAN before 4789 was assigned; flannel uses it too. */
export const vxlanPort = 8472;

/** One program to run, and its standard input. */
export interface Step {
  readonly program: 'nft' | 'ip' | 'bridge' | 'sh';
  readonly args: readonly string[];
  readonly input: string;
}

/**
 * Returns the steps in order. The firewall has the senders before the link exists, and as long as it exists.
 * Routes to nodes come last, so that no packet finds an incomplete path.
 */
export function renderChange(change: OverlayChange, names: NetworkNames): readonly Step[] {
  const { vxlanLink: link, routeProtocol } = names;
  const { removedLink, addedLink, mtu, routes, neighbours, forwarding, senders } = change;
  const protocol = `proto ${routeProtocol}`;
  const firewall: Step = { program: 'nft', args: ['-f', '-'], input: renderSenders(senders, names) };
  const closed = senders !== undefined && 'whole' in senders && !senders.whole;
  const steps: Step[] = [
    ...(closed ? [] : [firewall]),
    batch('ip', [
      ...routes.removed.map((network) => `route delete ${network} ${protocol}`),
      ...neighbours.removed.map((address) => `neighbour delete ${address} dev ${link}`),
      ...(removedLink ? [`link delete dev ${link}`] : []),
      ...(addedLink ? renderLink(link, addedLink) : []),
      ...(mtu === undefined ? [] : [`link set dev ${link} mtu ${mtu}`]),
    ]),
    ...(addedLink?.address6 === undefined ? [] : renderIPv6(link, addedLink.address6)),
    batch('bridge', [
      ...forwarding.removed.map((mac) => `fdb delete ${mac} dev ${link} self`),
      ...[...forwarding.set].map(([mac, ip]) => `fdb replace ${mac} dev ${link} dst ${ip} self permanent`),
    ]),
    batch('ip', [
      ...[...neighbours.set].map(
        ([ip, mac]) => `neighbour replace ${ip} lladdr ${mac} dev ${link} nud permanent`,
      ),
      ...[...routes.set].map(([network, way]) => {
        const route = way === 'unreachable' ? `unreachable ${network}` : `${network} ${way}`;
        return `route replace ${route} ${protocol}`;
      }),
    ]),
    ...(closed ? [firewall] : []),
  ];
  return steps.filter(({ input }) => input !== '');
}

/** Steps that give a new link an address of IPv6, also where the machine's default is off for new links. */
const renderIPv6 = (name: string, address6: string): readonly Step[] => [
  { program: 'sh', args: ['-s'], input: `echo 0 > /proc/sys/net/ipv6/conf/${name}/disable_ipv6\n` },
  batch('ip', [`address add ${address6}/128 dev ${name} nodad`]),
];

const batch = (program: 'ip' | 'bridge', all: readonly string[]): Step => ({
  program,
  args: ['-batch', '-'],
  input: lines(all),
});

function renderLink(name: string, { local, dev, mac, mtu, address }: VxlanLink): string[] {
  return [
    `link add name ${name} address ${mac} mtu ${mtu} type vxlan id ${vni} local ${local} dev ${dev} dstport ${vxlanPort} nolearning`,
    // The kernel would give the link an IPv6 address without this.
    `link set dev ${name} addrgenmode none`,
    `address add ${address}/32 dev ${name}`,
    `link set dev ${name} up`,
  ];
}

/**
 * Renders rules that drop packets to the overlay's port, before any other rule sees them, unless another node
 * sent them. These packets are not tracked: every inner flow has a source port of its own and no answer ever
 * returns to it.
 */
function renderSenders(senders: OverlayChange['senders'], { vxlanTable: table }: NetworkNames): string {
  if (senders === undefined) return '';
  if (!('whole' in senders)) {
    return lines([
      ...(senders.removed.length > 0
        ? [`delete element ip ${table} nodes { ${senders.removed.join(', ')} }`]
        : []),
      ...(senders.added.length > 0 ? [`add element ip ${table} nodes { ${senders.added.join(', ')} }`] : []),
    ]);
  }
  if (!senders.whole) return removalOf(table);
  const elements = [...senders.whole].sort().join(', ');
  return `${removalOf(table)}table ip ${table} {
  set nodes {
    type ipv4_addr
${elements === '' ? '' : `    elements = { ${elements} }\n`}  }
  chain prerouting {
    type filter hook prerouting priority raw; policy accept;
    udp dport ${vxlanPort} fib daddr type local ip saddr != @nodes drop
    udp dport ${vxlanPort} notrack
  }
  chain output {
    type filter hook output priority raw; policy accept;
    udp dport ${vxlanPort} notrack
  }
}
`;
}

const removalOf = (table: string) => `add table ip ${table}\ndelete table ip ${table}\n`;

const lines = (all: readonly string[]) => all.map((line) => `${line}\n`).join('');
