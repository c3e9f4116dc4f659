/** A Docker engine of a test's own, which the test kills, stops and restarts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { systemExec } from '../../../src/os/exec.ts';
import { letGo } from '../../e2e/harness/belongings.ts';
import { takeAway } from '../../e2e/harness/take-away.ts';
import { eventually } from './node-harness.ts';

/** A Docker as distributions set it up: containerd is a service of its own, so containers outlive dockerd. */
export class OwnDocker {
  readonly directory: string;
  readonly socketPath: string;
  /** A bridge of its own; otherwise dockerd would use the machine's docker0, or remove it with `none`. */
  readonly #bridge = `it-br${process.pid}`;
  readonly #options: readonly string[];
  #containerd: ChildProcess | undefined;
  #dockerd: ChildProcess | undefined;

  constructor(directory: string, options: readonly string[]) {
    this.directory = directory;
    this.#options = options;
    this.socketPath = join(directory, 'docker.sock');
  }

  /** Starts the parts that do not run already. */
  async start(): Promise<void> {
    if (this.#dockerd && this.#dockerd.exitCode === null && this.#dockerd.signalCode === null) return;
    const at = (name: string) => join(this.directory, name);
    if (!this.#containerd) {
      const batch = `link add name ${this.#bridge} type bridge\naddress add 10.232.0.1/24 dev ${this.#bridge}\n`;
      await systemExec('ip', ['-batch', '-'], { input: batch });
    }
    this.#containerd ??= await this.#spawn('containerd', [
      ...['--root', at('containerd'), '--state', at('containerd-state'), '--address', at('containerd.sock')],
    ]);
    this.#dockerd = await this.#spawn('dockerd', [
      ...['--data-root', at('data'), '--exec-root', at('exec'), '--pidfile', at('pid')],
      ...['--containerd', at('containerd.sock'), '-H', `unix://${this.socketPath}`],
      ...['--bridge', this.#bridge, '--iptables=false', '--ip-masq=false', ...this.#options],
    ]);
    await eventually(() => systemExec('docker', ['-H', `unix://${this.socketPath}`, 'version']));
  }

  async kill(): Promise<void> {
    await end(this.#dockerd, 'SIGKILL');
  }

  /** Stops the engine as `systemctl stop docker` does; without live-restore its containers end first. */
  async stop(): Promise<void> {
    await end(this.#dockerd, 'SIGTERM');
  }

  async close(): Promise<void> {
    await end(this.#dockerd, 'SIGTERM');
    await end(this.#containerd, 'SIGTERM');
    await systemExec('ip', ['link', 'delete', 'dev', this.#bridge]);
    // Shims of containers that a killed engine left are not children of these processes.
    const directory = { kind: 'directory', path: this.directory } as const;
    takeAway([directory]);
    letGo(directory);
  }

  async #spawn(program: string, args: readonly string[]): Promise<ChildProcess> {
    await using log = await open(join(this.directory, `${program}.log`), 'a');
    return spawn(program, args, { stdio: ['ignore', log.fd, log.fd] });
  }
}

async function end(child: ChildProcess | undefined, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
