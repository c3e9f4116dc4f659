/**
 * A function on three machines: all build the same image, concurrent calls are answered on several machines,
 * and one machine fails.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { V1Node, V1NodeList, V1Pod, V1PodList } from '@kubernetes/client-node';
import { type PackageIndexes, startPackageIndexes } from '../fixtures/package-indexes.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { docker } from './harness/docker.ts';
import { gatewayCaller } from './harness/gateway-calls.ts';
import { isReady, nameOf } from './harness/hello.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const image = `minik8s-test/nodes-python:${process.pid}`;
/** Default of --gateway-port; the master has its host to itself. */
const gatewayPort = 8070;
/**
 * Returns the version of its library and its instance. It prints a line for each call; a test can make
 * one instance block in a call.
 */
const program = `import socket, time, lib
def handler(event, context):
    print("called", event["n"], flush=True)
    pod = socket.gethostname()
    time.sleep(600 if pod == event.get("stays") else 1)
    return {"lib": lib.version, "pod": pod}
`;

test('a function runs on three machines', { timeout: 300_000 }, async (context) => {
  await makeRuntimeImage('python', image);
  context.after(() => docker('image', 'rm', '-f', image).then(() => undefined));
  const cluster = await MultiCluster.start(context, {
    images: [image],
    masterFlags: ['--python-image', image, '--node-monitor-grace-period', '15s'],
    nodeConfig: { 'heartbeat-interval': '2s' },
    nodes: [],
  });
  const { kubectl, hosts } = cluster;
  const indexes = await startIndexes(context, hosts.outside);
  await indexes.addWheel('lib', '1.0');
  await Promise.all([0, 1, 2].map((number) => cluster.join(number)));

  const post = gatewayCaller(context, cluster, gatewayPort, hosts.at(0).address);
  const call = async (event: object) => {
    const { status, text } = await post('/function/lib', event);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return JSON.parse(text) as { lib: string; pod: string };
  };
  const pods = async () =>
    (await kubectl.json<V1PodList>('get', 'pods', '-l', 'minik8s.io/function=lib')).items;
  /** Resolves with the ready pods on `nodes` once there are as many as nodes. */
  const readyOn = (nodes: readonly string[]) =>
    waitFor(
      `a ready instance on ${nodes.join(' and ')}`,
      async () => {
        const ready = (await pods()).filter((pod) => isReady(pod) && nodes.includes(nodeOf(pod)));
        return ready.length === nodes.length && ready;
      },
      { timeoutMs: 120_000 },
    );
  let instances: readonly V1Pod[] = [];

  await context.test(
    'another machine installs the same library version as the first, although a newer one exists',
    async () => {
      const files = { 'main.py': program, 'requirements.txt': 'lib\n' };
      const resources = { requests: { cpu: moreThanHalf(await kubectl.json('get', 'nodes')) } };
      const scaling = { minScale: 1, maxScale: 2, concurrency: 1, idleSeconds: 600, timeoutSeconds: 600 };
      const spec = { runtime: 'python', files, resources, ...scaling };
      const fn = { apiVersion: 'minik8s.io/v1', kind: 'Function', metadata: { name: 'lib' }, spec };
      const { code, stderr } = await kubectl.attempt(['create', '-f', '-'], { input: JSON.stringify(fn) });
      assert.equal(code, 0, stderr);
      const first = await call({ n: 'first' });
      assert.equal(first.lib, '1.0');
      await indexes.addWheel('lib', '1.1');
      await kubectl('patch', 'function', 'lib', '--type=merge', '-p', '{"spec":{"minScale":2}}');
      instances = await waitFor(
        'two ready instances',
        async () => {
          const ready = (await pods()).filter(isReady);
          return ready.length === 2 && ready;
        },
        { timeoutMs: 120_000 },
      );
      assert.equal(new Set(instances.map(nodeOf)).size, 2);
      const both = await Promise.all(['both-0', 'both-1'].map((n) => call({ n })));
      assert.deepEqual(new Set(both.map(({ pod }) => pod)), new Set(instances.map(nameOf)));
      assert.deepEqual(new Set(both.map(({ lib }) => lib)), new Set(['1.0']));
    },
  );

  await context.test('concurrent calls are answered on both machines, and each is made once', async () => {
    const numbers = Array.from({ length: 6 }, (_, index) => `many-${index}`);
    const answers = await Promise.all(numbers.map((n) => call({ n })));
    assert.deepEqual(new Set(answers.map(({ pod }) => pod)), new Set(instances.map(nameOf)));
    const called = await waitFor('a line for each call', async () => {
      const logs = await Promise.all(instances.map((pod) => kubectl('logs', nameOf(pod))));
      const lines = logs.join('').match(/many-\d+/g) ?? [];
      return lines.length >= numbers.length && lines;
    });
    assert.deepEqual(called.sort(), numbers.sort());
  });

  await context.test(
    'a machine that fails loses only its own call, and the third machine builds the same image',
    async () => {
      // The master is on node-0.
      const lost = instances.find((pod) => nodeOf(pod) !== 'node-0');
      assert.ok(lost);
      const gone = cluster.node(nodeOf(lost));
      const stays = nameOf(lost);
      const ends = Promise.allSettled(['cut-0', 'cut-1'].map((n) => call({ n, stays })));
      await waitFor('a call on the machine', async () => (await kubectl('logs', stays)).includes('cut-'));
      await gone.role.end('SIGKILL');
      await hosts.cut(gone.host);
      const failures = (await ends).flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
      assert.equal(failures.length, 1);
      assert.match(failures[0] ?? '', /502 .*the instance ended before it had answered the call/);
      // Once the lease has expired, another instance takes its place.
      const others = cluster.nodes.map(({ name }) => name).filter((name) => name !== gone.name);
      const left = await readyOn(others);
      const next = await Promise.all(['next-0', 'next-1', 'next-2'].map((n) => call({ n })));
      assert.deepEqual(new Set(next.map(({ pod }) => pod)), new Set(left.map(nameOf)));
      assert.deepEqual(new Set(next.map(({ lib }) => lib)), new Set(['1.0']));
      assert.equal(new Set([...instances, ...left].map(({ spec }) => spec?.containers[0]?.image)).size, 1);
    },
  );
});

const nodeOf = ({ spec }: V1Pod) => spec?.nodeName ?? '';

/** Starts package indexes; nodes that are started afterwards install from them. */
async function startIndexes(context: TestContext, address: string): Promise<PackageIndexes> {
  const indexes = await startPackageIndexes(address);
  const settings = { PIP_INDEX_URL: indexes.pipIndex, PIP_TRUSTED_HOST: address };
  const before = Object.keys(settings).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, settings);
  context.after(async () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await indexes.stop();
  });
  return indexes;
}

/** Returns an amount of CPU that a node can give to one instance only. */
function moreThanHalf({ items }: V1NodeList): string {
  const milli = ({ status }: V1Node) => {
    const cpu = status?.allocatable?.cpu ?? '';
    return cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000;
  };
  return `${Math.floor(Math.max(...items.map(milli)) / 2) + 1}m`;
}
