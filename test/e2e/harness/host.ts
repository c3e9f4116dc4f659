/**
 * A host of a test: a network namespace with a Docker engine in it, linked to this machine only, or to a link
 * that it shares with other hosts (hosts.ts). It has its own ports, firewall rules, links and containers, and
 * its engine may be killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { removeAll } from '../../fixtures/remove-all.ts';
import { letGo, makeDirectory } from './belongings.ts';
import type { Cleanup } from './cluster.ts';
import { helloImage, makeImages } from './images.ts';
import { claimNamespace } from './namespace.ts';
import { processesNaming } from './processes.ts';
import { takeAway } from './take-away.ts';
import { waitFor } from './wait-for.ts';

export interface HostOptions {
  /** Additional flags for dockerd. */
  readonly dockerFlags?: readonly string[];
  /** Images copied from this machine's engine. */
  readonly images?: readonly string[];
  /** False for a host without an engine. */
  readonly docker?: boolean;
  /**
   * Size of a separate file system for the engine's data, such as `300m`; by default the data is on this
   * machine's file system.
   */
  readonly dockerDisk?: string;
  /** Link of the host; by default a link of its own to this machine. */
  readonly port?: HostPort;
}

/** The link of a host's eth0. */
export interface HostPort {
  /** Address at which this machine, and every host on the same link, reaches the host. */
  readonly address: string;
  readonly prefix: number;
  /** This machine's address on the link, which is the host's default gateway. */
  readonly gateway: string;
  /** Creates eth0 in the host's namespace, and connects its other end. */
  plug(namespace: string): Promise<void>;
}

/** Images of some hundred megabytes take a while on a busy machine. */
const imagesTimeoutMs = 300_000;

export class Host implements Cleanup {
  readonly name: string;
  readonly directory: string;
  /** Addresses of the host and of this machine on their link. */
  readonly address: string;
  readonly gateway: string;
  readonly dockerSocket: string;
  readonly #flags: readonly string[];
  readonly #port: HostPort;
  readonly #closers: (() => Promise<void>)[] = [];
  #containerd: ChildProcess | undefined;
  #dockerd: ChildProcess | undefined;

  private constructor({ dockerFlags = [], port }: HostOptions) {
    const { name, number } = claimNamespace('mk8s-e2e-', 2 ** 14);
    this.name = name;
    this.directory = makeDirectory('minik8s-host-');
    this.#port = port ?? ownLink(number);
    this.address = this.#port.address;
    this.gateway = this.#port.gateway;
    this.dockerSocket = join(this.directory, 'docker.sock');
    this.#flags = dockerFlags;
  }

  /** Resolves when the engine answers and has the images; everything is removed at the end of the test. */
  static async start(cleanup: Cleanup, options: HostOptions = {}): Promise<Host> {
    const { images = [helloImage], docker = true } = options;
    if (docker && images.includes(helloImage)) await makeImages();
    const host = new Host(options);
    cleanup.after(() => host.#destroy());
    await host.#join();
    if (!docker) return host;
    if (options.dockerDisk !== undefined) await host.#mountDisk(options.dockerDisk);
    await host.startDocker();
    const archive = join(host.directory, 'images.tar');
    if (images.length === 0) return host;
    await systemExec('docker', ['save', '-o', archive, ...images], { timeoutMs: imagesTimeoutMs });
    const load = ['-H', `unix://${host.dockerSocket}`, 'load', '-i', archive];
    await systemExec(...host.command('docker', load), { timeoutMs: imagesTimeoutMs });
    rmSync(archive);
    return host;
  }

  /** Registers a function that is called before the host is removed; the last one is called first. */
  after(fn: () => Promise<void>): void {
    this.#closers.push(fn);
  }

  /** Returns a command and its arguments in the form in which this machine runs them on the host. */
  command(program: string, args: readonly string[]): [string, string[]] {
    // `ip netns exec` would hide the control groups, without which dockerd fails.
    return ['nsenter', [`--net=/run/netns/${this.name}`, program, ...args]];
  }

  /** Returns the standard output of a command on the host. */
  async run(program: string, ...args: string[]): Promise<string> {
    return (await systemExec(...this.command(program, args), { timeoutMs: 60_000 })).stdout.trim();
  }

  docker(...args: string[]): Promise<string> {
    return this.run('docker', '-H', `unix://${this.dockerSocket}`, ...args);
  }

  /**
   * Returns the page at an address such as `10.96.0.20:80`, requested from the host over a new connection.
   */
  page(address: string): Promise<string> {
    return this.run('curl', '-sS', '--max-time', '2', `http://${address}/`);
  }

  /** Listens on the port, for one connection, until the returned function is called. */
  async take(port: string): Promise<() => Promise<void>> {
    const child = this.spawn('busybox', ['nc', '-l', '-p', port]);
    await waitFor(`a listener on port ${port}`, () =>
      this.run('ss', '-Hltn', `sport = :${port}`).then(Boolean),
    );
    return () => end(child, 'SIGTERM');
  }

  /** Directory of the engine's images and containers. */
  get dockerData(): string {
    return join(this.directory, 'data');
  }

  /**
   * Returns the processes that name the host's directory: its engine, and processes that use data below it.
   */
  processes(): number[] {
    return processesNaming(this.directory);
  }

  /** Starts containerd as a separate service, as distributions do; a killed dockerd leaves it running. */
  async startDocker(): Promise<void> {
    const at = (name: string) => join(this.directory, name);
    const containerd = at('containerd.sock');
    this.#containerd ??= this.spawn('containerd', [
      ...['--root', at('containerd'), '--state', at('containerd-state'), '--address', containerd],
    ]);
    const child = this.spawn('dockerd', [
      ...['--data-root', this.dockerData, '--exec-root', at('exec'), '--pidfile', at('docker.pid')],
      ...['--containerd', containerd, '-H', `unix://${this.dockerSocket}`, ...this.#flags],
    ]);
    this.#dockerd = child;
    await waitFor('dockerd', async () => {
      if (child.exitCode !== null) throw new Error(readFileSync(at('dockerd.log'), 'utf8').slice(-1000));
      return (await this.docker('version')) !== '';
    });
  }

  async killDocker(): Promise<void> {
    await end(this.#dockerd, 'SIGKILL');
    this.#dockerd = undefined;
  }

  /**
   * Writes the output to a file named after the program. The process should end with the test; otherwise it
   * is killed with the host.
   */
  spawn(program: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.directory, `${basename(program)}.log`), 'a');
    try {
      return spawn(...this.command(program, args), { stdio: ['ignore', log, log] });
    } finally {
      closeSync(log);
    }
  }

  async #mountDisk(size: string): Promise<void> {
    mkdirSync(this.dockerData, { mode: 0o710 });
    await systemExec('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', this.dockerData]);
  }

  async #join(): Promise<void> {
    const { address, prefix } = this.#port;
    await this.#port.plug(this.name);
    await this.run('ip', 'link', 'set', 'lo', 'up');
    await this.run('ip', 'address', 'add', `${address}/${prefix}`, 'dev', 'eth0');
    await this.run('ip', 'link', 'set', 'eth0', 'up');
    await this.run('ip', 'route', 'add', 'default', 'via', this.gateway);
  }

  async #destroy(): Promise<void> {
    const failures: unknown[] = [];
    const attempt = async (step: () => unknown) => {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    };
    for (const close of this.#closers.reverse()) await attempt(close);
    await attempt(() => this.#removeContainers());
    await attempt(() => end(this.#dockerd, 'SIGTERM'));
    await attempt(() => end(this.#containerd, 'SIGTERM'));
    // Processes that a killed engine left are not children of this process.
    const namespace = { kind: 'namespace', name: this.name } as const;
    await attempt(() => {
      takeAway([{ kind: 'directory', path: this.directory }, namespace]);
      letGo(namespace);
    });
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
  }

  async #removeContainers(): Promise<void> {
    if (this.#dockerd === undefined) return;
    await removeAll({
      list: async () => (await this.docker('ps', '--all', '--quiet')).split('\n').filter(Boolean),
      remove: (ids) => this.docker('rm', '--force', '--volumes', ...ids),
      clock: systemClock,
    });
  }
}

/** Each link has four addresses, from the range for tests between networks (RFC 2544). */
function ownLink(id: number): HostPort {
  const network = `198.18.${id >> 6}.`;
  const gateway = `${network}${(id & 63) * 4 + 1}`;
  return {
    address: `${network}${(id & 63) * 4 + 2}`,
    prefix: 30,
    gateway,
    async plug(namespace) {
      const link = `e2e${id}`;
      await systemExec('ip', [
        'link',
        'add',
        link,
        'type',
        'veth',
        'peer',
        'name',
        'eth0',
        'netns',
        namespace,
      ]);
      await systemExec('ip', ['address', 'add', `${gateway}/30`, 'dev', link]);
      await systemExec('ip', ['link', 'set', link, 'up']);
    },
  };
}

/** Signals a process, kills it if it has not ended after 60 s, and resolves when it has ended. */
export async function end(child: ChildProcess | undefined, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  const limit = setTimeout(() => child.kill('SIGKILL'), 60_000);
  await exit;
  clearTimeout(limit);
}
