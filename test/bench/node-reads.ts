/**
 * Cost of a node's read of a Secret on the server's thread, in a namespace with many pods: the read is
 * allowed while a pod on that node needs the Secret. For comparison, the same read by an administrator, which
 * requires no pod. The server runs in this process, over the memory store. The results are processor time,
 * medians of the rounds.
 */
import type { UserInfo } from '../../src/apiserver/request/user.ts';
import { admin, startTestServer, type TestServer } from '../fixtures/api-server.ts';
import { type Benchmark, median, type Row } from './report.ts';

const rounds = Number(process.env.MINIK8S_BENCH_ROUNDS ?? 7);
const reads = 500;
const nodes = 50;
const counts = [100, 5000];

/** Returns the microseconds of processor time of this thread. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

async function fill(server: TestServer, namespace: string, count: number): Promise<void> {
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await server.call('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 'needed' } });
  for (let number = 0; number < count; number++) {
    const envFrom = [{ secretRef: { name: number < nodes ? 'needed' : `other-${number}` } }];
    const env = Array.from({ length: 30 }, (_, i) => ({ name: `SETTING_${i}`, value: 'v'.repeat(40) }));
    const spec = {
      nodeName: `node-${number % nodes}`,
      containers: [{ name: 'c', image: 'i', env, envFrom }],
    };
    // The pods that need the Secret are last in the order of names, so a search scans all pods.
    const name = `${number < nodes ? 'z' : 'a'}-${number}`;
    const made = await server.call('POST', `/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name },
      spec,
    });
    if (made.status !== 201) throw new Error(`a pod was answered with ${made.status}: ${made.text}`);
  }
}

async function costOf(server: TestServer, path: string, user: UserInfo): Promise<number> {
  const before = used();
  for (let read = 0; read < reads; read++) {
    const { status } = await server.call('GET', path, undefined, { user });
    if (status !== 200) throw new Error(`${user.name} was answered with ${status}`);
  }
  return (used() - before) / reads;
}

async function measure(server: TestServer): Promise<readonly Row[]> {
  await server.call('POST', '/api/v1/nodes', { metadata: { name: 'node-1' } });
  const node = { name: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] };
  const rows: Row[] = [];
  for (const count of counts) {
    await fill(server, `pods-${count}`, count);
    const path = `/api/v1/namespaces/pods-${count}/secrets/needed`;
    const [byNode, byAdmin]: [number[], number[]] = [[], []];
    // The first round is not counted.
    for (let round = 0; round <= rounds; round++) {
      const [one, other] = [await costOf(server, path, node), await costOf(server, path, admin)];
      if (round === 0) continue;
      byNode.push(one);
      byAdmin.push(other);
    }
    const floor = { what: 'administrator', value: median(byAdmin) };
    rows.push({ what: `Secret by a node, ${count} pods`, value: median(byNode), unit: 'µs', floor });
  }
  return rows;
}

export const nodeReads: Benchmark = {
  name: 'node-reads',
  async run() {
    const server = await startTestServer();
    try {
      return await measure(server);
    } finally {
      await server.stop();
    }
  },
};
