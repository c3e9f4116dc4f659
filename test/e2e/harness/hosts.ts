/**
 * Several hosts on one link, like machines in one rack. The link is a bridge in a namespace of its own, since
 * Docker's firewall on this machine would drop packets that pass a bridge. This machine is on the link too,
 * as an external client and not as a host.
 */
import { existsSync } from 'node:fs';
import { systemExec } from '../../../src/os/exec.ts';
import { deleteLink } from '../../../src/os/link.ts';
import { letGo } from './belongings.ts';
import type { Cleanup } from './cluster.ts';
import { Host, type HostOptions } from './host.ts';
import { claimNamespace, type Namespace } from './namespace.ts';
import { mountsBelow, processesNaming } from './processes.ts';
import { waitFor } from './wait-for.ts';

/** Part of the range for tests between networks (RFC 2544) that single hosts do not use. */
const range = '198.19';

export class Hosts {
  readonly #switch: Switch;
  readonly #hosts: readonly Host[];

  private constructor(link: Switch, hosts: readonly Host[]) {
    this.#switch = link;
    this.#hosts = hosts;
  }

  /**
   * Resolves when every host's engine answers. Everything is removed at the end of the test; a part that
   * cannot be removed fails the test.
   */
  static async start(
    cleanup: Cleanup,
    count: number,
    options: Omit<HostOptions, 'port'> = {},
  ): Promise<Hosts> {
    const link = new Switch(claimNamespace('mk8s-e2e-link-', 256));
    const closers: (() => Promise<void>)[] = [];
    const directories: string[] = [];
    cleanup.after(async () => {
      const ends = await Promise.allSettled([...closers, () => link.remove()].map((close) => close()));
      const failures = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
      const left = leftBehind(directories);
      if (failures.length + left.length > 0) throw new Error([...failures, ...left].join('\n'));
    });
    await link.make();
    const scope: Cleanup = { after: (fn) => closers.push(fn) };
    const numbers = Array.from({ length: count }, (_, index) => index);
    const starts = numbers.map((index) => Host.start(scope, { ...options, port: link.port(index) }));
    const ends = await Promise.allSettled(starts);
    for (const end of ends) {
      if (end.status === 'rejected') throw end.reason;
      directories.push(end.value.directory);
    }
    return new Hosts(
      link,
      ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : [])),
    );
  }

  get all(): readonly Host[] {
    return this.#hosts;
  }

  at(index: number): Host {
    const host = this.#hosts[index];
    if (!host) throw new Error(`there is no host ${index}: there are ${this.#hosts.length}`);
    return host;
  }

  /** This machine's address on the link. */
  get outside(): string {
    return this.#switch.gateway;
  }

  /** Disconnects the host from the link: no packet reaches it or leaves it. */
  async cut(host: Host): Promise<void> {
    await this.#switch.set(this.#hosts.indexOf(host), 'down');
  }

  async heal(host: Host): Promise<void> {
    await this.#switch.set(this.#hosts.indexOf(host), 'up');
  }
}

class Switch {
  readonly #octet: number;
  readonly namespace: string;
  /** This machine's end of the link. */
  readonly link: string;

  constructor({ name, number }: Namespace) {
    this.namespace = name;
    this.link = `e2elink${number}`;
    this.#octet = number;
  }

  get gateway(): string {
    return `${range}.${this.#octet}.1`;
  }

  async make(): Promise<void> {
    await this.#ip('link', 'add', 'bridge', 'type', 'bridge');
    await this.#ip('link', 'set', 'bridge', 'up');
    await this.#ip('link', 'add', 'machine', 'type', 'veth', 'peer', 'name', this.link, 'netns', '1');
    await this.#ip('link', 'set', 'machine', 'master', 'bridge', 'up');
    await systemExec('ip', ['address', 'add', `${this.gateway}/24`, 'dev', this.link]);
    await systemExec('ip', ['link', 'set', this.link, 'up']);
  }

  port(index: number) {
    return {
      address: `${range}.${this.#octet}.${10 + index}`,
      prefix: 24,
      gateway: this.gateway,
      plug: async (namespace: string) => {
        const port = portName(index);
        await this.#ip('link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
        await this.#ip('link', 'set', port, 'master', 'bridge', 'up');
      },
    };
  }

  async set(index: number, state: 'up' | 'down'): Promise<void> {
    await this.#ip('link', 'set', 'dev', portName(index), state);
  }

  /** Resolves when every part of the link is removed. */
  async remove(): Promise<void> {
    if (existsSync(`/run/netns/${this.namespace}`)) {
      await systemExec('ip', ['netns', 'delete', this.namespace]);
    }
    letGo({ kind: 'namespace', name: this.namespace });
    // The link is removed with the namespace of its other end, a moment later.
    await deleteLink(systemExec, this.link);
    await waitFor(`the end of ${this.link}`, () => !existsSync(`/sys/class/net/${this.link}`));
  }

  async #ip(...args: string[]): Promise<void> {
    await systemExec('ip', ['-netns', this.namespace, ...args]);
  }
}

const portName = (index: number) => `host${index}`;

/**
 * Returns one line for each remaining part of a run; the link is left out, since another run may have its
 * name by now.
 */
function leftBehind(directories: readonly string[]): string[] {
  return [
    ...directories.filter((path) => existsSync(path)),
    ...directories.flatMap(mountsBelow),
    ...directories.flatMap((path) => processesNaming(path).map((pid) => `process ${pid} on ${path}`)),
  ].map((what) => `left behind: ${what}`);
}
