/** The overlay in this machine's kernel: read as a whole, changed by differences. */
import { type Exec, ExecError } from '../../os/exec.ts';
import type { NetworkNames } from '../rules.ts';
import { networkOf6 } from './ipv6-plan.ts';
import { networkOf, type Underlay } from './plan.ts';
import { renderChange, vni, vxlanPort } from './render.ts';
import { change, type OverlayState, type VxlanLink } from './state.ts';

interface LinkJson {
  readonly ifname?: string;
  readonly address?: string;
  readonly mtu?: number;
  readonly flags?: readonly string[];
  readonly linkinfo?: {
    readonly info_data?: {
      readonly local?: string;
      readonly link?: string;
      readonly id?: number;
      readonly port?: number;
    };
  };
  readonly addr_info?: readonly { readonly local?: string; readonly prefixlen?: number }[];
}

interface RouteJson {
  readonly type?: string;
  readonly dst?: string;
  readonly gateway?: string;
  readonly dev?: string;
  readonly prefsrc?: string;
}

interface NeighbourJson {
  readonly dst?: string;
  readonly lladdr?: string;
}

interface ForwardingJson {
  readonly mac?: string;
  readonly dst?: string;
}

/** Returns the link that has the address; undefined if there is none. */
export async function readUnderlay(exec: Exec, nodeIP: string): Promise<Underlay | undefined> {
  const family = nodeIP.includes(':') ? 'inet6' : 'inet';
  const links = await json<LinkJson>(exec, 'ip', ['-family', family, 'address', 'show', 'to', nodeIP]);
  for (const { ifname, mtu, addr_info = [] } of links) {
    const found = addr_info.find(({ local }) => local === nodeIP);
    if (ifname === undefined || mtu === undefined || found === undefined) continue;
    return { dev: ifname, mtu, network: networkAround(nodeIP, found.prefixlen) };
  }
  return undefined;
}

function networkAround(address: string, prefix: number | undefined): string {
  return address.includes(':')
    ? networkOf6(`${address}/${prefix ?? 128}`)
    : networkOf(`${address}/${prefix ?? 32}`);
}

export interface KernelOverlay {
  readonly state: OverlayState;
  /** Name of another program's link that receives the VXLAN packets of this overlay. */
  readonly rival: string | undefined;
}

/** Reads all parts of the overlay in the kernel, whichever run created them. */
export async function readOverlay(exec: Exec, names: NetworkNames): Promise<KernelOverlay> {
  const { vxlanLink, routeProtocol } = names;
  const [links, routes, routes6] = await Promise.all([
    json<LinkJson>(exec, 'ip', ['-details', 'address', 'show', 'type', 'vxlan']),
    json<RouteJson>(exec, 'ip', ['route', 'show', 'proto', String(routeProtocol)]),
    json<RouteJson>(exec, 'ip', ['-6', 'route', 'show', 'proto', String(routeProtocol)]),
  ]);
  const link = links.find(({ ifname }) => ifname === vxlanLink);
  const [neighbours, forwarding] = link
    ? await Promise.all([
        json<NeighbourJson>(exec, 'ip', ['neighbour', 'show', 'dev', vxlanLink, 'nud', 'permanent']),
        json<ForwardingJson>(exec, 'bridge', ['fdb', 'show', 'dev', vxlanLink]),
      ])
    : [[], []];
  const state = {
    vxlan: link && linkOf(link),
    routes: new Map([...routes, ...routes6].map((route) => [route.dst ?? '', wayOf(route, vxlanLink)])),
    neighbours: new Map(neighbours.map(({ dst = '', lladdr = '' }) => [dst, lladdr])),
    forwarding: new Map(forwarding.map(({ mac = '', dst = '' }) => [mac, dst])),
    // The senders are not read: they are always written again.
    senders: undefined,
  };
  return { state, rival: links.find((other) => other !== link && isRival(other))?.ifname };
}

/** The kernel allows one link for a VNI and a port. */
function isRival({ linkinfo }: LinkJson): boolean {
  const { id, port } = linkinfo?.info_data ?? {};
  return id === vni && port === vxlanPort;
}

/**
 * Changes the kernel from one state to the other; returns whether anything changed. After a rejection, the
 * kernel is in a state between the two and must be read again.
 */
export async function applyOverlay(
  exec: Exec,
  from: OverlayState,
  to: OverlayState,
  names: NetworkNames,
): Promise<boolean> {
  const difference = change(from, to, (way) => way.includes(` dev ${names.vxlanLink}`));
  if (!difference) return false;
  for (const { program, args, input } of renderChange(difference, names)) {
    try {
      await exec(program, args, { input });
    } catch (error) {
      if (!isPortTaken(error)) throw error;
      throw new Error(
        `UDP port ${vxlanPort} is taken by another process (ss -lnup sport = :${vxlanPort} names it); stop that process, or give --overlay host-routes on all nodes`,
      );
    }
  }
  return true;
}

/** Returns true if a VXLAN link could not be set up because another socket is bound to its port. */
const isPortTaken = (error: unknown) =>
  error instanceof ExecError && error.failure.stderr.includes('Address already in use');

/**
 * Returns the link. A link that is down, or was changed by another program, gets a value that matches no
 * plan, so that it is created again.
 */
function linkOf({ linkinfo, address, mtu, flags, addr_info = [] }: LinkJson): VxlanLink {
  const { local = '', link: dev = '' } = linkinfo?.info_data ?? {};
  const withPrefix = (length: number) =>
    addr_info.filter(({ prefixlen }) => prefixlen === length).map(({ local: ip }) => ip);
  const up = flags?.includes('UP') ?? false;
  const found = { local, dev, mac: address ?? '', mtu: mtu ?? 0, address: up ? withPrefix(32).join() : '' };
  const address6 = withPrefix(128).join();
  return address6 === '' ? found : { ...found, address6 };
}

function wayOf({ type, gateway, dev, prefsrc }: RouteJson, vxlanLink: string): string {
  if (type !== undefined && type !== 'unicast') return type;
  if (gateway === undefined) return `dev ${dev} src ${prefsrc}`;
  return `via ${gateway} dev ${dev}${dev === vxlanLink ? ' onlink' : ''}`;
}

async function json<T>(exec: Exec, program: 'ip' | 'bridge', args: readonly string[]): Promise<readonly T[]> {
  const { stdout } = await exec(program, ['-json', ...args]);
  // An empty list may be printed as an empty text.
  const value: unknown = stdout.trim() === '' ? [] : JSON.parse(withoutFanMap(stdout));
  if (!Array.isArray(value)) throw new Error(`${program} ${args.join(' ')} did not print a list`);
  return value as readonly T[];
}

/**
 * Removes the addresses of fan networks, which Ubuntu's ip(8) prints in the details of a vxlan link in a form
 * that is not JSON.
 */
const withoutFanMap = (text: string) => text.replaceAll(/(?<="id":\d+)fan-map [^,"}]*/g, '');
