/**
 * Reads per second that a master with its etcd answers, and the processor time of one: single objects and
 * lists, consistent (without a resourceVersion) and from the cache (`resourceVersion=0`), with a fixed number
 * of concurrent requests. /livez is the floor: HTTP and TLS with almost nothing behind them. Rounds of all
 * reads alternate. Each number is the median of its rounds, so that other load of the machine affects all
 * alike.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { createHttpsTransport } from '../../src/client/https-transport.ts';
import { issueCertificate } from '../../src/pki/x509.ts';
import { type BenchMaster, withMaster } from './master.ts';
import type { ReadsAnswer, ReadsTask } from './reads-clients.ts';
import { type Benchmark, median, type Row } from './report.ts';
import { usageOf } from './usage.ts';

const rounds = Number(process.env.MINIK8S_BENCH_ROUNDS ?? 5);
const roundMs = 1000;
const widths = [1, 16, 64];
const objectBytes = 200;
const sizes = [10, 500];

const reads = [
  { what: 'get', path: `/api/v1/namespaces/reads-${sizes[0]}/configmaps/object-0` },
  ...sizes.map((size) => ({
    what: `list of ${size}`,
    path: `/api/v1/namespaces/reads-${size}/configmaps`,
  })),
];
const kinds = [
  { what: '/livez', path: '/livez', consistent: undefined },
  ...reads.flatMap(({ what, path }) => [
    { what: `${what} at resourceVersion=0`, path: `${path}?resourceVersion=0`, consistent: undefined },
    { what: `${what}, consistent`, path, consistent: `${what} at resourceVersion=0` },
  ]),
];

interface Measured {
  /** Answers per second. */
  readonly rate: number;
  /** Microseconds of the master's processor time for one answer. */
  readonly cost: number;
}

async function fill({ server, authority }: BenchMaster, identity: Pick<ReadsTask, 'key' | 'cert'>) {
  const transport = createHttpsTransport({
    server,
    ca: authority.certificate,
    ...identity,
    clock: systemClock,
  });
  const post = async (path: string, object: unknown) => {
    const body = new TextEncoder().encode(JSON.stringify(object));
    const headers = { 'content-type': 'application/json' };
    const answer = await transport.request({ method: 'POST', path, body, headers });
    for await (const _ of answer.body);
    if (answer.status !== 201) throw new Error(`POST ${path} was answered with ${answer.status}`);
  };
  for (const size of sizes) {
    const namespace = `reads-${size}`;
    await post('/api/v1/namespaces', { metadata: { name: namespace } });
    const data = { text: 'x'.repeat(objectBytes) };
    for (let number = 0; number < size; number++)
      await post(`/api/v1/namespaces/${namespace}/configmaps`, {
        metadata: { name: `object-${number}` },
        data,
      });
  }
  transport.close();
}

async function ask(clients: ChildProcess, task: ReadsTask, master: number): Promise<Measured> {
  const before = usageOf(master).cpu;
  const ended = new AbortController();
  const gone = once(clients, 'exit', ended).then(() => {
    throw new Error(`the clients ended while they read ${task.path}`);
  });
  clients.send(task);
  const [answer] = (await Promise.race([once(clients, 'message', ended), gone])) as [ReadsAnswer];
  gone.catch(() => undefined);
  ended.abort();
  const cost = ((usageOf(master).cpu - before) * 1e6) / answer.answers;
  return { rate: (answer.answers * 1000) / answer.ms, cost };
}

async function measure(master: BenchMaster): Promise<readonly Row[]> {
  const { authority, server, process: child } = master;
  const { key, certificate: cert } = await issueCertificate(authority, {
    commonName: 'reads',
    organizations: ['system:masters'],
    usages: ['client'],
    notBefore: Date.now() - 60_000,
    notAfter: Date.now() + 3_600_000,
  });
  await fill(master, { key, cert });
  const target = { port: Number(new URL(server).port), ca: authority.certificate, key, cert };
  const measured = new Map<string, Measured[]>();
  const clients = fork(join(import.meta.dirname, 'reads-clients.ts'), { stdio: 'inherit' });
  try {
    // The first round is not counted: frequently used code is not compiled yet.
    for (let round = 0; round <= rounds; round++) {
      for (const inFlight of widths) {
        for (const { what, path } of kinds) {
          const one = await ask(clients, { ...target, path, inFlight, ms: roundMs }, child.pid ?? 0);
          const name = `${what} × ${inFlight}`;
          if (round > 0) measured.set(name, [...(measured.get(name) ?? []), one]);
        }
      }
    }
  } finally {
    clients.removeAllListeners('exit');
    clients.kill();
  }
  const of = (name: string, which: keyof Measured) =>
    median((measured.get(name) ?? []).map((one) => one[which]));
  const goal = (what: string, rate: number, inFlight: number) => {
    const asked = inFlight === 64 && kinds.find((kind) => kind.what === what)?.consistent;
    if (!asked) return {};
    return { target: `≥ at resourceVersion=0 / 1.3`, met: rate * 1.3 >= of(`${asked} × 64`, 'rate') };
  };
  return widths.flatMap((inFlight) =>
    kinds.flatMap(({ what }): Row[] => {
      const name = `${what} × ${inFlight}`;
      const floor = (which: keyof Measured) =>
        what !== '/livez' && { floor: { what: '/livez', value: of(`/livez × ${inFlight}`, which) } };
      const rate = of(name, 'rate');
      return [
        { what: name, value: rate, unit: '/s', ...floor('rate'), ...goal(what, rate, inFlight) },
        { what: `${name}: processor`, value: of(name, 'cost'), unit: 'µs', ...floor('cost') },
      ];
    }),
  );
}

export const readsOfMaster: Benchmark = {
  name: 'reads',
  run: () => withMaster(['--bind-address=127.0.0.1'], measure),
};
