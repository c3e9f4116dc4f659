/**
 * The API server under load: lists and Tables of everything, thousands of watches, watches that are never
 * read, and unauthenticated connections. The results are the latency of a probe meanwhile, and the memory
 * afterwards.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:https';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import type { KubeObject } from '../../src/apimachinery/meta.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { issueCertificate, type KeyAndCertificate } from '../../src/pki/x509.ts';
import { encodeObject } from '../../src/storage/codec.ts';
import { startEmbeddedEtcd } from '../../src/storage/embedded-etcd.ts';
import { etcdBinary } from '../fixtures/etcd-binary.ts';
import type { ClientsAnswer, ClientsTask } from './load-clients.ts';
import { type BenchMaster, withMaster } from './master.ts';
import type { Benchmark, Row } from './report.ts';
import { usageOf } from './usage.ts';

const objects = Number(process.env.MINIK8S_BENCH_OBJECTS ?? 37_000);
const objectBytes = 1000;
/** Number of operations in one transaction of etcd: its maximum is 128. */
const together = 100;
const readers = 5;
const watches = Number(process.env.MINIK8S_BENCH_WATCHES ?? 2000);
const strangers = 5000;
const settleMs = 10_000;

const maps = '/api/v1/configmaps';
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Requests /livez continuously over one connection, and records the maximum latency. */
class Prober {
  readonly #options: object;
  #longest = 0;
  #stopped = false;

  constructor(options: object) {
    this.#options = options;
    void this.#run();
  }

  /** Returns the maximum latency in milliseconds since the last call. */
  longest(): number {
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(): Promise<void> {
    const agent = new Agent({ ...this.#options, keepAlive: true, maxSockets: 1 });
    while (!this.#stopped) {
      const start = performance.now();
      await this.#probe(agent).catch(() => undefined);
      this.#longest = Math.max(this.#longest, performance.now() - start);
      await wait(10);
    }
    agent.destroy();
  }

  async #probe(agent: Agent): Promise<void> {
    const [response] = await once(get({ ...this.#options, path: '/livez', agent }), 'response');
    response.resume();
    await once(response, 'end');
  }
}

class Clients {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'load-clients.ts'), { stdio: 'inherit' });
  readonly #target: Omit<ClientsTask, 'task'>;

  constructor(target: Omit<ClientsTask, 'task'>) {
    this.#target = target;
  }

  async do(task: ClientsTask['task']): Promise<ClientsAnswer> {
    this.#child.send({ ...this.#target, task });
    const gone = once(this.#child, 'exit').then(() => {
      throw new Error('the clients ended');
    });
    const [answer] = (await Promise.race([once(this.#child, 'message'), gone])) as [ClientsAnswer];
    return answer;
  }

  stop(): void {
    this.#child.removeAllListeners('exit');
    this.#child.kill();
  }
}

async function usersOf(authority: KeyAndCertificate, names: readonly string[]) {
  const now = Date.now();
  const issued = names.map((commonName) =>
    issueCertificate(authority, {
      commonName,
      organizations: ['system:masters'],
      usages: ['client'],
      notBefore: now - 60_000,
      notAfter: now + 3_600_000,
    }),
  );
  const users = (await Promise.all(issued)).map(({ key, certificate }) => ({ key, cert: certificate }));
  return { ca: authority.certificate, users };
}

/**
 * Writes directly to the etcd that the master will start, many objects at a time: through the API this would
 * take longer than everything else.
 */
async function fillStore(dataDir: string): Promise<void> {
  const { signal } = new AbortController();
  const binaries = { binary: etcdBinary, earlierBinary: etcdBinary };
  const options = { ...binaries, dataDir, clock: systemClock, log: silentLogger, signal };
  const etcd = await startEmbeddedEtcd(options);
  const [hosts = ''] = etcd.endpoints;
  const client = new Etcd3({ hosts });
  const data = { text: 'x'.repeat(objectBytes) };
  const put = (number: number) => {
    const name = `load-${number}`;
    const metadata = { name, namespace: 'default', uid: name, creationTimestamp: '2026-01-01T00:00:00Z' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as unknown as KubeObject;
    return client.put(`/registry/configmaps/default/${name}`).value(encodeObject(object));
  };
  for (let first = 0; first < objects; first += together) {
    const count = Math.min(together, objects - first);
    const puts = Array.from({ length: count }, (_, number) => put(first + number));
    await client
      .if('none', 'Version', '==', 0)
      .then(...puts)
      .commit();
  }
  client.close();
  await etcd.stop();
}

async function measure({ process: master, server, authority }: BenchMaster): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let clients: Clients | undefined;
  let prober: Prober | undefined;
  try {
    const port = Number(new URL(server).port);
    const { ca, users } = await usersOf(authority, ['load-a', 'load-b', 'load-c', 'load-d']);
    const run = new Clients({ port, ca, users });
    clients = run;
    const rss = () => usageOf(master.pid ?? 0).rss / 2 ** 20;
    await wait(settleMs);
    const probing = new Prober({ host: '127.0.0.1', port, ca, ...users[0] });
    prober = probing;
    await wait(3000);
    const idle = { gap: probing.longest(), rss: rss() };
    const step = async (what: string, work: () => Promise<ClientsAnswer>, after = work) => {
      process.stderr.write(`  ${what} …\n`);
      probing.longest();
      const { ms, amount } = await work();
      const gap = probing.longest();
      const peak = rss();
      if (after !== work) await after();
      await wait(settleMs);
      const floor = { what: 'while the server is idle', value: idle.gap };
      const before = { what: 'before the first step', value: idle.rss };
      rows.push({ what: `${what}: longest wait of a probe`, value: gap, unit: 'ms', floor });
      rows.push({ what: `${what}: memory (RSS) at the end`, value: peak, unit: 'MB', floor: before });
      rows.push({ what: `${what}: memory (RSS) ten seconds later`, value: rss(), unit: 'MB', floor: before });
      process.stderr.write(
        `    ${Math.round(ms)} ms, probe ${Math.round(gap)} ms, ${Math.round(rss())} MB\n`,
      );
      return { ms, amount };
    };
    for (const [name, accept] of [
      ['lists', 'application/json'],
      ['Tables', table],
    ] as const) {
      const title = `${readers} ${name} of ${objects}`;
      const { ms, amount } = await step(title, () =>
        run.do({ type: 'read', clients: readers, path: maps, accept }),
      );
      rows.push({ what: `${title}: time until all are answered`, value: ms, unit: 'ms' });
      rows.push({ what: `${title}: data sent`, value: amount / 2 ** 20, unit: 'MB' });
    }
    const path = `/api/v1/secrets?watch=true`;
    const leave = () => run.do({ type: 'leave' });
    const secrets = { type: 'secrets', count: 40, bytes: 100_000 } as const;
    await step(
      `${watches} watches`,
      () => run.do({ type: 'watch', count: watches, path, deaf: false }),
      leave,
    );
    let open = 0;
    const { ms } = await step(
      `${watches} watches that are never read, while 40 Secrets of 100 kB are written`,
      async () => {
        await run.do({ type: 'watch', count: watches, path, deaf: true });
        return run.do(secrets);
      },
      async () => {
        await wait(settleMs);
        return leave();
      },
    );
    rows.push({
      what: 'time to write these 40 Secrets beside watches that are never read',
      value: ms,
      unit: 'ms',
    });
    await step(
      `${strangers} connections of anonymous clients`,
      async () => {
        const answer = await run.do({ type: 'connect', count: strangers });
        open = answer.amount;
        return answer;
      },
      leave,
    );
    rows.push({
      what: `${strangers} connections of anonymous clients: maximum open at once`,
      value: open,
      unit: '',
    });
    return rows;
  } finally {
    prober?.stop();
    clients?.stop();
  }
}

const run = () => withMaster([], measure, (dataDir) => fillStore(join(dataDir, 'etcd')));

export const load: Benchmark = { name: 'load', run };
