/** Cost of functions without calls: a master without functions, and the same master with many. */
import { Agent, request } from 'node:https';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { type Fn, functionResource } from '../../../src/features/functions/api/function.ts';
import { functionLabel } from '../../../src/features/functions/api/function-instance.ts';
import { issueCertificate } from '../../../src/pki/x509.ts';
import { type BenchMaster, withMaster } from '../master.ts';
import type { Benchmark, Row } from '../report.ts';
import { usageOf } from '../usage.ts';

const { group, version, plural } = functionResource;
const path = `/apis/${group}/${version}/namespaces/default/${plural}`;
const together = 16;
/** The watch cache keeps events for 75 s, including events from before the start. */
const settleMs = 90_000;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Ask = <T>(method: string, path: string, body?: unknown) => Promise<T>;

async function askerOf({ server, authority }: BenchMaster): Promise<Ask> {
  const now = Date.now();
  const { key, certificate } = await issueCertificate(authority, {
    commonName: 'bench',
    organizations: ['system:masters'],
    usages: ['client'],
    notBefore: now - 60_000,
    notAfter: now + 3_600_000,
  });
  const agent = new Agent({ keepAlive: true, ca: authority.certificate, key, cert: certificate });
  return (method, at, body) =>
    new Promise((resolve, reject) => {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const headers = { 'content-type': type };
      const sent = request(`${server}${at}`, { method, agent, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () => {
          if ((answer.statusCode ?? 0) >= 300) reject(new Error(`${method} ${at}: ${text}`));
          else resolve(JSON.parse(text));
        });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

async function inTurns(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: together }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

async function measure(master: BenchMaster, count: number, ms: number): Promise<Row[]> {
  const ask = await askerOf(master);
  // The measurement excludes the cost of creating the functions.
  const rest = async () => {
    const pid = (await master.restart()).pid ?? 0;
    await wait(settleMs);
    const before = usageOf(pid).cpu;
    await wait(ms);
    const { cpu, rss } = usageOf(pid);
    return { cpu: ((cpu - before) / (ms / 1000)) * 100, rss: rss / 2 ** 20 };
  };
  const none = await rest();
  await inTurns(count, async (number) => {
    const spec = { runtime: 'python', files: { 'main.py': 'def handler(e): return e' }, idleSeconds: 1 };
    await ask('POST', path, { metadata: { name: `f${number}` }, spec });
  });
  // The cluster has no node, so the script sets each function's active version itself, as a successful trial
  // would; then only idle functions remain. The controller may overwrite the status with an earlier one, so
  // this is repeated until no trial is left.
  const called = async (name: string) => {
    for (;;) {
      const { status } = await ask<Fn>('GET', `${path}/${name}`);
      if (status?.latestVersion !== undefined) {
        const body = { status: { activeVersion: status.latestVersion } };
        await ask('PATCH', `${path}/${name}/status`, body);
        return;
      }
      await wait(100);
    }
  };
  await inTurns(count, (number) => called(`f${number}`));
  for (;;) {
    const { items } = await ask<{ items: Pod[] }>('GET', '/api/v1/namespaces/default/pods');
    if (items.length === 0) break;
    await wait(5000);
    for (const { metadata } of items) await called(metadata.labels?.[functionLabel] ?? '');
  }
  const young = await rest();
  // The four Events per function about its trial would expire within an hour; they are deleted here.
  await ask('DELETE', '/api/v1/namespaces/default/events');
  const many = await rest();
  return [
    {
      what: `master with ${count} functions at rest: processor`,
      value: many.cpu,
      unit: '% of a core',
      floor: { what: 'without functions', value: none.cpu },
    },
    {
      what: `master with ${count} functions at rest: memory (RSS)`,
      value: many.rss,
      unit: 'MB',
      floor: { what: 'without functions', value: none.rss },
    },
    {
      what: `master with ${count} functions and the Events of their first hour: memory (RSS)`,
      value: young.rss,
      unit: 'MB',
      floor: { what: 'without functions', value: none.rss },
    },
  ];
}

export const atRest = (count: number, ms: number): Benchmark => ({
  name: 'at-rest',
  run: () => withMaster([], (master) => measure(master, count, ms)),
});
