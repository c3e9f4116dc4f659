/** An etcd with three members, each of which can be killed, frozen and started again. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { end, type Host } from './host.ts';
import { waitFor } from './wait-for.ts';

/** Place of a member; its peer port is the port after its client port. */
interface Place {
  readonly host: Host;
  readonly address: string;
  readonly port: number;
}

const ports = [2379, 2389, 2399] as const;
const peerOf = ({ address, port }: Place) => `http://${address}:${port + 1}`;
const endpointOf = ({ address, port }: Place) => `http://${address}:${port}`;

export class EtcdCluster {
  readonly members = ports.map((_, index) => index);
  readonly #places: readonly Place[];
  readonly #processes = new Map<number, ChildProcess>();

  private constructor(places: readonly Place[]) {
    this.#places = places;
  }

  /** All members on one host, where nothing else reaches them. */
  static on(host: Host): EtcdCluster {
    return new EtcdCluster(ports.map((port) => ({ host, address: '127.0.0.1', port })));
  }

  /** One member on each of three hosts. */
  static over(hosts: readonly Host[]): EtcdCluster {
    if (hosts.length !== ports.length) throw new Error(`${ports.length} members need as many hosts`);
    return new EtcdCluster(hosts.map((host) => ({ host, address: host.address, port: ports[0] })));
  }

  /** The flag with which minik8s connects to it. */
  get flag(): string {
    return `--etcd-endpoints=${this.#places.map(endpointOf).join(',')}`;
  }

  /** Resolves when every member answers. */
  async start(): Promise<void> {
    for (const member of this.members) this.#spawn(member);
    for (const member of this.members) await this.#answers(member);
  }

  /** Resolves when the member answers; it must have a majority with the other members. */
  async restart(member: number): Promise<void> {
    this.#spawn(member);
    await this.#answers(member);
  }

  /** Starts the member without waiting for an answer. */
  revive(member: number): void {
    this.#spawn(member);
  }

  async kill(member: number): Promise<void> {
    await end(this.#processes.get(member), 'SIGKILL');
  }

  freeze(member: number): void {
    this.#processes.get(member)?.kill('SIGSTOP');
  }

  thaw(member: number): void {
    this.#processes.get(member)?.kill('SIGCONT');
  }

  /** Drops packets from and to the member's clients, without closing connections. */
  cutOff(member: number): Promise<void> {
    return this.#filter('-I', member);
  }

  async rejoin(member: number): Promise<void> {
    await this.#filter('-D', member);
  }

  async #filter(act: '-I' | '-D', member: number): Promise<void> {
    const { host, port } = this.#place(member);
    for (const end of ['--sport', '--dport']) {
      await host.run('iptables', '-w', act, 'INPUT', '-p', 'tcp', end, String(port), '-j', 'DROP');
    }
  }

  /**
   * Drops packets between the member and the other members; its clients still reach it. Each member must have
   * its own host.
   */
  async isolate(member: number): Promise<void> {
    const { host, port } = this.#place(member);
    if (this.#places.some((other) => other.host === host && other.port !== port))
      throw new Error('members on one host cannot be separated');
    for (const chain of ['INPUT', 'OUTPUT']) {
      for (const end of ['--sport', '--dport'])
        await host.run('iptables', '-w', '-I', chain, '-p', 'tcp', end, String(port + 1), '-j', 'DROP');
    }
  }

  /** Endpoint of a member for its clients. */
  endpoint(member: number): string {
    return endpointOf(this.#place(member));
  }

  /** Returns the member to which a process on the single host is connected. */
  async memberOf(pid: number): Promise<number> {
    const connections = await this.#place(0).host.run('ss', '-Htnp', 'state', 'established');
    const index = this.#places.findIndex(({ port }) =>
      connections.split('\n').some((line) => line.includes(`:${port} `) && line.includes(`pid=${pid},`)),
    );
    if (index < 0) throw new Error(`process ${pid} has no connection to etcd:\n${connections}`);
    return index;
  }

  #place(member: number): Place {
    const place = this.#places[member];
    if (!place) throw new Error(`there is no member ${member}`);
    return place;
  }

  async #answers(member: number): Promise<void> {
    const place = this.#place(member);
    await waitFor(`etcd member ${member}`, async () =>
      (await place.host.run('curl', '-sS', '--max-time', '2', `${endpointOf(place)}/health`)).includes(
        '"true"',
      ),
    );
  }

  #spawn(member: number): void {
    const place = this.#place(member);
    const [client, peer] = [endpointOf(place), peerOf(place)];
    const cluster = this.#places.map((each, index) => `m${index}=${peerOf(each)}`).join(',');
    const child = place.host.spawn('etcd', [
      ...['--name', `m${member}`, '--data-dir', join(place.host.directory, `etcd-${member}`)],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', cluster, '--log-level=warn'],
    ]);
    this.#processes.set(member, child);
    place.host.after(async () => {
      child.kill('SIGCONT');
      await end(child, 'SIGKILL');
    });
  }
}
