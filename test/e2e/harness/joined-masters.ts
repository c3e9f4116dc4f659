/** Masters with the embedded etcd, each on a host of its own, which join one another by printed lines. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { executable } from './cluster.ts';
import { type End, endOf } from './end-of.ts';
import type { Hosts } from './hosts.ts';
import { Master, ready } from './masters.ts';
import { killIfThere, processesNaming, programOf } from './processes.ts';
import { waitFor } from './wait-for.ts';

/** Parts of the line that `minik8s token create --master` prints. */
export interface JoinLine {
  readonly token: string;
  readonly servers: string;
  readonly hash: string;
}

/** A master that joins another one, or starts a cluster if it has no command for joining. */
export class JoinedMaster extends Master {
  readonly name: string;
  readonly #config: string;
  readonly #command: (args: readonly string[]) => [string, string[]];

  constructor(hosts: Hosts, index: number, name = `m${index + 1}`) {
    const host = hosts.at(index);
    const config = join(host.directory, 'master.yaml');
    super(host, name, 6443, ['--config', config, `--master-name=${name}`]);
    this.name = name;
    this.#config = config;
    this.#command = (args) => host.command(executable, args);
    writeFileSync(config, '', { mode: 0o600 });
  }

  /** Settings of the master's file, which replace the previous ones. */
  configure(line: JoinLine | undefined): void {
    const text = line ? `join: ${line.servers}\ntoken: ${line.token}\nca-cert-hash: ${line.hash}\n` : '';
    writeFileSync(this.#config, text, { mode: 0o600 });
  }

  async startWith(line: JoinLine | undefined): Promise<void> {
    this.configure(line);
    await this.role.start(ready);
  }

  /** Runs a command of the executable on the master's machine. */
  minik8s(...args: string[]): Promise<End> {
    return endOf(this.#command(args));
  }

  /** Creates a token for a further master. */
  async invite(): Promise<JoinLine> {
    const kubeconfig = join(this.dataDir, 'admin.conf');
    const { stdout, stderr } = await this.minik8s('token', 'create', '--master', '--kubeconfig', kubeconfig);
    const line = /^MINIK8S_TOKEN=(\S+) minik8s master --join (\S+) --ca-cert-hash (\S+)\n$/.exec(stdout);
    assert.ok(line, stdout + stderr);
    const [, token = '', servers = '', hash = ''] = line;
    return { token, servers, hash };
  }

  /** Resolves when this many masters vote, and all of them answer. */
  async untilAllVote(count: number): Promise<void> {
    await waitFor(
      `${count} masters that vote`,
      async () => {
        const lines = await this.list();
        return lines.length === count && lines.every((line) => / voter +yes/.test(line));
      },
      { timeoutMs: 120_000 },
    );
  }

  /** Returns the process ids of its etcd: one, or none between two starts. */
  etcds(): readonly number[] {
    return processesNaming(this.dataDir).filter((pid) => programOf(pid) === 'etcd');
  }

  /** Kills the master and its etcd without a warning. */
  async kill(): Promise<void> {
    const pids = this.etcds();
    const ended = this.role.end('SIGKILL');
    for (const pid of pids) killIfThere(pid);
    await ended;
  }

  /** Returns the lines of `minik8s masters list`, without the heading. */
  async list(): Promise<readonly string[]> {
    const { stdout, stderr } = await this.minik8s('masters', 'list', '--data-dir', this.dataDir);
    assert.equal(stderr, '');
    return stdout.trimEnd().split('\n').slice(1);
  }
}
