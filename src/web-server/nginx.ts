/** The web server of this node: one container, whose configuration is tested before use. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Clock, sleep } from '../base/clock.ts';
import { RuntimeError } from '../docker/runtime-error.ts';
import { distinguishesHttp2, http2Ports, versionIn, withoutHttp2 } from './cleartext-http2.ts';
import type { Engine } from './engine.ts';
import { listenedSites, portsOfText, portsText } from './listened-ports.ts';
import { NotServedError, orNotServed } from './not-served.ts';
import { withoutRefused } from './refused.ts';
import { defaultCertificate, drainFile, renderNginx, statusHost } from './render-nginx.ts';
import type { Site } from './site.ts';

export interface NginxOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Name of the container, which must be unique on a shared engine. */
  readonly container: string;
  /** An image with a program `nginx` in its path. */
  readonly image: string;
  /** Directory on this machine; the container can read it, but not write to it. */
  readonly directory: string;
  /** Path of the directory in the container. */
  readonly mountPoint: string;
  /** Directory in the container for temporary files, such as `/tmp`. */
  readonly temporary: string;
  readonly ports: { readonly http: number; readonly https: number | undefined };
  /** True if the server listens on IPv6, too. */
  readonly ipv6?: boolean;
  /** Resolves to why a port of this machine cannot be listened on; undefined if it can. */
  readonly portProblem: (port: number) => Promise<string | undefined>;
  /** Creates a certificate with its key, in PEM, for hosts without a certificate of their own. */
  readonly makeCertificate: () => Promise<string>;
}

/** Content of the server. */
export interface Served {
  readonly sites: readonly Site[];
  /** Certificates with their keys in PEM, by the names that the sites have. */
  readonly certificates: ReadonlyMap<string, string>;
  /** True if HTTPS is served too. */
  readonly wantsTls: boolean;
}

export interface ServeResult {
  /** Reason why HTTPS is not served although a site requires it. */
  readonly httpsProblem?: string;
  /** Hosts whose routes nginx rejects; they answer 503. */
  readonly refused: readonly string[];
  /** One sentence for each other port that is not served, or not as its sites ask for. */
  readonly portProblems: readonly string[];
}

const file = 'nginx.conf';
const candidate = 'nginx.conf.new';
const imageLabel = 'minik8s.io/nginx-image';
const startMs = 15_000;
const reloadMs = 30_000;
const lookMs = 20;
/** Time after a reload in which workers of the previous configuration may still accept connections. */
const settleMs = 10_000;
/** Minimum and maximum time before a reload in which the server makes clients open new connections. */
const minDrainMs = 250;
const maxDrainMs = 1000;
const withTls = '-tls';

interface Report {
  readonly generation: string;
  /** Connections of clients, including that of this report. */
  readonly active: number;
  /** Connections of clients that wait for a request. */
  readonly waiting: number;
}

function reportOf(body: string): Report {
  const [generation = '', active, waiting] = body.split(' ');
  return { generation, active: Number(active) || 0, waiting: Number(waiting) || 0 };
}

interface Facts {
  readonly sites: readonly Site[];
  readonly httpsPort?: number;
  /** Ports besides those for HTTP and HTTPS. */
  readonly ports: readonly number[];
}

export class Nginx {
  readonly #options: NginxOptions;
  /** Configuration of the last reload, and its time. */
  #loaded: { readonly generation: string; readonly at: number } | undefined;
  /** Version of the running server; undefined until it is asked for. */
  #version: string | undefined;
  /** Sites that nginx has rejected, as texts. */
  readonly #refused = new Set<string>();

  constructor(options: NginxOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the server uses these sites; open connections are served to their end. Rejects with a
   * NotServedError if the cause is known.
   */
  async serve(wanted: Served): Promise<ServeResult> {
    await this.#requireRunning();
    const http2 = await this.#withHttp2(wanted.sites);
    const served = { ...wanted, sites: http2.sites };
    const running = await this.#running();
    await this.#writeCertificates(served.certificates);
    const https = await this.#httpsPort(served.wantsTls, running);
    const known = (site: Site) => this.#refused.has(JSON.stringify(site));
    const listened = await listenedSites(served.sites, {
      ...{ http: this.#options.ports.http, https: https.listen.httpsPort },
      ...{ wantedHttps: this.#options.ports.https, portProblem: this.#options.portProblem },
      running: portsOfText(running),
    });
    const sites = listened.sites.map((site) => (known(site) ? closed(site) : site));
    const facts = { sites, ports: listened.ports, ...https.listen };
    const accepted = await this.#accepted(facts, running);
    await this.#load(accepted, running);
    await this.#removeOldFiles(served.certificates, running);
    return {
      ...(https.problem !== undefined && { httpsProblem: https.problem }),
      refused: served.sites.filter(known).map(({ host }) => host),
      portProblems: [...listened.problems, ...http2.problems],
    };
  }

  async remove(): Promise<void> {
    await this.#options.engine.remove(this.#options.container);
  }

  /** Resolves to the sites, without HTTP/2 on ports without TLS if the server is too old for it. */
  async #withHttp2(sites: readonly Site[]) {
    const ports = http2Ports(sites);
    if (ports.length === 0) return { sites, problems: [] };
    const { engine, container, image } = this.#options;
    this.#version ??= versionIn((await engine.exec(container, ['nginx', '-v'])).output);
    if (distinguishesHttp2(this.#version)) return { sites, problems: [] };
    const old = `nginx ${this.#version ?? 'of an unknown version'} in the image ${image}`;
    const problem = (port: number) =>
      `port ${port} of this node serves gRPC by TLS only: HTTP/2 without TLS needs nginx 1.25.1, and this is ${old}`;
    return { sites: withoutHttp2(sites), problems: ports.map(problem) };
  }

  async #httpsPort(
    wantsTls: boolean,
    running: string | undefined,
  ): Promise<{ readonly listen: { readonly httpsPort?: number }; readonly problem?: string }> {
    const { https } = this.#options.ports;
    if (!wantsTls || https === undefined) return { listen: {} };
    if (running?.endsWith(withTls)) return { listen: { httpsPort: https } };
    const problem = await this.#options.portProblem(https);
    return problem === undefined
      ? { listen: { httpsPort: https } }
      : { listen: {}, problem: `port ${https} of this node ${problem}` };
  }

  /** Resolves to the facts without sites that nginx rejects. */
  async #accepted(facts: Facts, running: string | undefined): Promise<Facts> {
    if (this.#render(facts).generation === running) return facts;
    const first = await this.#test(facts);
    if (first === undefined) return facts;
    const isAccepted = async (sites: readonly Site[]) =>
      (await this.#test({ ...facts, sites })) === undefined;
    // If a configuration without sites is rejected, no site is the cause.
    if (!(await isAccepted([]))) throw new NotServedError('ConfigurationRefused', first);
    const sites = await withoutRefused(facts.sites, isAccepted);
    for (const site of facts.sites) if (!sites.includes(site)) this.#refused.add(JSON.stringify(site));
    return { ...facts, sites: facts.sites.map((site) => (sites.includes(site) ? site : closed(site))) };
  }

  /** Resolves to the problem that nginx has with the configuration. */
  async #test(facts: Facts): Promise<string | undefined> {
    const { engine, container, directory, mountPoint } = this.#options;
    await writeFile(join(directory, candidate), this.#render(facts).config, { mode: 0o644 });
    const command = ['nginx', '-t', '-c', `${mountPoint}/${candidate}`];
    const { code, output } = await engine.exec(container, command);
    return code === 0 ? undefined : `nginx rejects its configuration: ${firstProblem(output)}`;
  }

  async #load(facts: Facts, running: string | undefined): Promise<void> {
    const { engine, container, directory, mountPoint } = this.#options;
    const { config, generation } = this.#render(facts);
    if (running === generation) return;
    await writeFile(join(directory, candidate), config, { mode: 0o644 });
    await rename(join(directory, candidate), join(directory, file));
    await rm(join(directory, drainFile(generation)), { force: true });
    if (running !== undefined) await this.#drain(running);
    // The container is not signalled by the engine: Docker treats every signal as a stop, and would not
    // restart the container when it ends.
    const command = ['nginx', '-s', 'reload', '-c', `${mountPoint}/${file}`];
    const { code, output } = await engine.exec(container, command);
    if (code !== 0) {
      const what = `nginx does not load its configuration: ${firstProblem(output)}`;
      throw new NotServedError('ConfigurationRefused', what);
    }
    await this.#until(generation, reloadMs);
    this.#loaded = { generation, at: this.#options.clock.now() };
  }

  /**
   * Makes clients open new connections before a reload, which closes connections that wait for a request,
   * although a request may have been sent on one of them. Clients that receive `Connection: close` open new
   * connections; clients that send no request keep theirs.
   */
  async #drain(running: string): Promise<void> {
    const { clock, directory } = this.#options;
    await writeFile(join(directory, drainFile(running)), '', { mode: 0o644 });
    const begin = clock.now();
    const isOver = ({ active, waiting }: Report, ms: number) =>
      active <= 1 || ms >= maxDrainMs || (ms >= minDrainMs && waiting === 0);
    for (;;) {
      const report = await this.#report();
      if (!report || isOver(report, clock.now() - begin)) return;
      await sleep(clock, lookMs);
    }
  }

  async #requireRunning(): Promise<void> {
    const { engine, container, image, directory, mountPoint, ports } = this.#options;
    const state = await engine.inspect(container);
    if (state?.running && state.labels[imageLabel] === image) return;
    this.#loaded = undefined;
    this.#version = undefined;
    if (state) await engine.remove(container);
    const problem = await this.#options.portProblem(ports.http);
    if (problem !== undefined) {
      const what = `port ${ports.http} of this node ${problem}; free it: the node serves hosts on it`;
      throw new NotServedError('PortTaken', what);
    }
    await mkdir(directory, { recursive: true, mode: 0o755 });
    await this.#writeDefaultCertificate();
    const { config, generation } = this.#render({ sites: [], ports: [] });
    await writeFile(join(directory, file), config);
    const spec = {
      image,
      entrypoint: ['nginx', '-c', `${mountPoint}/${file}`, '-g', 'daemon off;'],
      labels: { [imageLabel]: image },
      binds: [`${directory}:${mountPoint}:ro`],
    };
    await orNotServed('WebServerNotStarted', () => engine.start(container, spec), remedyOf);
    await this.#until(generation, startMs);
  }

  /**
   * Returns the configuration and its generation: a hash of its text, so that an equal one needs no reload.
   */
  #render({ sites, httpsPort, ports }: Facts): { readonly config: string; readonly generation: string } {
    const facts = {
      httpPort: this.#options.ports.http,
      directory: this.#options.mountPoint,
      temporary: this.#options.temporary,
      ...(this.#options.ipv6 && { ipv6: true }),
      ...(httpsPort !== undefined && { httpsPort }),
    };
    const hash = createHash('sha256').update(renderNginx(sites, { ...facts, generation: '' }));
    const name = `${hash.digest('hex').slice(0, 16)}${portsText(ports)}`;
    const generation = `${name}${httpsPort === undefined ? '' : withTls}`;
    return { config: renderNginx(sites, { ...facts, generation }), generation };
  }

  async #writeDefaultCertificate(): Promise<void> {
    const { directory, makeCertificate } = this.#options;
    if ((await readdir(directory)).includes(defaultCertificate)) return;
    const draft = join(directory, `${defaultCertificate}.new`);
    await writeFile(draft, await makeCertificate(), { mode: 0o600 });
    await rename(draft, join(directory, defaultCertificate));
  }

  /** Writes the files that are missing; the content of a file never changes, because its name is its hash. */
  async #writeCertificates(certificates: ReadonlyMap<string, string>): Promise<void> {
    const { directory } = this.#options;
    await this.#writeDefaultCertificate();
    const present = new Set(await readdir(directory));
    for (const [name, pem] of certificates) {
      if (present.has(name)) continue;
      const draft = join(directory, `${name}.new`);
      await writeFile(draft, pem, { mode: 0o600 });
      await rename(draft, join(directory, name));
    }
  }

  /**
   * Removes certificates that are no longer used, and the drain files of earlier reloads. That of the last
   * reload stays: workers of the previous configuration still accept connections for a short time.
   */
  async #removeOldFiles(
    certificates: ReadonlyMap<string, string>,
    before: string | undefined,
  ): Promise<void> {
    const { directory } = this.#options;
    const kept = new Set([file, defaultCertificate, ...certificates.keys()]);
    if (before !== undefined) kept.add(drainFile(before));
    for (const name of await readdir(directory))
      if (/^drain-|\.(?:pem|new)$/.test(name) && !kept.has(name))
        await rm(join(directory, name), { force: true });
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

  /**
   * Resolves to the newest generation of the running server, even if a worker of the previous one would still
   * answer after a reload.
   */
  async #running(): Promise<string | undefined> {
    const loaded = this.#loaded;
    if (loaded && this.#options.clock.now() < loaded.at + settleMs) return loaded.generation;
    return this.#generation();
  }

  /** Resolves to the generation of the running server; undefined if no server answers. */
  async #generation(): Promise<string | undefined> {
    return (await this.#report())?.generation;
  }

  /** Resolves to what the running server reports; undefined if no server answers. */
  #report(): Promise<Report | undefined> {
    const { http: port } = this.#options.ports;
    return new Promise((resolve) => {
      const headers = { host: statusHost, connection: 'close' };
      const options = { host: '127.0.0.1', port, path: '/generation', headers, agent: false, timeout: 2000 };
      const call = get(options, (response) =>
        text(response).then(
          (body) => resolve(reportOf(body)),
          () => resolve(undefined),
        ),
      );
      call.once('timeout', () => call.destroy());
      call.once('error', () => resolve(undefined));
    });
  }
}

/** Returns the site with every route answered by 503. */
const closed = ({ rules: _, ...site }: Site): Site => ({
  ...site,
  routes: [{ match: { type: 'Prefix', path: '/' }, action: { type: 'unavailable' } }],
});

/**
 * Returns the remedy for an image that cannot be pulled; undefined for other failures, whose message includes
 * the remedy.
 */
const remedyOf = (error: unknown) =>
  error instanceof RuntimeError && error.reason === 'PullFailed'
    ? 'load the image into Docker on this node, or start the node with another --nginx-image'
    : undefined;

const firstProblem = (output: string) => {
  const lines = output.split(/\r?\n/).map((line) => line.trim());
  return lines.find((line) => /\[emerg\]|\[alert\]/.test(line)) ?? lines.at(-1) ?? '';
};
