/**
 * Cost of a Deployment with 20 containers in the API server itself: decoding, validation and storage in
 * memory, without HTTP and etcd. Usage: `node deployment-cost.ts ROOT`, where ROOT is a source tree, possibly
 * an earlier one. Prints microseconds of this thread, one number a line: of one creation and of one update,
 * each the median of several rounds.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Server {
  call(method: string, path: string, body: string): Promise<Answer>;
}

const rounds = 9;
const each = 60;
const path = '/apis/apps/v1/namespaces/default/deployments';

const container = (number: number) => ({
  name: `container-${number}`,
  image: `registry.example.com/team/program-${number}:1.2.3`,
  args: ['--listen=0.0.0.0:8080', '--log-level=info'],
  ports: [{ name: `http-${number}`, containerPort: 8000 + number }],
  env: Array.from({ length: 10 }, (_, env) => ({
    name: `SETTING_${env}`,
    value: `the value of setting ${env}`,
  })),
  resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
  volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  readinessProbe: { httpGet: { path: '/ready', port: 8000 + number }, periodSeconds: 5 },
});

const labels = { app: 'bench' };
const deployment = (name: string, count: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels, annotations: { count } },
  spec: {
    replicas: 3,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        containers: Array.from({ length: 20 }, (_, number) => container(number)),
        volumes: [{ name: 'scratch', emptyDir: {} }],
      },
    },
  },
});

const [, , root = ''] = process.argv;
const { startTestServer } = (await import(pathToFileURL(join(root, 'test/fixtures/api-server.ts')).href)) as {
  readonly startTestServer: () => Promise<Server>;
};
const server = await startTestServer();

function used(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

async function costOf(method: string, at: (number: number) => string, status: number, text: string[]) {
  const start = used();
  for (const [number, body] of text.entries()) {
    const answer = await server.call(method, at(number), body);
    if (answer.status !== status) throw new Error(`${method}: ${answer.text.slice(0, 300)}`);
  }
  return (used() - start) / text.length;
}

const costs: { readonly create: number; readonly update: number }[] = [];
for (let round = 0; round <= rounds; round++) {
  const name = (number: number) => `web-${round}-${number}`;
  const bodies = (count: string) =>
    Array.from({ length: each }, (_, number) => JSON.stringify(deployment(name(number), count)));
  const create = await costOf('POST', () => path, 201, bodies('0'));
  const update = await costOf('PUT', (number) => `${path}/${name(number)}`, 200, bodies('1'));
  // The first round is not counted: frequently used code is not compiled yet.
  if (round > 0) costs.push({ create, update });
}
const middle = (of: 'create' | 'update') =>
  costs.map((cost) => cost[of]).sort((a, b) => a - b)[costs.length >> 1] ?? Number.NaN;
process.stdout.write(`${middle('create')}\n${middle('update')}\n`);
process.exit(0);
