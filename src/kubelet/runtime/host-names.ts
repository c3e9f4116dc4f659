/**
 * Host names of containers that joined a sandbox made before its pod was known. Docker cannot set them, so
 * the container's first program waits for its name (pause.c) for at most five seconds, and the agent sets the
 * name from outside once the container runs.
 */

import { call, unlessGone } from '../../docker/call.ts';
import type { Docker } from '../../docker/client.ts';
import { RuntimeError } from '../../docker/runtime-error.ts';
import type { Exec } from '../../os/exec.ts';
import { labels } from './docker-labels.ts';

export interface HostNamesOptions {
  /** Owner label of the containers to name. */
  readonly owner: string;
  /** Path of the pause program on this machine. */
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

  /**
   * Sets a container's host name. Does nothing for a container whose name Docker sets, or that no longer
   * runs.
   */
  async set(id: string): Promise<void> {
    const hostname = await this.#awaited(id);
    if (hostname === undefined) return;
    try {
      await this.#options.exec(this.#options.initPath, ['sethostname', String(hostname.pid), hostname.name]);
    } catch (error) {
      // If the container still runs, its name is missing; if it has ended, it needs none.
      if (await this.#awaited(id))
        throw new RuntimeError('Failed', `cannot name container ${id.slice(0, 12)}`, { cause: error });
    }
  }

  /**
   * Names all running containers: the process that started one, this agent or the engine, may have been
   * killed before it was named.
   */
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
