/**
 * Cost of an answer on the server's thread in each format: JSON and protobuf, for pods of about 3 kB. The
 * server runs in this process over the memory store, so HTTP, TLS and etcd are left out: they cost the same
 * for both formats. Rounds of all formats alternate. Each number is the median of its rounds, in processor
 * time.
 */
import { protobufType } from '../../src/apimachinery/protobuf/envelope.ts';
import { WholeAnswer } from '../../src/apiserver/transport/whole-answer.ts';
import { admin, startTestServer, type TestServer } from '../fixtures/api-server.ts';
import { type Benchmark, median, type Row } from './report.ts';

const rounds = Number(process.env.MINIK8S_BENCH_ROUNDS ?? 7);
const pods = 500;
const gets = 2000;
const lists = 10;
const writes = 300;
const path = '/api/v1/namespaces/forms/pods';

const variable = (number: number) => ({ name: `SETTING_${number}`, value: `the value of setting ${number}` });
const container = (name: string) => ({
  name,
  image: `registry.example/team/${name}:1.27.3`,
  args: ['--listen=:8080', '--log-level=info', '--metrics=:9090'],
  env: [...Array.from({ length: 8 }, (_, number) => variable(number))],
  ports: [
    { name: 'http', containerPort: 8080 },
    { name: 'metrics', containerPort: 9090 },
  ],
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
});
const pod = (number: number) => ({
  metadata: {
    name: `pod-${number}`,
    labels: { app: 'forms', tier: 'backend', 'pod-template-hash': '5d8c7b6f9', zone: `zone-${number % 3}` },
    annotations: { 'example.com/checksum': 'f'.repeat(64), 'example.com/note': 'measured, never started' },
  },
  spec: { nodeName: `node-${number % 50}`, containers: [container('server'), container('sidecar')] },
});
const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' });
const status = (written: number) => ({
  status: {
    phase: 'Running',
    hostIP: '192.0.2.7',
    message: `written ${written} times`,
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
    containerStatuses: ['server', 'sidecar'].map((name) => ({
      name,
      image: `registry.example/team/${name}:1.27.3`,
      imageID: `sha256:${'a'.repeat(64)}`,
      containerID: `docker://${'b'.repeat(64)}`,
      ready: true,
      restartCount: written % 7,
      state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
    })),
  },
});

/** Returns the microseconds of processor time of this thread. */
function used(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

async function costOf(times: number, work: (time: number) => Promise<unknown>): Promise<number> {
  const before = used();
  for (let time = 0; time < times; time++) await work(time);
  return (used() - before) / times;
}

type Ask = (path: string, accept: string) => Promise<Response>;

/** Reads the whole answer, as the listener does. */
const read = async (answer: Response) =>
  answer instanceof WholeAnswer ? answer.whole.length : (await answer.arrayBuffer()).byteLength;

/** Version that differs in each write. */
let version = 0;

/** Returns the cost of a write with the given number of watches. */
async function costOfWrites(server: TestServer, ask: Ask, accept: string, watches: number): Promise<number> {
  const { revision } = server.cache;
  const readers = await Promise.all(
    Array.from({ length: watches }, async () => {
      const answer = await ask(`${path}?watch=1&resourceVersion=${revision}`, accept);
      return answer.body?.getReader();
    }),
  );
  const headers = { 'content-type': 'application/merge-patch+json' };
  const cost = await costOf(writes, async (time) => {
    await server.call('PATCH', `${path}/pod-${time % pods}/status`, status(version++), { headers });
    await Promise.all(readers.map((reader) => reader?.read()));
  });
  await Promise.all(readers.map((reader) => reader?.cancel()));
  return cost;
}

async function measure(server: TestServer): Promise<readonly Row[]> {
  const handle = server.handlerFor(admin);
  const ask: Ask = (of, accept) => handle(new Request(`https://apiserver${of}`, { headers: { accept } }));
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'forms' } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  for (let number = 0; number < pods; number++) {
    const made = await server.call('POST', path, pod(number));
    if (made.status !== 201) throw new Error(`a pod was answered with ${made.status}: ${made.text}`);
    await server.call('PATCH', `${path}/pod-${number}/status`, status(version++), { headers });
  }
  const forms = { JSON: 'application/json', protobuf: protobufType };
  const works: Record<string, (accept: string) => Promise<number>> = {
    'get of a pod': (accept) =>
      costOf(gets, async (time) => read(await ask(`${path}/pod-${time % pods}`, accept))),
    'get at resourceVersion=0': (accept) =>
      costOf(gets, async (time) => read(await ask(`${path}/pod-${time % pods}?resourceVersion=0`, accept))),
    [`list of ${pods} pods`]: (accept) => costOf(lists, async () => read(await ask(path, accept))),
    'write with 1 watch': (accept) => costOfWrites(server, ask, accept, 1),
    'write with 20 watches': (accept) => costOfWrites(server, ask, accept, 20),
  };
  const measured = new Map<string, number[]>();
  // The first round is not counted: frequently used code is not compiled yet.
  for (let round = 0; round <= rounds; round++) {
    for (const [what, work] of Object.entries(works)) {
      for (const [form, accept] of Object.entries(forms)) {
        const cost = await work(accept);
        const name = `${what}, ${form}`;
        if (round > 0) measured.set(name, [...(measured.get(name) ?? []), cost]);
      }
    }
  }
  const of = (name: string) => median(measured.get(name) ?? []);
  return Object.keys(works).flatMap((what): Row[] => [
    { what: `${what}, JSON`, value: of(`${what}, JSON`), unit: 'µs' },
    {
      what: `${what}, protobuf`,
      value: of(`${what}, protobuf`),
      unit: 'µs',
      floor: { what: 'JSON', value: of(`${what}, JSON`) },
    },
  ]);
}

export const forms: Benchmark = {
  name: 'forms',
  async run() {
    const server = await startTestServer();
    try {
      return await measure(server);
    } finally {
      await server.stop();
    }
  },
};
