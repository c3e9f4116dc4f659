/** Three masters with the embedded etcd, each on a host of its own, and the disturbances of them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cleanup } from '../../e2e/harness/cluster.ts';
import { Hosts } from '../../e2e/harness/hosts.ts';
import { JoinedMaster } from '../../e2e/harness/joined-masters.ts';
import { killIfThere } from '../../e2e/harness/processes.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { ApiClient, credentialsIn } from './api-client.ts';
import type { Disturbance, Kind } from './plan.ts';

const mendMs = 120_000;

export class Scene {
  readonly masters: readonly JoinedMaster[];
  readonly clients: readonly ApiClient[];
  readonly #hosts: Hosts;

  private constructor(hosts: Hosts, masters: readonly JoinedMaster[]) {
    this.#hosts = hosts;
    this.masters = masters;
    const [first] = masters;
    const credentials = credentialsIn(join(first?.dataDir ?? '', 'admin.conf'));
    this.clients = masters.map(({ endpoint }) => new ApiClient(`https://${endpoint}`, credentials));
  }

  /** Resolves when all masters vote. */
  static async start(cleanup: Cleanup, count: number): Promise<Scene> {
    const hosts = await Hosts.start(cleanup, count, { docker: false });
    const masters = hosts.all.map((_, index) => new JoinedMaster(hosts, index));
    const [first, ...others] = masters;
    if (first === undefined) throw new Error('there must be a master');
    await first.startWith(undefined);
    for (const other of others) await other.startWith(await first.invite());
    const scene = new Scene(hosts, masters);
    await first.untilAllVote(count);
    return scene;
  }

  /** Disturbs a master. Resolves when the master is ready again. */
  async disturb({ kind, master: index, lastsMs }: Disturbance): Promise<void> {
    const master = this.masters[index];
    if (master === undefined) throw new Error(`there is no master ${index}`);
    await this.#act[kind](master, index, lastsMs);
    await this.#untilReady(index, kind);
  }

  close(): void {
    for (const client of this.clients) client.close();
  }

  readonly #act: Readonly<Record<Kind, (master: JoinedMaster, index: number, ms: number) => Promise<void>>> =
    {
      'kill master': async (master) => {
        await master.role.end('SIGKILL');
        await master.startWith(undefined);
      },
      'kill etcd': async (master) => {
        for (const pid of await runningEtcds(master)) killIfThere(pid);
      },
      'kill both': async (master) => {
        await master.kill();
        await master.startWith(undefined);
      },
      'freeze master': async ({ role }, _, ms) => {
        role.freeze();
        await pause(ms);
        role.thaw();
      },
      'freeze etcd': async (master, _, ms) => {
        const pids = await runningEtcds(master);
        for (const pid of pids) process.kill(pid, 'SIGSTOP');
        await pause(ms);
        for (const pid of pids) process.kill(pid, 'SIGCONT');
      },
      'cut off': async (_, index, ms) => {
        await this.#hosts.cut(this.#hosts.at(index));
        await pause(ms);
        await this.#hosts.heal(this.#hosts.at(index));
      },
      refill: async (master, index) => {
        const inviting = this.masters[(index + 1) % this.masters.length] as JoinedMaster;
        await inviting.untilAllVote(this.masters.length);
        await master.kill();
        rmSync(master.dataDir, { recursive: true });
        await master.startWith(await inviting.invite());
        master.configure(undefined);
        await inviting.untilAllVote(this.masters.length);
      },
    };

  async #untilReady(index: number, kind: Kind): Promise<void> {
    const { name, role } = this.masters[index] as JoinedMaster;
    await waitFor(`${name} to be ready after ${kind}`, () => this.clients[index]?.isReady(), {
      timeoutMs: mendMs,
      intervalMs: 100,
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${role.log.split('\n').slice(-20).join('\n')}`);
    });
  }
}

/** Waits for an etcd, which may be between two starts. */
const runningEtcds = (master: JoinedMaster) =>
  waitFor(`an etcd of ${master.name}`, () => {
    const pids = master.etcds();
    return pids.length > 0 && pids;
  });
