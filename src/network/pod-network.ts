/**
 * The routed network of one machine's pods: each pod has a /32 address on one end of a veth pair, and the
 * host has a route to it. There is no bridge, so every packet, including one between two pods of this machine
 * or back to its own sender, passes the host's routing and thus the service rules. In a cluster with a range
 * of IPv6, a pod has a /128 address on the same link (ipv6-links.ts).
 *
 * Changes on the machine: links named mk8s…, the nft table minik8s-network of each family, the chain
 * MINIK8S-FORWARD with the one rule that jumps to it, and forwarding. `cleanupNetwork` removes them, except
 * forwarding, which other programs may have come to require, and also the routes to other nodes
 * (overlay/overlay.ts).
 */
import { writeFile } from 'node:fs/promises';
import type { HostPort } from '../api/core/v1/pod/forwarded-port.ts';
import { type AddressFamily, familiesOf, familyRanges, liesIn } from '../base/address-families.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { deleteFlows } from '../os/conntrack.ts';
import type { Exec } from '../os/exec.ts';
import { deleteLink } from '../os/link.ts';
import { deleteTable } from '../os/nft-table.ts';
import type { RuleKeeper } from '../os/rule-watch.ts';
import { acceptForwarding, type Firewall, firewalls, removeAcceptance } from './forward-acceptance.ts';
import { portsOfIPv4, portsOfIPv6 } from './host-port-families.ts';
import { staleHostPortFlows } from './host-port-flows.ts';
import { AddressPool } from './ipam.ts';
import { enableIPv6, forwardIPv6 } from './ipv6-forwarding.ts';
import {
  enableScript,
  type PodRanges,
  podMacOf,
  renderHostSide,
  renderPodSide,
  secondAddress,
} from './ipv6-links.ts';
import { applyOverlay, readOverlay, readUnderlay } from './overlay/kernel.ts';
import { noOverlay, type OverlayMode, podMtu } from './overlay/plan.ts';
import {
  defaultNames,
  fixedChains,
  linkName,
  type NetworkNames,
  renderClosing,
  renderHostLink,
  renderPodLink,
  renderRemoval,
  renderTable,
  tableOf,
} from './rules.ts';

export interface PodNetworkOptions {
  readonly exec: Exec;
  readonly log: Logger;
  /**
   * Source address that pods of this machine see; undefined if the kernel chooses. Must be an address of this
   * machine.
   */
  readonly nodeIP: string | undefined;
  /** Address of this machine that pods see over IPv6; undefined if it has none. */
  readonly nodeIPv6?: string | undefined;
  /** Ranges of all pods, one or one of each family (`familyRanges`). */
  readonly clusterCIDR: string;
  /**
   * Mode of packets to other nodes, which determines the MTU of pods' links; without it, the kernel's default
   * is used.
   */
  readonly overlay?: { readonly mode: OverlayMode; readonly nodeIP: string };
  readonly names?: NetworkNames;
  /** Reports rules that another program has deleted; undefined where they are not watched. */
  readonly rules: RuleKeeper | undefined;
  /** Called when nothing uses an address any more. */
  readonly onRelease?: (ip: string) => void;
}

export class RoutedPodNetwork {
  readonly #options: PodNetworkOptions;
  readonly #names: NetworkNames;
  #podCIDR = '';
  #mtu: number | undefined;
  #pool: AddressPool | undefined;
  #ports: readonly HostPort[] = [];
  /** The host ports of the table in the kernel; flows of other ports have been deleted. */
  #portsInForce: readonly HostPort[] = [];
  /** Serializes writes of the table; each writes the newest set. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: PodNetworkOptions) {
    this.#options = options;
    this.#names = options.names ?? defaultNames;
    const families = familiesOf(familyRanges(options.clusterCIDR));
    const own = new Set(families.flatMap((family) => this.#chainsOf(family)));
    const restore = () => void this.#restore();
    options.rules?.keep({ what: 'the pod network', owns: (each) => own.has(each), restore });
    // Other programs delete rules of their own in this chain as well.
    const forward = new Set(families.map((family) => `${firewalls[family].table} FORWARD`));
    options.rules?.keep({ what: undefined, owns: (each) => forward.has(each), restore });
  }

  /** Returns the chains of a family that have rules while the network is set up. */
  #chainsOf(family: AddressFamily): readonly string[] {
    // The chain `input` of IPv6 has none.
    const fixed = fixedChains.filter((name) => family === 'IPv4' || name !== 'input');
    const table = tableOf(family, this.#names);
    return [...fixed.map((name) => `${table} ${name}`), `${firewalls[family].table} ${this.#names.chain}`];
  }

  /** Returns the ranges of this node's pods if they are of both families, as those of the cluster. */
  get #dual(): PodRanges | undefined {
    const [{ IPv4, IPv6 }, cluster] = [familyRanges(this.#podCIDR), familyRanges(this.#options.clusterCIDR)];
    return IPv6 === undefined || cluster.IPv6 === undefined ? undefined : { IPv4, IPv6 };
  }

  /** Rejects for a range outside cluster-cidr, because other nodes would not route to it. */
  async setUp(podCIDR: string): Promise<void> {
    const [cluster, own] = [familyRanges(this.#options.clusterCIDR), familyRanges(podCIDR)];
    // A Node keeps a range of IPv6 that the cluster does not have any more.
    for (const family of familiesOf(cluster)) {
      const [around, range] = [cluster[family] ?? '', own[family]];
      if (range === undefined || liesIn(around, range)) continue;
      throw new Error(
        `the pod range ${range} of this node is not in its cluster-cidr ${around}: give this node the cluster-cidr of the masters and restart it`,
      );
    }
    if (this.#podCIDR !== podCIDR) {
      this.#pool = new AddressPool(own.IPv4);
      this.#podCIDR = podCIDR;
      const problem = familyProblem(cluster.IPv6, own.IPv6);
      if (problem !== undefined) this.#options.log.warn(problem);
    }
    this.#mtu = await this.#readMtu();
    await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
    if (this.#dual) await forwardIPv6();
    await this.#acceptForwarding();
    await this.#write();
  }

  async #restore(): Promise<void> {
    if (this.#podCIDR === '') return;
    try {
      await this.setUp(this.#podCIDR);
    } catch (error) {
      this.#options.log.warn('cannot restore the pod network; trying again within a minute', {
        error: errorMessage(error),
      });
    }
  }

  allocate(): string {
    return this.#addresses.allocate();
  }

  adopt(ip: string): void {
    this.#addresses.adopt(ip);
  }

  release(ip: string): void {
    this.#addresses.release(ip);
    for (const address of this.addressesOf(ip)) this.#options.onRelease?.(address);
  }

  addressesOf(ip: string): readonly string[] {
    const second = this.#dual && secondAddress(this.#dual, ip);
    return second === undefined ? [ip] : [ip, second];
  }

  async attach(ip: string, pid: number): Promise<void> {
    const { exec, nodeIP } = this.#options;
    const [, second] = this.addressesOf(ip);
    const mac = second === undefined ? undefined : podMacOf(ip);
    const link = renderHostLink(ip, pid, nodeIP, this.#mtu, this.#names, mac);
    await exec('ip', ['-batch', '-'], { input: link });
    const enter = (...command: readonly string[]) => [`--net=/proc/${pid}/ns/net`, ...command];
    if (second !== undefined) await exec('nsenter', enter('sh', '-c', enableScript));
    const inPod = exec('nsenter', enter('ip', '-batch', '-'), {
      input: renderPodLink(ip) + (second === undefined ? '' : renderPodSide(second)),
    });
    // A pod that answers a connection to this machine's 127.0.0.1 has that address as its source.
    const sysctl = writeFile(`/proc/sys/net/ipv4/conf/${linkName(ip, this.#names)}/route_localnet`, '1');
    await Promise.all([inPod, sysctl, second !== undefined && this.#attachIPv6(ip, second)]);
  }

  async #attachIPv6(ip: string, second: string): Promise<void> {
    await enableIPv6(linkName(ip, this.#names));
    const { exec, nodeIPv6, log } = this.#options;
    const set = (source: string | undefined) =>
      exec('ip', ['-batch', '-'], { input: renderHostSide(ip, second, source, this.#names) });
    await set(nodeIPv6).catch(async (error: unknown) => {
      if (nodeIPv6 === undefined) throw error;
      // The machine has lost the address since its agent started.
      log.warn('a pod does not see the node at its IPv6 address', { nodeIPv6, error: errorMessage(error) });
      await set(undefined);
    });
  }

  async close(ip: string): Promise<void> {
    await this.#options.exec('ip', ['-batch', '-'], { input: renderClosing(ip, this.#names) });
  }

  async detach(ip: string): Promise<void> {
    await deleteLink(this.#options.exec, linkName(ip, this.#names));
  }

  async setHostPorts(ports: readonly HostPort[]): Promise<void> {
    this.#ports = ports;
    await this.#write();
  }

  /**
   * The MTU of the loopback link is ignored. Loopback has a node's address if the machine has no other
   * address, and its MTU is not that of a link to other machines.
   */
  async #readMtu(): Promise<number | undefined> {
    const { exec, overlay } = this.#options;
    const underlay = overlay && (await readUnderlay(exec, overlay.nodeIP));
    return underlay && underlay.dev !== 'lo' ? podMtu(overlay.mode, underlay.mtu) : undefined;
  }

  get #addresses(): AddressPool {
    if (!this.#pool) throw new Error('the pod network is not set up: this node has no podCIDR yet');
    return this.#pool;
  }

  #write(): Promise<void> {
    const { exec, clusterCIDR, log } = this.#options;
    const writing = this.#writing.then(async () => {
      const dual = this.#dual;
      const [cluster, own] = [familyRanges(clusterCIDR), familyRanges(this.#podCIDR)];
      const ports = this.#ports;
      const facts = { podCIDR: own.IPv4, clusterCIDR: cluster.IPv4 };
      await exec('nft', ['-f', '-'], { input: renderTable(facts, portsOfIPv4(ports), this.#names) });
      if (dual) {
        const facts6 = { podCIDR: dual.IPv6, clusterCIDR: cluster.IPv6 ?? '' };
        const input = renderTable(facts6, portsOfIPv6(ports, dual), this.#names, 'IPv6');
        await exec('nft', ['-f', '-'], { input });
      }
      const stale = staleHostPortFlows(this.#withIPv6(this.#portsInForce), this.#withIPv6(ports));
      await deleteFlows(exec, log, 'a host port', stale);
      this.#portsInForce = ports;
    });
    // The caller gets the error; the next write must not fail because of it.
    this.#writing = writing.catch(() => {});
    return writing;
  }

  #withIPv6(ports: readonly HostPort[]): readonly HostPort[] {
    const four = portsOfIPv4(ports);
    return this.#dual ? [...four, ...portsOfIPv6(ports, this.#dual)] : four;
  }

  async #acceptForwarding(): Promise<void> {
    const { exec, clusterCIDR, log } = this.#options;
    const ranges = familyRanges(clusterCIDR);
    const families = this.#dual ? familiesOf(ranges) : (['IPv4'] as const);
    for (const family of families) {
      const firewall: Firewall = firewalls[family];
      const isNew = await acceptForwarding(exec, firewall, this.#names.chain, ranges[family] ?? '');
      if (isNew) log.info('the firewall accepts pod traffic', { chain: this.#names.chain, family });
    }
  }
}

/** Returns why the pods of a node have no addresses of IPv6 though one of the two ranges exists. */
function familyProblem(cluster: string | undefined, own: string | undefined): string | undefined {
  if (own === undefined && cluster !== undefined)
    return 'the pods of this node have addresses of IPv4 only: its Node was made before the cluster had a range of IPv6; to change that, let the machine join as a new node';
  if (own !== undefined && cluster === undefined)
    return `the range ${own} of this node is not used, because its cluster-cidr has no range of IPv6; if that of the masters has one, give this node their cluster-cidr and service-cidr and restart it`;
  return undefined;
}

/** Removes everything that a RoutedPodNetwork created on this machine, in any run; idempotent. */
export async function cleanupNetwork(exec: Exec, names: NetworkNames = defaultNames): Promise<void> {
  const { chain, linkPrefix } = names;
  await exec('nft', ['-f', '-'], { input: renderRemoval(names) });
  await deleteTable(exec, tableOf('IPv6', names));
  await removeAcceptance(exec, firewalls.IPv4, chain);
  // A machine without IPv6 may lack the program, or its tables.
  await removeAcceptance(exec, firewalls.IPv6, chain).catch(() => undefined);
  const { state } = await readOverlay(exec, names);
  await applyOverlay(exec, state, noOverlay, names);
  const ours = new RegExp(`^${linkPrefix}[0-9a-f]{8}$`);
  // /sys is not used, since it shows the links of the network namespace in which it was mounted.
  const { stdout } = await exec('ip', ['-json', 'link', 'show']);
  const links = (JSON.parse(stdout) as readonly { readonly ifname: string }[]).map(({ ifname }) => ifname);
  for (const link of links.filter((name) => ours.test(name))) await deleteLink(exec, link);
}
