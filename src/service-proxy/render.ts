/**
 * Service rules as nftables text. A map finds the chain of a service, and a second map finds the endpoint of
 * a slot drawn at random; chains differ only in the number of endpoints and in the timeout of session
 * affinity. A lookup therefore costs the same for any number of services, and a changed service needs a few
 * changed map elements in one transaction.
 */
import { clientIPTimeoutSeconds } from '../api/core/v1/service/defaults.ts';
import type { AddressFamily } from '../base/address-families.ts';
import type { Difference } from './element-table.ts';
import { type ElementName, type Elements, elementNames, masqueradeSlotMark, slotMark } from './elements.ts';
import {
  clientKey,
  clientKeyType,
  clientLookup,
  maxStickyClients,
  noClients,
  type StickyClients,
  type StickyMap,
  stickyMaps,
} from './sticky-clients.ts';

/** Words of nft for a family: of its headers, and of the type of its addresses. */
const words = {
  IPv4: { ip: 'ip', address: 'ipv4_addr' },
  IPv6: { ip: 'ip6', address: 'ipv6_addr' },
} as const satisfies Record<AddressFamily, object>;

/**
 * Returns the proxy's table of a family; nothing else writes to it, and its removal removes everything that
 * the proxy created for the family.
 */
export const tableOf = (family: AddressFamily): string => `${words[family].ip} minik8s-proxy`;

/** Returns the chains that every version of a family's table has, all of them with rules. */
export const fixedChainsOf = (family: AddressFamily): ReadonlySet<string> =>
  new Set(
    [
      ...['dispatch', 'prerouting', 'output', 'balance', 'balance-prerouting', 'balance-output'],
      ...['postrouting', 'refuse', 'forward', 'local'],
    ].map((chain) => `${tableOf(family)} ${chain}`),
  );

/** The bits of a mark that identify its owner. */
const markMask = 0xff000000;

/** Returns the chains to which the elements jump. */
export function chainsOf(elements: Elements): ReadonlySet<string> {
  const chains = new Set<string>();
  for (const verdict of elements.services.values()) chains.add(verdict.slice('goto '.length));
  for (const verdict of elements['node-ports'].values()) chains.add(verdict.slice('goto '.length));
  for (const verdict of elements['balancer-ports'].values()) chains.add(verdict.slice('goto '.length));
  return chains;
}

const chainName = /^(node-port-)?(local-)?(?:random|sticky-(\d+))-(\d+)$/;

/** Returns the rules of a chain; its name has the endpoints and the way of choosing one (elements.ts). */
function chainBody(chain: string, family: AddressFamily): string {
  const [, nodePort, local, seconds, count] = chainName.exec(chain) ?? [];
  if (count === undefined) throw new Error(`the proxy has no chain of the name ${chain}`);
  const { ip } = words[family];
  const mark = nodePort && !local ? masqueradeSlotMark : slotMark;
  const key = `${nodePort ? '' : `${ip} daddr . `}meta l4proto . th dport . meta mark`;
  const map = nodePort ? 'node-port-endpoints' : 'endpoints';
  const draw = `meta mark set numgen random mod ${count} offset ${mark}`;
  const reach = `dnat ${ip} addr . port to ${key} map @${map}`;
  if (seconds === undefined) return `${draw}; ${reach}`;
  const identities = nodePort ? 'node-port-endpoint-ids' : 'endpoint-ids';
  const clients: StickyMap = nodePort ? 'sticky-port-clients' : 'sticky-clients';
  const client = clientKey(clients, ip);
  const remember = `update @${clients} { ${client} timeout ${seconds}s : meta mark }`;
  return [
    ...clientLookup(clients, ip),
    remember,
    reach,
    // The client has no endpoint, or a removed one, which is deleted first: an update does not overwrite it.
    `delete @${clients} { ${client} : meta mark }`,
    draw,
    `meta mark set ${key} map @${identities}`,
    remember,
    reach,
  ].join('; ');
}

const byCodeUnit = (a: string, b: string) => (a < b ? -1 : 1);

function elementCommand(
  verb: 'add' | 'delete',
  name: ElementName,
  entries: ReadonlyMap<string, string>,
  family: AddressFamily,
): string {
  const text = [...entries]
    .sort(([a], [b]) => byCodeUnit(a, b))
    .map(([key, value]) => (verb === 'add' && value ? `${key} : ${value}` : key));
  return `${verb} element ${tableOf(family)} ${name} { ${text.join(', ')} }\n`;
}

/**
 * Renders the whole table of a family, which replaces an existing one in one transaction. `serviceCIDR` has
 * the ranges of that family, separated by commas; `clients` are the clients with session affinity, which keep
 * their endpoints.
 */
export function renderTable(
  serviceCIDR: string,
  elements: Elements,
  clients = noClients,
  family: AddressFamily = 'IPv4',
): string {
  const { ip, address } = words[family];
  const name = tableOf(family);
  const chains = [...chainsOf(elements)].sort(byCodeUnit);
  const called = 'meta l4proto . th dport';
  // nft 1.0.2 (Ubuntu 22.04) ignores the timeout of an update, so that the one of the map applies.
  const ofClients = `flags dynamic,timeout; timeout ${clientIPTimeoutSeconds}s; size ${maxStickyClients};`;
  const lines = [
    `add table ${name}`,
    `delete table ${name}`,
    `table ${name} {`,
    `  map services { type ${address} . inet_proto . inet_service : verdict; }`,
    // Each connection looks up one endpoint, at its first packet: the counters count connections.
    `  map endpoints { type ${address} . inet_proto . inet_service . mark : ${address} . inet_service; counter; }`,
    `  map endpoint-ids { type ${address} . inet_proto . inet_service . mark : mark; }`,
    '  map node-ports { type inet_proto . inet_service : verdict; }',
    `  map node-port-endpoints { type inet_proto . inet_service . mark : ${address} . inet_service; counter; }`,
    '  map node-port-endpoint-ids { type inet_proto . inet_service . mark : mark; }',
    ...stickyMaps.map((map) => `  map ${map} { type ${clientKeyType(map, ip)} : mark; ${ofClients} }`),
    '  map balancer-ports { type inet_proto . inet_service : verdict; }',
    `  set hairpin { type ${address} . ${address}; }`,
    '  set own-ports { type inet_proto . inet_service; }',
    `  set limited-addresses { type ${address} . inet_proto . inet_service; }`,
    `  set address-clients { type ${address} . inet_proto . inet_service . ${address}; flags interval; }`,
    '  set limited-ports { type inet_proto . inet_service; }',
    `  set port-clients { type inet_proto . inet_service . ${address}; flags interval; }`,
    ...chains.map((chain) => `  chain ${chain} { ${chainBody(chain, family)}; }`),
    '  chain dispatch {',
    `    ${ip} daddr . ${called} @limited-addresses ${ip} daddr . ${called} . ${ip} saddr != @address-clients drop`,
    `    ${ip} daddr . ${called} vmap @services`,
    '    fib daddr type local meta l4proto . th dport vmap @node-ports',
    '  }',
    '  chain prerouting { type nat hook prerouting priority dstnat; goto dispatch; }',
    '  chain output { type nat hook output priority -100; goto dispatch; }',
    // Host ports of pods, and what a process of the machine listens on, come before ports of load balancers.
    '  chain balance {',
    '    fib daddr type != local return',
    `    ${called} @own-ports return`,
    `    ${called} @limited-ports ${called} . ${ip} saddr != @port-clients drop`,
    `    ${called} vmap @balancer-ports`,
    '  }',
    '  chain balance-prerouting { type nat hook prerouting priority dstnat + 5; goto balance; }',
    '  chain balance-output { type nat hook output priority -95; goto balance; }',
    '  chain postrouting {',
    '    type nat hook postrouting priority srcnat;',
    `    meta mark and ${markMask} == ${masqueradeSlotMark} meta mark set 0 masquerade fully-random`,
    `    meta mark and ${markMask} == ${slotMark} meta mark set 0`,
    `    ct status dnat ${ip} saddr . ${ip} daddr @hairpin masquerade fully-random`,
    '  }',
    ...refuseChain(serviceCIDR, ip),
    '  chain forward { type filter hook forward priority filter - 10; ct state new goto refuse; }',
    '  chain local { type filter hook output priority filter - 10; ct state new goto refuse; }',
    '}',
  ];
  const added = elementNames.filter((name) => elements[name].size > 0);
  const commands = added.map((each) => elementCommand('add', each, elements[each], family));
  return `${lines.join('\n')}\n${commands.join('')}${clientCommands(clients, family)}`;
}

/** Returns the chain that rejects traffic to addresses of Services that no Service has. */
const refuseChain = (ranges: string, ip: string): readonly string[] => [
  '  chain refuse {',
  ...ranges
    .split(',')
    .flatMap((range) => [
      `    ${ip} daddr ${range} meta l4proto tcp reject with tcp reset`,
      `    ${ip} daddr ${range} reject`,
    ]),
  '  }',
];

const clientCommands = (clients: StickyClients, family: AddressFamily): string =>
  stickyMaps
    .filter((name) => clients[name].length > 0)
    .map((name) => `add element ${tableOf(family)} ${name} { ${clients[name].join(', ')} }\n`)
    .join('');

/**
 * Renders one transaction that applies a difference to a family's table with the chains `known`; empty if
 * nothing changes.
 */
export function renderDifference(
  known: ReadonlySet<string>,
  { removed, added }: Difference,
  family: AddressFamily = 'IPv4',
): string {
  const newChains = [...chainsOf(added)].filter((chain) => !known.has(chain)).sort(byCodeUnit);
  // nft 1.0.2 (Ubuntu 22.04) ignores the rules of an `add chain` outside a table.
  const blocks = newChains.map((chain) => `  chain ${chain} { ${chainBody(chain, family)}; }\n`);
  let text = blocks.length > 0 ? `table ${tableOf(family)} {\n${blocks.join('')}}\n` : '';
  for (const name of elementNames) {
    if (removed[name].size > 0) text += elementCommand('delete', name, removed[name], family);
    if (added[name].size > 0) text += elementCommand('add', name, added[name], family);
  }
  return text;
}
