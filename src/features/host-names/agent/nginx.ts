/** The web server of this node: one container, whose configuration is tested before use. */
import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Clock, sleep } from '../../../base/clock.ts';
import { RuntimeError } from '../../../docker/runtime-error.ts';
import type { Engine } from './engine.ts';
import { NotServedError, orNotServed } from './not-served.ts';
import { renderNginx, statusHost } from './render-nginx.ts';
import type { HostRoutes } from './routes.ts';

export interface NginxOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Name of the container, which must be unique on a shared engine. */
  readonly container: string;
  /** An image with a program `nginx` in its path. */
  readonly image: string;
  /** Directory on this machine; the container can read it, but not write to it. */
  readonly directory: string;
  readonly port: number;
  /** Rejects with one line if another program on this machine listens on the port. */
  readonly requireFreePort: (port: number) => Promise<void>;
}

const mountPoint = '/minik8s';
const file = 'nginx.conf';
const candidate = 'nginx.conf.new';
const imageLabel = 'minik8s.io/nginx-image';
const startMs = 15_000;
const reloadMs = 15_000;
const lookMs = 50;

export class Nginx {
  readonly #options: NginxOptions;

  constructor(options: NginxOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the server uses these routes; open connections are served to their end. Rejects with a
   * NotServedError if the cause is known.
   */
  async serve(hosts: readonly HostRoutes[]): Promise<void> {
    await this.#requireRunning();
    const { config, generation } = this.#render(hosts);
    if ((await this.#generation()) === generation) return;
    const { engine, container, directory } = this.#options;
    await writeFile(join(directory, candidate), config);
    const run = async (what: string, ...args: string[]) => {
      const { code, output } = await engine.exec(container, ['nginx', ...args]);
      if (code !== 0)
        throw new NotServedError('ConfigurationRefused', `nginx ${what}: ${firstProblem(output)}`);
    };
    await run('refuses its configuration', '-t', '-c', `${mountPoint}/${candidate}`);
    await rename(join(directory, candidate), join(directory, file));
    // The engine's own signal is not used: Docker takes any signal for a stop, and would not restart the
    // container when it ends.
    await run('does not load its configuration', '-s', 'reload', '-c', `${mountPoint}/${file}`);
    await this.#until(generation, reloadMs);
  }

  async remove(): Promise<void> {
    await this.#options.engine.remove(this.#options.container);
  }

  async #requireRunning(): Promise<void> {
    const { engine, container, image, directory, port } = this.#options;
    const state = await engine.inspect(container);
    if (state?.running && state.labels[imageLabel] === image) return;
    if (state) await engine.remove(container);
    await orNotServed('PortTaken', () => this.#options.requireFreePort(port));
    const { config, generation } = this.#render([]);
    await mkdir(directory, { recursive: true, mode: 0o755 });
    await writeFile(join(directory, file), config);
    const spec = {
      image,
      entrypoint: ['nginx', '-c', `${mountPoint}/${file}`, '-g', 'daemon off;'],
      labels: { [imageLabel]: image },
      binds: [`${directory}:${mountPoint}:ro`],
    };
    await orNotServed('WebServerNotStarted', () => engine.start(container, spec), wayOut);
    await this.#until(generation, startMs);
  }

  /** The generation is a hash of the configuration's text, so that equal configurations need no reload. */
  #render(hosts: readonly HostRoutes[]): { readonly config: string; readonly generation: string } {
    const { port } = this.#options;
    const hash = createHash('sha256').update(renderNginx(hosts, { port, generation: '' }));
    const generation = hash.digest('hex').slice(0, 16);
    return { config: renderNginx(hosts, { port, generation }), generation };
  }

  async #until(generation: string, limitMs: number): Promise<void> {
    const { clock, engine, container } = this.#options;
    const deadline = clock.now() + limitMs;
    while ((await this.#generation()) !== generation) {
      if (clock.now() >= deadline) {
        const problem = firstProblem(await engine.logs(container));
        const what = `nginx does not apply its configuration${problem && `: ${problem}`}`;
        throw new NotServedError('ConfigurationRefused', what);
      }
      await sleep(clock, lookMs);
    }
  }

  /** Resolves to the generation of the running server; undefined if no server answers. */
  #generation(): Promise<string | undefined> {
    const { port } = this.#options;
    return new Promise((resolve) => {
      const headers = { host: statusHost, connection: 'close' };
      const options = { host: '127.0.0.1', port, path: '/generation', headers, agent: false, timeout: 2000 };
      const call = get(options, (response) => text(response).then(resolve, () => resolve(undefined)));
      call.once('timeout', () => call.destroy());
      call.once('error', () => resolve(undefined));
    });
  }
}

/**
 * Returns the remedy for an image that cannot be pulled; undefined for other failures, whose message includes
 * the remedy.
 */
const wayOut = (error: unknown) =>
  error instanceof RuntimeError && error.reason === 'PullFailed'
    ? 'load the image into Docker on this node, or start the node with another --nginx-image'
    : undefined;

const firstProblem = (output: string) => {
  const lines = output.split(/\r?\n/).map((line) => line.trim());
  return lines.find((line) => /\[emerg\]|\[alert\]/.test(line)) ?? lines.at(-1) ?? '';
};
