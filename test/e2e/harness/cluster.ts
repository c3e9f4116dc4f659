/** The built file running as `minik8s up`, with its own data directory, which is always removed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { systemExec } from '../../../src/os/exec.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { keep, makeDirectory, sweep } from './belongings.ts';
import { readKubeConfig } from './client-node.ts';
import { fullDiskFlags } from './full-disk.ts';
import type { Host } from './host.ts';
import { makeImages } from './images.ts';
import { type Kubectl, kubectlFor } from './kubectl.ts';
import { leftovers, type MachineState, machineState, remove } from './machine.ts';
import { processesNaming, programOf } from './processes.ts';
import { RoleLog } from './role-log.ts';
import { endProcesses, takeAway } from './take-away.ts';
import { waitFor } from './wait-for.ts';

export const executable = join(import.meta.dirname, '../../../dist/minik8s');

export interface ClusterOptions {
  /** Additional flags for `up`. */
  readonly flags?: readonly string[];
  /**
   * Runs the cluster on this host with default ports, and removes it with the host. Without a host the
   * cluster runs on this machine, which requires `lockMachine`.
   */
  readonly host?: Host;
  /** PATH of the process; by default this process's. */
  readonly path?: string;
  /** Creates the data directory, but does not start the process. */
  readonly stopped?: boolean;
}

/** Cleanup of a test's context: `node:test` passes it to a test, and to a suite's hooks. */
export interface Cleanup {
  after(fn: () => Promise<void>): void;
}

export class Cluster {
  readonly dataDir: string;
  readonly port: number;
  readonly kubeletPort: number;
  readonly nodeName = 'e2e';
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  /** The built file that the next start runs. */
  program = executable;
  readonly #flags: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  readonly #host: Host | undefined;
  readonly #before: MachineState | undefined;
  #process: ChildProcess | undefined;
  readonly #log = new RoleLog('minik8s up');

  private constructor(
    dataDir: string,
    ports: readonly [number, number],
    { flags = [], host, path }: ClusterOptions,
    before?: MachineState,
  ) {
    this.dataDir = dataDir;
    [this.port, this.kubeletPort] = ports;
    this.kubeconfig = join(dataDir, 'admin.conf');
    this.kubectl = kubectlFor(this.kubeconfig);
    this.#before = before;
    this.#host = host;
    this.#flags = flags;
    this.#environment = path === undefined ? process.env : { ...process.env, PATH: path };
  }

  /**
   * Starts a cluster, waits until it reports that it is ready, and registers its removal at the end of the
   * test.
   */
  static async start(cleanup: Cleanup, options: ClusterOptions = {}): Promise<Cluster> {
    if (!existsSync(executable)) throw new Error(`${executable} is missing; run npm run build`);
    const { host, stopped = false } = options;
    if (!host) {
      await lockMachine();
      sweep();
      await makeImages();
    }
    const dataDir = makeDirectory('minik8s-e2e-', host?.directory);
    if (!host) keep({ kind: 'cluster', path: dataDir, executable });
    const ports = host ? ([6443, 10250] as const) : ([await freePort(), await freePort()] as const);
    const cluster = new Cluster(dataDir, ports, options, host ? undefined : await machineState());
    (host ?? cleanup).after(() => cluster.destroy());
    if (!stopped) await cluster.up();
    return cluster;
  }

  get url(): string {
    return `https://${this.#host?.address ?? '127.0.0.1'}:${this.port}`;
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error('minik8s is not running');
    return pid;
  }

  get running(): boolean {
    return (
      this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
    );
  }

  /** Output of all starts so far. */
  get log(): string {
    return this.#log.text;
  }

  /** Directory where device plugins register. */
  get pluginDirectory(): string {
    return `${this.dataDir}-device-plugins`;
  }

  /** Returns the program of `up` and its arguments. */
  command(): [string, string[]] {
    // The default directory belongs to the machine, which several hosts share.
    const plugins = ['--device-plugin-dir', this.pluginDirectory];
    const flags = [...plugins, ...fullDiskFlags(this.#flags), ...this.#flags];
    const args = ['up', '--node-name', this.nodeName, '--data-dir', this.dataDir, ...flags];
    if (this.#host) {
      const place = ['--bind-address', this.#host.address, '--docker-socket', this.#host.dockerSocket];
      return this.#host.command(this.program, [...args, ...place]);
    }
    return [this.program, [...args, `--port=${this.port}`, `--kubelet-port=${this.kubeletPort}`]];
  }

  /**
   * Starts the process again after a stop or a kill. Resolves when it is ready, with the milliseconds that it
   * took.
   */
  async up(timeoutMs = 180_000): Promise<number> {
    const start = performance.now();
    const options = { cwd: tmpdir(), env: this.#environment };
    const child = spawn(...this.command(), { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    this.#process = child;
    const from = this.log.length;
    const output = () => this.log.slice(from);
    this.#log.take(child.stdout);
    this.#log.take(child.stderr);
    const ready = waitFor('minik8s up', () => /^minik8s is ready: https:/m.test(output()), {
      timeoutMs,
      intervalMs: 10,
    });
    const ended = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => reject(new Error(`minik8s up ended: ${code ?? signal}`)));
    });
    try {
      await Promise.race([ready, ended]);
    } catch (error) {
      throw new Error(`${String(error)}\n${output().split('\n').slice(-20).join('\n')}`, { cause: error });
    } finally {
      ready.catch(() => undefined);
      ended.catch(() => undefined);
    }
    return performance.now() - start;
  }

  /** Ends the process with a signal; resolves to its exit status when it has ended. */
  async end(signal: NodeJS.Signals, timeoutMs = 60_000): Promise<number | null> {
    const child = this.#process;
    if (child === undefined) return null;
    this.#process = undefined;
    if (child.exitCode === null && child.signalCode === null) {
      const exit = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      const limit = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
      await exit;
      clearTimeout(limit);
    }
    return child.exitCode;
  }

  /** Runs another command of the built file; returns its standard output; throws if it fails. */
  async run(...args: string[]): Promise<string> {
    return (await systemExec(executable, args, { timeoutMs: 180_000 })).stdout;
  }

  /** Returns the processes whose arguments contain this data directory, including etcd. */
  processes(program: string): number[] {
    return processesNaming(this.dataDir).filter((pid) => programOf(pid) === program);
  }

  /** Returns the configuration of a @kubernetes/client-node client for this cluster's administrator. */
  kubeConfig(): KubeConfig {
    return readKubeConfig(this.kubeconfig);
  }

  /** Returns everything that the cluster has added to the machine since it started. */
  async leftovers(): Promise<MachineState> {
    if (this.#before === undefined)
      throw new Error('a cluster on a host of its own leaves nothing on this machine');
    return leftovers(this.#before);
  }

  /**
   * Ends the cluster and removes all of its traces, in any state; throws if its output has lines that
   * are not log lines.
   */
  async destroy(): Promise<void> {
    await this.end('SIGTERM');
    const directory = { kind: 'directory', path: this.dataDir } as const;
    endProcesses([directory]);
    if (this.#before) await remove(await this.leftovers());
    takeAway([directory, { kind: 'directory', path: this.pluginDirectory }]);
    this.#log.requireLogLines();
  }
}
