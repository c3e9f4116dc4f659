/**
 * /metrics/objects with many pods: the time of the page for a client on a TLS connection, the server's
 * processor time, the time for which the page blocks the event loop, and the memory that is kept for the next
 * page. The server runs in this process, over the memory store. The first page renders all lines; the others
 * are of unchanged objects, and each of their numbers is the median.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { podResource } from '../../src/api/core/v1/pod/pod.ts';
import { storageKey } from '../../src/apimachinery/resource-definition.ts';
import { objectMetricsPath } from '../../src/kube-apiserver/object-metrics/page.ts';
import { encodeObject } from '../../src/storage/codec.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../fixtures/https-api-server.ts';
import type { PageAnswer, PageTask } from './object-metrics-reader.ts';
import { typicalPod } from './pod-shape.ts';
import { type Benchmark, median, type Row } from './report.ts';

const sizes = [1000, 10_000];
const rounds = Number(process.env.MINIK8S_BENCH_ROUNDS ?? 5);

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');
const heap = () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

async function fill({ store, cache }: HttpsTestServer, from: number, to: number): Promise<void> {
  let revision = 0;
  for (let number = from; number < to; number++) {
    const pod = typicalPod(number);
    const { name, namespace } = pod.metadata;
    revision = await store.create(storageKey(podResource, namespace, name), encodeObject(pod));
  }
  await cache.waitUntil(revision);
}

interface Measured extends PageAnswer {
  /** Processor time of all threads of the server's process, in milliseconds. */
  readonly cpuMs: number;
  /** Turns of the event loop while the page was read, in milliseconds. */
  readonly turnsMs: readonly number[];
}

/** Reads pages one after the other on one connection. */
async function readPages(task: PageTask, count: number): Promise<Measured[]> {
  const client = fork(join(import.meta.dirname, 'object-metrics-reader.ts'));
  client.send(task);
  await once(client, 'message');
  const pages: Measured[] = [];
  while (pages.length < count) {
    const before = process.cpuUsage();
    const { answer, turnsMs } = await whileTurning(async () => {
      client.send({});
      const [told] = (await once(client, 'message')) as [PageAnswer];
      return told;
    });
    const { user, system } = process.cpuUsage(before);
    pages.push({ ...answer, cpuMs: (user + system) / 1000, turnsMs });
  }
  client.kill();
  return pages;
}

async function whileTurning<T>(work: () => Promise<T>): Promise<{ answer: T; turnsMs: number[] }> {
  const turnsMs: number[] = [];
  let isOver = false;
  const working = work().finally(() => {
    isOver = true;
  });
  for (let last = performance.now(); !isOver; ) {
    await setImmediate();
    const now = performance.now();
    turnsMs.push(now - last);
    last = now;
  }
  return { answer: await working, turnsMs };
}

/**
 * Returns the 99th percentile of the turns: the longest turn is caused by the garbage collector or by other
 * processes.
 */
function longTurn({ turnsMs }: Measured): number {
  const sorted = turnsMs.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

async function measure(task: PageTask, size: number): Promise<Row[]> {
  const before = heap();
  const [first] = (await readPages(task, 1)) as [Measured];
  const kept = heap() - before;
  const pages = await readPages(task, rounds);
  const of = (read: (page: Measured) => number) => median(pages.map(read));
  const row = (text: string, value: number, unit: string, most?: number): Row => ({
    what: `${size} pods: ${text}`,
    value,
    unit,
    ...(most !== undefined && { target: `< ${most}`, met: value < most }),
  });
  return [
    row('size of the page', first.bytes / 1e6, 'MB'),
    row('first page: until its end', first.wholeMs, 'ms'),
    row('first page: processor', first.cpuMs, 'ms'),
    row('first page: 99th percentile of the turns of the event loop', longTurn(first), 'ms', 1),
    row(
      'further pages: until the first byte',
      of((page) => page.firstByteMs),
      'ms',
      20,
    ),
    row(
      'further pages: until the end',
      of((page) => page.wholeMs),
      'ms',
    ),
    row(
      'further pages: processor',
      of((page) => page.cpuMs),
      'ms',
    ),
    row('share of a core, if a page is read every 15 s', of((page) => page.cpuMs) / 150, '%', 1),
    row('further pages: 99th percentile of the turns of the event loop', of(longTurn), 'ms', 1),
    row('memory kept for each object', kept / size, 'B'),
  ];
}

export const objectMetrics: Benchmark = {
  name: 'object-metrics',
  async run() {
    const server = await startHttpsTestServer();
    const { key, certificate } = await server.clientCertificate('admin', ['system:masters']);
    const task = {
      port: server.port,
      path: objectMetricsPath,
      key,
      cert: certificate,
      ca: server.authority.certificate,
    };
    try {
      const rows: Row[] = [];
      let made = 0;
      for (const size of sizes) {
        await fill(server, made, size);
        rows.push(...(await measure(task, size)));
        made = size;
      }
      return rows;
    } finally {
      await server.stop();
    }
  },
};
