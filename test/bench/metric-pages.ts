/**
 * Cost of a master's metrics pages with many pods: the time of each page, the longest turn of the event loop
 * meanwhile, and the processor time for reading all pages every fifteen seconds. The store is in memory,
 * since only the pages are measured.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Pod, podResource } from '../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../src/apimachinery/meta.ts';
import { systemClock } from '../../src/base/clock.ts';
import { admin } from '../fixtures/api-server.ts';
import { createTestPlane } from '../fixtures/control-plane.ts';
import { type Benchmark, median, type Row } from './report.ts';

const pods = 10_000;
const reads = 20;
const everySeconds = 15;
const pages = ['/metrics', '/metrics/controllers', '/metrics/scheduler'] as const;

type Plane = Awaited<ReturnType<typeof createTestPlane>>;

const read = async ({ server }: Plane, path: string) => {
  const answer = await server.app.fetch(new Request(`http://localhost${path}`), { user: admin });
  let length = 0;
  for await (const piece of answer.body ?? []) length += piece.length;
  return length;
};

/** Uses every verb on every kind, so that the metrics are those of a cluster in use. */
async function use({ server, kinds }: Plane): Promise<void> {
  for (const { group, version, plural, namespaced } of kinds.stored) {
    const base = `/${group ? `apis/${group}` : 'api'}/${version}/${namespaced ? 'namespaces/default/' : ''}${plural}`;
    for (const [method, path] of [
      ...(['GET', 'POST', 'DELETE'] as const).map((one) => [one, base] as const),
      ...(['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((one) => [one, `${base}/nobody`] as const),
    ]) {
      const headers = {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      };
      const body = method === 'GET' || method === 'DELETE' ? null : '{}';
      const dryRun = method === 'DELETE' ? '?dryRun=All' : '';
      const request = new Request(`http://localhost${path}${dryRun}`, { method, headers, body });
      await (await server.app.fetch(request, { user: admin })).arrayBuffer();
    }
  }
}

/** Returns the longest turn of the event loop during `work`, in milliseconds. */
async function maxTurn(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  let longest = 0;
  for (let last = performance.now(); !isOver; ) {
    await nextTurn();
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return longest;
}

async function measure(plane: Plane): Promise<Row[]> {
  const rows: Row[] = [];
  for (const path of pages) await read(plane, path);
  for (const path of pages) {
    const times: number[] = [];
    const turns: number[] = [];
    let bytes = 0;
    for (let i = 0; i < reads; i++) {
      const begun = performance.now();
      const reading = read(plane, path).then((length) => {
        times.push(performance.now() - begun);
        bytes = length;
      });
      turns.push(await maxTurn(reading));
    }
    const [ms, turn] = [median(times), median(turns)];
    rows.push({
      what: `${path} (${Math.round(bytes / 1024)} kB)`,
      value: ms,
      unit: 'ms',
      target: '< 20',
      met: ms < 20,
    });
    rows.push({
      what: `${path}: longest turn of the event loop`,
      value: turn,
      unit: 'ms',
      target: '< 1',
      met: turn < 1,
    });
  }
  const before = process.cpuUsage();
  for (let i = 0; i < reads; i++) for (const path of pages) await read(plane, path);
  const { user, system } = process.cpuUsage(before);
  const share = ((user + system) / 1e6 / reads / everySeconds) * 100;
  rows.push({
    what: `all pages, read every ${everySeconds} s`,
    value: share,
    unit: '% of a core',
    target: '< 1',
    met: share < 1,
  });
  return rows;
}

export const metricPages: Benchmark = {
  name: 'metric-pages',
  async run() {
    const plane = await createTestPlane(systemClock, { nodeGracePeriodMs: 3_600_000 });
    const stop = new AbortController();
    const running = plane.run(stop.signal);
    await Promise.race([plane.ready, running]);
    const client = plane.clientOf(admin).resource(podResource);
    for (let i = 0; i < pods; i++) {
      const spec = { nodeName: `n${i % 100}`, containers: [{ name: 'app', image: 'app:1' }] };
      const metadata = { name: `p${i}`, namespace: 'default' };
      await client.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as unknown as Draft<Pod>);
    }
    await use(plane);
    const rows = await measure(plane);
    stop.abort();
    await running;
    return rows;
  },
};
