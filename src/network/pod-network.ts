/**
 * The routed network of one machine's pods: each pod has a /32 address on one end of a veth pair, and the
 * host has a route to it. There is no bridge, so every packet, including one between two pods of this machine
 * or back to its own sender, passes the host's routing and thus the service rules.
 *
 * Changes on the machine: links named mk8s…, the nft table `ip minik8s-network`, the chain MINIK8S-FORWARD
 * with the one rule that jumps to it, and ip_forward. `cleanupNetwork` removes them, except ip_forward, which
 * other programs may have come to require, and also the routes to other nodes (overlay/overlay.ts).
 */
import { writeFile } from 'node:fs/promises';
import type { HostPort } from '../api/core/v1/pod/forwarded-port.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { deleteFlows } from '../os/conntrack.ts';
import { type Exec, ExecError } from '../os/exec.ts';
import { deleteLink } from '../os/link.ts';
import type { RuleKeeper } from '../os/rule-watch.ts';
import { staleHostPortFlows } from './host-port-flows.ts';
import { AddressPool } from './ipam.ts';
import { applyOverlay, readOverlay, readUnderlay } from './overlay/kernel.ts';
import { noOverlay, type OverlayMode, podMtu } from './overlay/plan.ts';
import { contains } from './overlay/ranges.ts';
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
} from './rules.ts';

export interface PodNetworkOptions {
  readonly exec: Exec;
  readonly log: Logger;
  /**
   * Source address that pods of this machine see; undefined if the kernel chooses. Must be an address of this
   * machine.
   */
  readonly nodeIP: string | undefined;
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

const comment = 'minik8s pod network';

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
    const { table, chain } = this.#names;
    const own = new Set([...fixedChains.map((name) => `ip ${table} ${name}`), `ip filter ${chain}`]);
    const restore = () => void this.#restore();
    options.rules?.keep({ what: 'the pod network', owns: (each) => own.has(each), restore });
    // Other programs delete rules of their own in this chain as well.
    options.rules?.keep({ what: undefined, owns: (each) => each === 'ip filter FORWARD', restore });
  }

  /** Rejects for a range outside cluster-cidr, because other nodes would not route to it. */
  async setUp(podCIDR: string): Promise<void> {
    const { clusterCIDR } = this.#options;
    if (!contains(clusterCIDR, podCIDR)) {
      throw new Error(
        `the pod range ${podCIDR} of this node is not in its cluster-cidr ${clusterCIDR}: give this node the cluster-cidr of the masters and restart it`,
      );
    }
    if (this.#podCIDR !== podCIDR) {
      this.#pool = new AddressPool(podCIDR);
      this.#podCIDR = podCIDR;
    }
    this.#mtu = await this.#readMtu();
    await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
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
    this.#options.onRelease?.(ip);
  }

  async attach(ip: string, pid: number): Promise<void> {
    const { exec, nodeIP } = this.#options;
    await exec('ip', ['-batch', '-'], { input: renderHostLink(ip, pid, nodeIP, this.#mtu, this.#names) });
    const inPod = exec('nsenter', [`--net=/proc/${pid}/ns/net`, 'ip', '-batch', '-'], {
      input: renderPodLink(ip),
    });
    // A pod that answers a connection to this machine's 127.0.0.1 has that address as its source.
    const sysctl = writeFile(`/proc/sys/net/ipv4/conf/${linkName(ip, this.#names)}/route_localnet`, '1');
    await Promise.all([inPod, sysctl]);
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
      const facts = { podCIDR: this.#podCIDR, clusterCIDR };
      const ports = this.#ports;
      await exec('nft', ['-f', '-'], { input: renderTable(facts, ports, this.#names) });
      await deleteFlows(exec, log, 'a host port', staleHostPortFlows(this.#portsInForce, ports));
      this.#portsInForce = ports;
    });
    // The caller gets the error; the next write must not fail because of it.
    this.#writing = writing.catch(() => {});
    return writing;
  }

  /** Docker sets the policy of FORWARD to drop; only a rule in the same table can accept packets. */
  async #acceptForwarding(): Promise<void> {
    const { exec, clusterCIDR } = this.#options;
    const { chain } = this.#names;
    const jump = jumpTo(chain);
    const rules = [
      ['-s', clusterCIDR, '-j', 'ACCEPT'],
      ['-d', clusterCIDR, '-j', 'ACCEPT'],
    ];
    if (!(await succeeds(exec, ['-w', '-n', '-L', chain]))) await exec('iptables', ['-w', '-N', chain]);
    for (const rule of rules) {
      if (!(await succeeds(exec, ['-w', '-C', chain, ...rule]))) {
        await exec('iptables', ['-w', '-A', chain, ...rule]);
      }
    }
    if (!(await succeeds(exec, ['-w', '-C', 'FORWARD', ...jump]))) {
      await exec('iptables', ['-w', '-I', 'FORWARD', ...jump]);
      this.#options.log.info('the firewall accepts pod traffic', { chain });
    }
  }
}

const jumpTo = (chain: string) => ['-m', 'comment', '--comment', comment, '-j', chain];

/** Removes everything that a RoutedPodNetwork created on this machine, in any run; idempotent. */
export async function cleanupNetwork(exec: Exec, names: NetworkNames = defaultNames): Promise<void> {
  const { chain, linkPrefix } = names;
  await exec('nft', ['-f', '-'], { input: renderRemoval(names) });
  while (await succeeds(exec, ['-w', '-D', 'FORWARD', ...jumpTo(chain)]));
  if (await succeeds(exec, ['-w', '-F', chain])) await exec('iptables', ['-w', '-X', chain]);
  const { state } = await readOverlay(exec, names);
  await applyOverlay(exec, state, noOverlay, names);
  const ours = new RegExp(`^${linkPrefix}[0-9a-f]{8}$`);
  // /sys is not used, since it shows the links of the network namespace in which it was mounted.
  const { stdout } = await exec('ip', ['-json', 'link', 'show']);
  const links = (JSON.parse(stdout) as readonly { readonly ifname: string }[]).map(({ ifname }) => ifname);
  for (const link of links.filter((name) => ours.test(name))) await deleteLink(exec, link);
}

async function succeeds(exec: Exec, args: readonly string[]): Promise<boolean> {
  try {
    await exec('iptables', args);
    return true;
  } catch (error) {
    if (error instanceof ExecError && error.failure.code !== undefined) return false;
    throw error;
  }
}
