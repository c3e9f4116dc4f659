/**
 * Warm calls: calls per second and their latency, compared with calling the container directly and
 * through a bare proxy.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueCertificate } from '../../../src/pki/x509.ts';
import type { Target } from '../lane.ts';
import { type Benchmark, median, type Row } from '../report.ts';
import { usageOf } from '../usage.ts';
import type { Called } from './callers.ts';
import { type Runtime, runtimes, type World, withWorld } from './world.ts';

const crowd = 32;

interface Measured {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of processor time of the client per call. */
  readonly clientCpu: number;
  readonly cpu: readonly number[];
}

const at = (times: readonly number[], part: number) => times[Math.floor(times.length * part)] ?? Number.NaN;

async function bareProxy({ cluster, host, fork }: World, address: string): Promise<Target & { pid: number }> {
  const pki = join(cluster.dataDir, 'pki');
  const authority = {
    key: readFileSync(join(pki, 'ca.key'), 'utf8'),
    certificate: readFileSync(join(pki, 'ca.crt'), 'utf8'),
  };
  const now = Date.now();
  const { key, certificate } = await issueCertificate(authority, {
    commonName: 'bench',
    hosts: [host.address],
    usages: ['server'],
    notBefore: now - 60_000,
    notAfter: now + 3_600_000,
  });
  const child = fork('bare-proxy.ts');
  child.send({ key, cert: certificate, address: host.address, host: address, port: 8080 });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { host: host.address, port, ca: authority.certificate, pid: child.pid ?? 0 };
}

async function measureRuntime(world: World, runtime: Runtime, rounds: number, ms: number): Promise<Row[]> {
  const name = `warm-${runtime}`;
  await world.create(name, runtime, { minScale: 1, maxScale: 1, concurrency: 100 });
  const [pod] = await world.pods(name);
  const address = pod?.status?.podIP ?? '';
  const container = pod?.status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ?? '';
  const pid = Number(await world.host.docker('inspect', '--format', '{{.State.Pid}}', container));
  const direct: Target = { host: address, port: 8080 };
  const proxy = await bareProxy(world, address);
  const ways = {
    gateway: { target: world.gateway, path: `/function/${name}`, pids: [world.cluster.pid, pid] },
    proxy: { target: proxy, path: '/', pids: [proxy.pid, pid] },
    direct: { target: direct, path: '/', pids: [pid] },
  };
  const measured = new Map<string, Measured[]>();
  // The first round is not counted: frequently used code is not compiled yet.
  for (let round = 0; round <= rounds; round++) {
    for (const [way, { pids, ...to }] of Object.entries(ways)) {
      for (const callers of [crowd, 1]) {
        const before = pids.map(usageOf);
        const called = await world.call({ ...to, body: '{}', callers, ms });
        if (called.failures > 0) throw new Error(`${called.failures} calls failed: ${called.why}`);
        if (round === 0) continue;
        const list = measured.get(`${way} ${callers}`) ?? [];
        measured.set(`${way} ${callers}`, list);
        list.push(
          resultOf(
            called,
            pids,
            before.map(({ cpu }) => cpu),
          ),
        );
      }
    }
  }
  const of = (way: string, callers: number, value: (one: Measured) => number) =>
    median((measured.get(`${way} ${callers}`) ?? []).map(value));
  const rate = of('gateway', crowd, (one) => one.rate);
  const more = of('gateway', 1, (one) => one.p50) - of('direct', 1, (one) => one.p50);
  const part = (what: string, way: string, value: (one: Measured) => number): Row => ({
    what: `${runtime}: processor time of ${what} for a call`,
    value: of(way, crowd, value),
    unit: 'µs',
  });
  return [
    {
      what: `${runtime}: calls by ${crowd} callers`,
      value: rate,
      unit: '/s',
      floor: { what: 'a bare proxy', value: of('proxy', crowd, (one) => one.rate) },
      target: '≥ 2000',
      met: rate >= 2000,
    },
    {
      what: `${runtime}: calls by ${crowd} callers, sent directly to the container`,
      value: of('direct', crowd, (one) => one.rate),
      unit: '/s',
    },
    {
      what: `${runtime}: p99 of ${crowd} callers`,
      value: of('gateway', crowd, (one) => one.p99),
      unit: 'ms',
      floor: { what: 'a bare proxy', value: of('proxy', crowd, (one) => one.p99) },
    },
    {
      what: `${runtime}: p50 of one caller`,
      value: of('gateway', 1, (one) => one.p50),
      unit: 'ms',
      floor: { what: 'the container', value: of('direct', 1, (one) => one.p50) },
      target: '< 3 ms more',
      met: more < 3,
    },
    part('master and node', 'gateway', ({ cpu }) => cpu[0] ?? 0),
    part('the bare proxy', 'proxy', ({ cpu }) => cpu[0] ?? 0),
    part('the instance', 'gateway', ({ cpu }) => cpu[1] ?? 0),
    part('the callers', 'gateway', ({ clientCpu }) => clientCpu),
  ];
}

function resultOf(called: Called, pids: readonly number[], before: readonly number[]): Measured {
  const each = (seconds: number) => (seconds / called.answers) * 1e6;
  return {
    rate: called.answers / (called.ms / 1000),
    p50: at(called.times, 0.5),
    p99: at(called.times, 0.99),
    clientCpu: each(called.cpu),
    cpu: pids.map((pid, i) => each(usageOf(pid).cpu - (before[i] ?? 0))),
  };
}

export const warm = (rounds: number, ms: number): Benchmark => ({
  name: 'warm',
  run: () =>
    withWorld([], async (world) => {
      const rows: Row[] = [];
      for (const runtime of runtimes) rows.push(...(await measureRuntime(world, runtime, rounds, ms)));
      return rows;
    }),
});
