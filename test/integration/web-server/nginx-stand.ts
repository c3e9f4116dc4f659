/** A real nginx of this machine, configured as on a node, and backends that answer with the request. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { systemClock } from '../../../src/base/clock.ts';
import { newAuthority } from '../../../src/pki/credentials.ts';
import type { Engine } from '../../../src/web-server/engine.ts';
import { Nginx, type ServeResult } from '../../../src/web-server/nginx.ts';
import type { Site } from '../../../src/web-server/site.ts';
import { eventually } from '../../fixtures/eventually.ts';

export interface Answer {
  readonly status: number | undefined;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Address of the server; 127.0.0.1 by default. */
  readonly at?: string;
  /** Port of the server; that for HTTP by default. */
  readonly port?: number;
}

/** Number of workers that nginx starts with each configuration (src/web-server/render-nginx.ts). */
const workerCount = 2;

/** Returns the titles of the workers of a process of nginx. */
async function workerTitles(pid: number | undefined): Promise<string[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean);
  // A child that has ended in the meantime has no title.
  const titles = await Promise.all(
    children.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')),
  );
  return titles.filter((title) => title.startsWith('nginx: worker process'));
}

interface ProcessEngine extends Engine {
  /** Resolves when no worker of an earlier configuration accepts connections. */
  accepting(): Promise<void>;
  /** Resolves when no worker of an earlier configuration is left: all its connections have ended. */
  formerEnded(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs nginx as a process of this machine, where a node runs a container. */
function processEngine(directory: string): ProcessEngine {
  let child: ChildProcess | undefined;
  let labels = {};
  const args = (list: readonly string[]) => list.map((one) => one.replace(/^\/minik8s\//, `${directory}/`));
  return {
    inspect: async () => (child ? { id: 'nginx', running: child.exitCode === null, labels } : undefined),
    start: async (_, spec) => {
      labels = spec.labels;
      child = spawn('nginx', args(spec.entrypoint.slice(1)), { stdio: 'ignore' });
    },
    exec: async (_, command) => {
      try {
        const { stderr } = await promisify(execFile)('nginx', args(command.slice(1)));
        return { code: 0, output: stderr };
      } catch (error) {
        const { code, stderr } = error as { code: number; stderr: string };
        return { code, output: stderr };
      }
    },
    remove: async () => {},
    logs: async () => '',
    accepting: () =>
      eventually(systemClock, 'former workers of nginx accept no more', async () => {
        const titles = await workerTitles(child?.pid);
        return titles.filter((title) => !title.includes('is shutting down')).length === workerCount;
      }).then(() => undefined),
    formerEnded: () =>
      eventually(systemClock, 'former workers of nginx end', async () => {
        return (await workerTitles(child?.pid)).length === workerCount;
      }).then(() => undefined),
    async stop() {
      if (!child) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

export class NginxStand {
  readonly directory: string;
  readonly ports: { readonly http: number; readonly https?: number; readonly ipv6?: boolean };
  readonly #engine: ReturnType<typeof processEngine>;
  readonly #nginx: Nginx;
  readonly #backends: Server[] = [];
  /** Headers of the requests that backends have received, in their order. */
  readonly received: IncomingHttpHeaders[] = [];

  private constructor(directory: string, ports: NginxStand['ports']) {
    this.directory = directory;
    this.ports = ports;
    this.#engine = processEngine(directory);
    this.#nginx = new Nginx({
      engine: this.#engine,
      clock: systemClock,
      container: 'nginx',
      image: 'nginx',
      directory,
      mountPoint: directory,
      temporary: join(directory, 'tmp'),
      ports: { http: ports.http, https: ports.https },
      ipv6: ports.ipv6 ?? false,
      portProblem: async () => undefined,
      makeCertificate: async () => {
        const { certificate, key } = await newAuthority(Date.now(), 'default');
        return `${certificate}\n${key}`;
      },
    });
  }

  static async start(ports: NginxStand['ports']): Promise<NginxStand> {
    const directory = await mkdtemp(join(tmpdir(), 'minik8s-nginx-'));
    // Workers of nginx are not root, as in a container.
    await chmod(directory, 0o755);
    await mkdir(join(directory, 'tmp'));
    return new NginxStand(directory, ports);
  }

  /** Resolves when every new connection is served with these sites. */
  async serve(
    sites: readonly Site[],
    certificates: ReadonlyMap<string, string> = new Map(),
  ): Promise<ServeResult> {
    const wantsTls = this.ports.https !== undefined;
    const result = await this.#nginx.serve({ sites, certificates, wantsTls });
    // nginx ends the workers of the configuration before this one a tenth of a second after it starts others.
    await this.#engine.accepting();
    return result;
  }

  /** Resolves when no connection is served with an earlier configuration; they must have ended. */
  formerEnded(): Promise<void> {
    return this.#engine.formerEnded();
  }

  /** Starts a backend that answers with its name and the request; returns its address. */
  async backend(name: string): Promise<string> {
    const server = createServer(async (incoming, response) => {
      const { url, headers } = incoming;
      this.received.push(headers);
      const shown = [headers.host, headers['x-forwarded-prefix'] ?? '-', headers['x-forwarded-host']];
      const body = await text(incoming);
      response.setHeader('X-Received', JSON.stringify({ headers, bytes: body.length }));
      response.end(`${name} ${url} ${shown.join(' ')}`);
    });
    this.#backends.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert(typeof address === 'object' && address);
    return `127.0.0.1:${address.port}`;
  }

  ask(
    host: string,
    path: string,
    { method = 'GET', headers = {}, body, at = '127.0.0.1', port = this.ports.http }: Ask = {},
  ): Promise<Answer> {
    const options = { host: at, port, path, method, agent: false };
    return new Promise((resolve, reject) => {
      const call = request({ ...options, headers: { host, ...headers } }, (response) => {
        text(response).then(
          (read) => resolve({ status: response.statusCode, body: read.trim(), headers: response.headers }),
          reject,
        );
      });
      call.once('error', reject);
      call.end(body);
    });
  }

  async stop(): Promise<void> {
    await this.#engine.stop();
    for (const server of this.#backends) server.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}
