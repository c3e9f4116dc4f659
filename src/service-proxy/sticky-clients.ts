/**
 * The clients of Services with session affinity, and the endpoint of each. The kernel writes these maps at
 * the first packet of a connection and forgets a client that opens none during the Service's timeout
 * (`spec.sessionAffinityConfig.clientIP.timeoutSeconds`). The maps are read only before the whole table is
 * written again, so that clients keep their endpoints over a restart of the node's agent.
 */
import { type Exec, ExecError } from '../os/exec.ts';

/** Names of the maps: clients that called an address, and clients that called a port of the node. */
export const stickyMaps = ['sticky-clients', 'sticky-port-clients'] as const;
export type StickyMap = (typeof stickyMaps)[number];

/**
 * Elements of the maps, as nft takes them: `KEY timeout TIME expires TIME : MARK`, without the timeout if it
 * is that of the map.
 */
export type StickyClients = Readonly<Record<StickyMap, readonly string[]>>;

export const noClients: StickyClients = { 'sticky-clients': [], 'sticky-port-clients': [] };

/**
 * Maximum number of clients in each map. A client beyond it gets an endpoint at random for each connection,
 * until others are forgotten.
 */
export const maxStickyClients = 65_536;

const partsOfKey = (map: StickyMap, ip: 'ip' | 'ip6') =>
  `${ip} saddr . ${map === 'sticky-clients' ? `${ip} daddr . ` : ''}meta l4proto . th dport`;

/**
 * Returns the key that identifies a client in a map of the family `ip` or `ip6`, as an expression of nft.
 * With a key of more than 16 bytes, nft 1.0.6 aborts at a rule that writes a map, so a client of IPv6 is
 * identified by a hash. Two clients with one hash share an endpoint; if they call different Services, each
 * connection of one lets the other choose again. The seed must not change: the maps outlast the agent.
 */
export const clientKey = (map: StickyMap, ip: 'ip' | 'ip6'): string =>
  ip === 'ip' ? partsOfKey(map, ip) : `jhash ${partsOfKey(map, ip)} mod 4294967295 seed 0x6d6b3873`;

/** Returns the rules that set the mark to the endpoint of a client; to another value if it has none. */
export const clientLookup = (map: StickyMap, ip: 'ip' | 'ip6'): readonly string[] =>
  ip === 'ip'
    ? [`meta mark set ${clientKey(map, ip)} map @${map}`]
    : [`meta mark set ${clientKey(map, ip)}`, `meta mark set meta mark map @${map}`];

/** Returns the type of the keys of a map. */
export function clientKeyType(map: StickyMap, ip: 'ip' | 'ip6'): string {
  if (ip === 'ip6') return 'mark';
  return `ipv4_addr . ${map === 'sticky-clients' ? 'ipv4_addr . ' : ''}inet_proto . inet_service`;
}

/**
 * Resolves to the clients that the kernel remembers; to none if the table or a map does not exist. A map that
 * cannot be read for another reason is reported: its clients may get other endpoints.
 */
export async function readStickyClients(
  exec: Exec,
  table: string,
  onError: (error: unknown) => void,
): Promise<StickyClients> {
  const read = async (name: StickyMap) => {
    try {
      const { stdout } = await exec('nft', ['list', 'map', ...table.split(' '), name]);
      return elementsIn(stdout);
    } catch (error) {
      if (!isMissing(error)) onError(error);
      return [];
    }
  };
  const [addresses, ports] = [await read('sticky-clients'), await read('sticky-port-clients')];
  return { 'sticky-clients': addresses, 'sticky-port-clients': ports };
}

const isMissing = (error: unknown): boolean =>
  error instanceof ExecError && error.failure.stderr.includes('No such file or directory');

const element = /[\w.]+(?: \. [\w.]+)*(?: timeout \w+)? expires \w+ : 0x[0-9a-f]+/g;

/** Returns the elements in the output of `nft list map`. An element without time left has no `expires`. */
export const elementsIn = (text: string): readonly string[] => text.match(element) ?? [];
