/**
 * A host as a machine with only Docker, without kubectl. Programs on it have their own /etc, /var and /run
 * under the usual names, and their own host name. It is used for instructions to users, which name these
 * places.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ExecOptions, type ExecResult, systemExec } from '../../../src/os/exec.ts';
import { executable } from './cluster.ts';
import { end, type Host } from './host.ts';
import { killIfThere } from './processes.ts';
import { waitFor } from './wait-for.ts';

/** The files of the repository that a user has copied to each machine. */
const repository = join(import.meta.dirname, '../../..');

/** Mounts overlays over the machine's own places: the lower layers are not changed by writes. */
const mounts = (directory: string, name: string) => `
  set -e
  hostname ${name}
  for place in etc var; do
    mount -t overlay overlay -o lowerdir=/$place,upperdir=${directory}/$place,workdir=${directory}/$place.work /$place
  done
  # A whiteout hides kubectl, which this machine has for other tests.
  mknod -m 0 ${directory}/usr-bin/kubectl c 0 0
  mount -t overlay overlay -o lowerdir=/usr/bin,upperdir=${directory}/usr-bin,workdir=${directory}/usr-bin.work /usr/bin
  mount -t tmpfs tmpfs /run
  # An engine cannot keep its images on an overlay.
  for place in docker containerd minik8s; do
    mkdir -p /var/lib/$place
    mount --bind ${directory}/$place /var/lib/$place
  done
  rm -rf /etc/minik8s
  ln -s ${executable} ${directory}/bin/minik8s
  mount --bind ${directory}/bin /usr/local/bin
  echo mounted
  exec sleep infinity
`;

/**
 * Removes all containers. The engine fails once in a while because a log is still written into a directory
 * that it removes; the next attempt then removes the rest.
 */
const removeContainers = `
remove() { docker ps --all --quiet | xargs --no-run-if-empty docker rm --force --volumes; }
remove || { sleep 1; remove; }
`;

export class BareMachine {
  readonly name: string;
  readonly #host: Host;
  #holder: ChildProcess | undefined;

  private constructor(name: string, host: Host) {
    this.name = name;
    this.#host = host;
  }

  /**
   * Starts on a host that was created without an engine; resolves when Docker answers. The machine ends
   * before the host does.
   */
  static async start(name: string, host: Host): Promise<BareMachine> {
    const machine = new BareMachine(name, host);
    host.after(() => machine.#end());
    const directory = join(host.directory, 'places');
    const overlays = ['etc', 'var', 'usr-bin'].flatMap((place) => [place, `${place}.work`]);
    for (const place of [...overlays, 'docker', 'containerd', 'minik8s', 'bin'])
      mkdirSync(join(directory, place), { recursive: true });
    await machine.#hold(mounts(directory, name));
    await machine.run('setsid dockerd >/var/log/dockerd.log 2>&1 </dev/null &');
    await waitFor(`dockerd of ${name}`, () => machine.run('docker version').then(() => true), {
      timeoutMs: 60_000,
    });
    return machine;
  }

  /**
   * Runs a script as a user would type it there, in the folder with the repository's files; rejects when bash
   * fails.
   */
  run(script: string, options: ExecOptions = {}): Promise<ExecResult> {
    const pid = this.#holder?.pid;
    if (pid === undefined) throw new Error(`${this.name} is not running`);
    const place = ['--target', String(pid), '--mount', '--uts', '--net', `--wd=${repository}`];
    return systemExec('nsenter', [...place, 'bash', '-euo', 'pipefail', '-c', script], {
      timeoutMs: 60_000,
      env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' },
      ...options,
    });
  }

  /** Starts a process that keeps the mounts while other processes start and end. */
  async #hold(script: string): Promise<void> {
    const unshare = ['unshare', '--mount', '--propagation', 'private', '--uts', 'bash', '-c', script];
    const [program, args] = this.#host.command('env', unshare);
    const holder = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#holder = holder;
    let output = '';
    holder.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    await waitFor(`the places of ${this.name}`, () => {
      if (holder.exitCode !== null) throw new Error(`the places of ${this.name} could not be made`);
      return output.includes('mounted');
    });
  }

  async #end(): Promise<void> {
    try {
      await this.run(removeContainers);
    } finally {
      await waitFor(`the end of ${this.name}`, async () => {
        const { stdout } = await systemExec('ip', ['netns', 'pids', this.#host.name]);
        const pids = stdout.split('\n').filter(Boolean).map(Number);
        const others = pids.filter((pid) => pid !== this.#holder?.pid);
        for (const pid of others) killIfThere(pid);
        return others.length === 0;
      });
      await end(this.#holder, 'SIGKILL');
    }
  }
}
