/** A real nginx of this machine, configured as on a node, and backends that answer with the request. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
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

/** Runs nginx as a process of this machine, where a node runs a container. */
function processEngine(directory: string): Engine & { stop(): Promise<void> } {
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

  serve(sites: readonly Site[], certificates: ReadonlyMap<string, string> = new Map()): Promise<ServeResult> {
    return this.#nginx.serve({ sites, certificates, wantsTls: this.ports.https !== undefined });
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
