/**
 * Latency of a master for other clients while it serves the worst known requests: the maximum time of a
 * /livez answer over a separate connection. The result includes other load of the machine; bodies.ts measures
 * only the work itself.
 */
import { Agent, get } from 'node:https';
import { systemClock } from '../../src/base/clock.ts';
import { createHttpsTransport } from '../../src/client/https-transport.ts';
import type { Transport } from '../../src/client/transport.ts';
import { issueCertificate } from '../../src/pki/x509.ts';
import {
  bootstrapToken,
  removals,
  type Sender,
  type WorstBody,
  worstBodies,
  worstBodyObjects,
} from '../fixtures/worst-bodies.ts';
import { type BenchMaster, withMaster } from './master.ts';
import { type Benchmark, median, type Row } from './report.ts';

const runs = 3;
const target = 100;
/** A request that takes this long is not sent again. */
const slowMs = 3000;
/** Time for the work that remains after a request, such as sending events to watches. */
const settleMs = 150;
const day = 24 * 3600 * 1000;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function senders({ server, authority }: BenchMaster): Promise<Record<Sender, Transport>> {
  const ca = authority.certificate;
  const as = async (commonName: string, organization: string) => {
    const validity = { notBefore: Date.now() - day, notAfter: Date.now() + day };
    const subject = { commonName, organizations: [organization], usages: ['client'] as const };
    const { key, certificate } = await issueCertificate(authority, { ...subject, ...validity });
    return createHttpsTransport({ server, ca, key, cert: certificate, clock: systemClock });
  };
  return {
    admin: await as('admin', 'system:masters'),
    node: await as('system:node:worst', 'system:nodes'),
    'bootstrap token': createHttpsTransport({ server, ca, token: bootstrapToken, clock: systemClock }),
    nobody: createHttpsTransport({ server, ca, clock: systemClock }),
  };
}

interface Sent {
  readonly method: WorstBody['method'];
  readonly path: string;
  readonly type: string;
  readonly body: Uint8Array;
}

/**
 * Sends the request and returns the status; 0 if the server closed the connection before the client could
 * read the answer.
 */
async function send(transport: Transport, { method, path, type, body }: Sent): Promise<number> {
  try {
    const answer = await transport.request({ method, path, body, headers: { 'content-type': type } });
    for await (const _ of answer.body);
    return answer.status;
  } catch {
    return 0;
  }
}

/** Requests /livez continuously, one request after the other, and measures the maximum latency. */
class Probe {
  readonly #agent: Agent;
  readonly #url: string;
  #longest = 0;
  #stopped = false;

  constructor({ server, authority }: BenchMaster) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.certificate });
    this.#url = `${server}/livez`;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const start = performance.now();
      await this.#ask();
      this.#longest = Math.max(this.#longest, performance.now() - start);
    }
    this.#agent.destroy();
  }

  #ask(): Promise<void> {
    return new Promise((resolve, reject) => {
      get(this.#url, { agent: this.#agent }, (answer) => {
        answer.resume().once('end', resolve);
      }).once('error', reject);
    });
  }

  /**
   * Returns the maximum latency in milliseconds from the beginning of `work` until the server is idle again.
   */
  async during(work: () => Promise<void>): Promise<number> {
    await wait(settleMs);
    this.#longest = 0;
    await work();
    await wait(settleMs);
    return this.#longest;
  }

  stop(): void {
    this.#stopped = true;
  }
}

const encoder = new TextEncoder();

async function prepare(admin: Transport): Promise<void> {
  for (const [path, object] of worstBodyObjects) {
    const body = encoder.encode(JSON.stringify(object));
    const status = await send(admin, { method: 'POST', path, type: 'application/json', body });
    if (status !== 201) throw new Error(`POST ${path} was answered with ${status}`);
  }
}

async function remove(admin: Transport, path: string): Promise<void> {
  for (const [method, type, body] of removals)
    await send(admin, { method, path, type, body: encoder.encode(body) });
}

async function measure(by: Record<Sender, Transport>, probe: Probe, worst: WorstBody): Promise<Row> {
  const { method, path, type, as, what } = worst;
  const body = worst.body();
  const held: number[] = [];
  const floor: number[] = [];
  let status = 0;
  for (let run = 0; run < runs; run++) {
    if (method === 'POST') await remove(by.admin, `${path}/new`);
    const empty = { method, path, type: 'application/json', body: encoder.encode('{}') };
    floor.push(await probe.during(async () => void (await send(by.nobody, empty))));
    const start = performance.now();
    held.push(
      await probe.during(async () => {
        status = await send(by[as], { method, path, type, body });
      }),
    );
    if (performance.now() - start > slowMs) break;
  }
  const size =
    body.length > 1e6 ? `${(body.length / 1e6).toFixed(1)} MB` : `${Math.round(body.length / 1e3)} kB`;
  const value = median(held);
  return {
    what: `${as}, ${method} ${type.replace(/.*[/.]/, '')}: ${what} (${size} → ${status})`,
    value,
    unit: 'ms',
    floor: { what: 'an empty body of an anonymous user', value: median(floor) },
    target: `< ${target}`,
    met: value < target,
  };
}

async function run(): Promise<readonly Row[]> {
  return withMaster(['--bind-address=127.0.0.1'], async (master) => {
    const by = await senders(master);
    await prepare(by.admin);
    const probe = new Probe(master);
    const rows: Row[] = [];
    for (const worst of worstBodies) rows.push(await measure(by, probe, worst));
    probe.stop();
    for (const transport of Object.values(by)) transport.close();
    return rows;
  });
}

export const bodiesMaster: Benchmark = { name: 'bodies-master', run };
