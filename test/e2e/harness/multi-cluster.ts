/**
 * A cluster over several hosts: a master on the first host, and nodes that join it by token as a user would
 * do it.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeConfig, V1Node } from '@kubernetes/client-node';
import { readKubeConfig } from './client-node.ts';
import { type Cleanup, executable } from './cluster.ts';
import { onAFullDisk } from './full-disk.ts';
import type { Host } from './host.ts';
import { Hosts } from './hosts.ts';
import { type Kubectl, kubectlFor } from './kubectl.ts';
import { Role } from './role.ts';
import { waitFor } from './wait-for.ts';

/** Lines of a configuration file; a list or a map is written as YAML. */
export type Config = Readonly<Record<string, unknown>>;

export interface MultiClusterOptions {
  /** Default 3. */
  readonly hosts?: number;
  /** Numbers of the hosts that are nodes from the start; all by default, including the master's. */
  readonly nodes?: readonly number[];
  /** Additional flags for `master`, such as those of an external etcd. */
  readonly masterFlags?: readonly string[];
  /** Additional lines in the file of every node. */
  readonly nodeConfig?: Config;
  readonly images?: readonly string[];
  /** Additional flags for each host's dockerd. */
  readonly dockerFlags?: readonly string[];
}

export class ClusterNode {
  readonly name: string;
  readonly host: Host;
  readonly role: Role;
  readonly dataDir: string;

  constructor(name: string, host: Host, role: Role, dataDir: string) {
    this.name = name;
    this.host = host;
    this.role = role;
    this.dataDir = dataDir;
  }
}

export class MultiCluster {
  readonly hosts: Hosts;
  readonly master: Role;
  readonly masterDataDir: string;
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  readonly #nodeConfig: Config;
  readonly #nodes = new Map<string, ClusterNode>();

  private constructor(hosts: Hosts, { masterFlags = [], nodeConfig = {} }: MultiClusterOptions) {
    this.hosts = hosts;
    const host = hosts.at(0);
    this.masterDataDir = join(host.directory, 'master');
    mkdirSync(this.masterDataDir, { mode: 0o700 });
    this.master = new Role(host, ['master', '--data-dir', this.masterDataDir, ...masterFlags]);
    this.kubeconfig = join(this.masterDataDir, 'admin.conf');
    this.kubectl = kubectlFor(this.kubeconfig);
    this.#nodeConfig = nodeConfig;
  }

  /** Resolves when all nodes are Ready; everything is removed at the end of the test. */
  static async start(cleanup: Cleanup, options: MultiClusterOptions = {}): Promise<MultiCluster> {
    if (!existsSync(executable)) throw new Error(`${executable} is missing; run npm run build`);
    const { hosts: count = 3, images, dockerFlags } = options;
    const hosts = await Hosts.start(cleanup, count, {
      ...(images && { images }),
      ...(dockerFlags && { dockerFlags }),
    });
    const cluster = new MultiCluster(hosts, options);
    await cluster.master.start(/^minik8s is ready: https:/m);
    const numbers = options.nodes ?? hosts.all.map((_, index) => index);
    await Promise.all(numbers.map((number) => cluster.join(number)));
    return cluster;
  }

  /** Nodes in the order in which they joined. */
  get nodes(): readonly ClusterNode[] {
    return [...this.#nodes.values()];
  }

  node(name: string): ClusterNode {
    const node = this.#nodes.get(name);
    if (!node) throw new Error(`no node ${name} has joined; there are ${[...this.#nodes.keys()].join(', ')}`);
    return node;
  }

  /** Makes a host the node `node-NUMBER` with a new token, and waits until it is Ready. */
  async join(number: number, config: Config = {}): Promise<ClusterNode> {
    const node = await this.prepare(number, config);
    await node.role.start();
    await this.untilReady(node);
    return node;
  }

  /** Does everything that `join` does, except starting the node. */
  async prepare(number: number, config: Config = {}): Promise<ClusterNode> {
    const host = this.hosts.at(number);
    const name = `node-${number}`;
    const dataDir = join(host.directory, name);
    const file = join(host.directory, `${name}.yaml`);
    const settings: Config = {
      'node-name': name,
      'data-dir': dataDir,
      'docker-socket': host.dockerSocket,
      'node-ip': host.address,
      ...onAFullDisk,
      ...this.#nodeConfig,
      ...config,
    };
    const lines = Object.entries(settings).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
    writeFileSync(file, lines.join('') + (await this.token()), { mode: 0o600 });
    const node = new ClusterNode(name, host, new Role(host, ['node', '--config', file]), dataDir);
    this.#nodes.set(name, node);
    return node;
  }

  /** Returns the output of `minik8s token create`: the lines of a node's file for joining this cluster. */
  async token(...flags: string[]): Promise<string> {
    const args = ['token', 'create', '--kubeconfig', this.kubeconfig, ...flags];
    return `${await this.hosts.at(0).run(executable, ...args)}\n`;
  }

  /**
   * Returns the status of a node's condition Ready; undefined if the node does not exist, or no master
   * answers.
   */
  async readiness(name: string): Promise<string | undefined> {
    const node = await this.kubectl.json<V1Node>('get', 'node', name).catch(() => undefined);
    return node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  }

  async untilReady({ name, role }: ClusterNode, timeoutMs = 180_000): Promise<void> {
    const ready = async () => !role.running || (await this.readiness(name)) === 'True';
    await waitFor(`node ${name} Ready`, ready, { timeoutMs }).catch((error: Error) => {
      throw new Error(`${error.message}\n${role.log.split('\n').slice(-20).join('\n')}`);
    });
    if (!role.running) throw new Error(`minik8s node ended on ${name}\n${role.log}`);
  }

  /** Returns the configuration of a @kubernetes/client-node client for this cluster's administrator. */
  kubeConfig(): KubeConfig {
    return readKubeConfig(this.kubeconfig);
  }
}
