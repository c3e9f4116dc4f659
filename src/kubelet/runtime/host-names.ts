/**
 * The host names of containers that joined a sandbox made before its pod was known: Docker cannot name them, so they wait for it in
 * their first program (pause.c), five seconds at most, and are named from outside once they run.
 */
import type { Exec } from '../../base/exec.ts';
import { call, unlessGone } from '../../docker/call.ts';
import type { Docker } from '../../docker/client.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import { labels } from './docker-config.ts';

export interface HostNamesOptions {
  /** Only of containers that carry this one. */
  readonly owner: string;
  /** The pause program on this machine. */
  readonly initPath: string;
  readonly exec: Exec;
}

export class HostNames {
  readonly #docker: Docker;
  readonly #options: HostNamesOptions;

  constructor(docker: Docker, options: HostNamesOptions) {
    this.#docker = docker;
    this.#options = options;
  }

  /** Nothing is done for a container that has its name from Docker, or does not run any more. */
  async set(id: string): Promise<void> {
    const hostname = await this.#awaited(id);
    if (hostname === undefined) return;
    try {
      await this.#options.exec(this.#options.initPath, ['sethostname', String(hostname.pid), hostname.name]);
    } catch (error) {
      // A container that still runs has not been named.
      if (await this.#awaited(id))
        throw new RuntimeError('Failed', `cannot name container ${id.slice(0, 12)}`, { cause: error });
    }
  }

  /** Names all that run: who started one, this agent or the engine, may have been killed before it was named. */
  async setAll(): Promise<void> {
    const label = [`${labels.owner}=${this.#options.owner}`, labels.hostname];
    const filters = { label, status: ['running'] };
    const found = await call('list containers', () => this.#docker.listContainers({ filters }));
    await Promise.all(found.map(({ Id }) => this.set(Id)));
  }

  async #awaited(id: string): Promise<{ readonly pid: number; readonly name: string } | undefined> {
    const info = await unlessGone(call('inspect', () => this.#docker.getContainer(id).inspect()));
    const name = info?.Config.Labels[labels.hostname];
    return info?.State.Running && name !== undefined ? { pid: info.State.Pid, name } : undefined;
  }
}
