/**
 * The agent of a node is killed with kill -9 while a pod tries to connect to the instances of a function
 * without a pause. No attempt may succeed: while the agent is killed, when the next agent starts, and
 * when an instance is started in between.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { V1Pod, V1PodList } from '@kubernetes/client-node';
import { type EngineCall, EngineProxy, type Moment } from './harness/engine-proxy.ts';
import { isReady, nameOf } from './harness/hello.ts';
import { end } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { type ClusterNode, MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

/** Number of addresses at the beginning of the node's range that are tried: all that the pods here get. */
const tried = 16;

/** Tries each address every few milliseconds, and writes a line with the address for each connection. */
const attackProgram = (addresses: readonly string[], file: string) => `
  const { appendFileSync } = require('node:fs');
  const { connect } = require('node:net');
  const attempt = (address) => {
    const socket = connect(8080, address, () => {
      appendFileSync('${file}', address + '\\n');
      socket.destroy();
    });
    socket.on('error', () => undefined);
    // A segment that was dropped is sent again only after a second.
    setTimeout(() => socket.destroy(), 200);
  };
  for (const address of ${JSON.stringify(addresses)}) setInterval(attempt, 5, address);
`;

/** Calls to the engine at which the agent is killed while an instance is started. */
const kills: readonly { readonly moment: Moment; readonly call: EngineCall }[] = [
  { moment: 'before', call: 'POST /containers/ID/rename' },
  { moment: 'after', call: 'POST /containers/ID/rename' },
  { moment: 'after', call: 'POST /containers/ID/start' },
];

class AttackedNode {
  readonly #cluster: MultiCluster;
  readonly #proxy: EngineProxy;
  readonly node: ClusterNode;
  readonly #file: string;

  private constructor(cluster: MultiCluster, proxy: EngineProxy, node: ClusterNode) {
    this.#cluster = cluster;
    this.#proxy = proxy;
    this.node = node;
    this.#file = join(node.host.directory, 'connections');
  }

  static async start(context: TestContext): Promise<AttackedNode> {
    const cluster = await MultiCluster.start(context, { hosts: 1, nodes: [] });
    const host = cluster.hosts.at(0);
    const proxy = new EngineProxy(host.dockerSocket);
    const socket = join(host.directory, 'proxy.sock');
    await proxy.listen(socket);
    host.after(() => proxy.close());
    const node = await cluster.join(0, { 'docker-socket': socket, 'sandbox-pool': 1 });
    return new AttackedNode(cluster, proxy, node);
  }

  async create(object: object): Promise<void> {
    const input = JSON.stringify(object);
    const { code, stderr } = await this.#cluster.kubectl.attempt(['create', '-f', '-'], { input });
    assert.equal(code, 0, stderr);
  }

  /** Creates a pod; resolves to its address when it is ready. */
  async pod(name: string, command?: readonly string[]): Promise<string> {
    const { kubectl } = this.#cluster;
    const container = { name: 'main', image: helloImage, ...(command && { command }) };
    await waitFor('an account', async () => (await kubectl('get', 'serviceaccount', 'default')) !== '');
    await this.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [container] },
    });
    await kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=60s');
    return (await kubectl.json<V1Pod>('get', 'pod', name)).status?.podIP ?? '';
  }

  /** Starts the attack from the network of a pod. */
  async attackFrom(pod: string): Promise<void> {
    const { host } = this.node;
    const id = await host.docker('ps', '--quiet', '--filter', `name=k8s_POD_${pod}_`);
    const pid = await host.docker('inspect', '--format', '{{.State.Pid}}', id);
    const { spec } = await this.#cluster.kubectl.json<{ spec: { podCIDR: string } }>('get', 'node', 'node-0');
    const addresses = Array.from({ length: tried }, (_, n) => spec.podCIDR.replace(/\.0\/24$/, `.${n + 1}`));
    await writeFile(this.#file, '');
    const program = attackProgram(addresses, this.#file);
    const child = host.spawn('nsenter', [`--net=/proc/${pid}/ns/net`, process.execPath, '-e', program]);
    host.after(() => end(child, 'SIGTERM'));
  }

  async connections(): Promise<string[]> {
    return (await readFile(this.#file, 'utf8')).split('\n').filter(Boolean);
  }

  /**
   * Waits until the attack has reached the open pod many more times, and asserts that it has reached no other
   * pod.
   */
  async onlyReached(open: string, when: string): Promise<void> {
    const before = (await this.connections()).length;
    await waitFor(`connections ${when}`, async () => (await this.connections()).length > before + 200);
    assert.deepEqual([...new Set(await this.connections())], [open], when);
  }

  /** Sets the number of instances. */
  async scale(count: number): Promise<void> {
    const patch = JSON.stringify({ spec: { minScale: count } });
    await this.#cluster.kubectl('patch', 'function', 'closed', '--type=merge', '-p', patch);
  }

  /** Waits until this many instances answer on their own machines; returns their addresses. */
  async instances(count: number): Promise<string[]> {
    const { kubectl } = this.#cluster;
    const pods = await waitFor(`${count} instances`, async () => {
      const { items } = await kubectl.json<V1PodList>('get', 'pods', '-l', 'minik8s.io/function=closed');
      return items.length === count && items.every(isReady) && items;
    });
    for (const pod of pods)
      await waitFor(`an answer of ${nameOf(pod)}`, async () => {
        const page = await this.node.host.page(`${pod.status?.podIP}:8080`);
        return page === `hello from ${nameOf(pod)}`;
      });
    return pods.map(({ status }) => status?.podIP ?? '');
  }

  /** Kills the agent at that call; resolves when it has ended. */
  async killedAt(call: EngineCall, moment: Moment): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#proxy.onCall = (one) => {
      if (one !== call) return undefined;
      this.#proxy.onCall = () => undefined;
      return { moment, act: () => this.node.role.end('SIGKILL').then(() => resolve(), reject) };
    };
    await promise;
  }
}

test('a pod that connects to instances without a pause reaches none while the agent is killed, when the next agent starts, and when an instance is started in between', {
  timeout: 300_000,
}, async (context) => {
  const attacked = await AttackedNode.start(context);
  const { node } = attacked;
  const open = await attacked.pod('open');
  await attacked.pod('attacker', ['sleep', '100000']);
  const spec = { image: helloImage, minScale: 1, maxScale: 8 };
  await attacked.create({
    apiVersion: 'minik8s.io/v1',
    kind: 'Function',
    metadata: { name: 'closed' },
    spec,
  });
  await attacked.instances(1);
  await attacked.attackFrom('attacker');
  await attacked.onlyReached(open, 'before the kill');

  for (let n = 0; n < 3; n++) {
    await node.role.end('SIGKILL');
    await attacked.onlyReached(open, 'while the agent is dead');
    const from = node.role.log.length;
    await node.role.start();
    const isConnected = () => node.role.log.slice(from).includes('connected to the container engine');
    await waitFor('the next agent', isConnected);
    await attacked.onlyReached(open, 'after the next agent has begun');
    await attacked.instances(1);
  }

  for (const [n, { moment, call }] of kills.entries()) {
    const when = `killed ${moment} ${call}`;
    const killed = attacked.killedAt(call, moment);
    await attacked.scale(n + 2);
    await killed;
    await attacked.onlyReached(open, `${when}, while the agent is dead`);
    await node.role.start();
    const addresses = await attacked.instances(n + 2);
    const isTried = (address: string) => Number(address.split('.')[3]) <= tried;
    assert.ok(addresses.every(isTried), `${addresses}`);
    await attacked.onlyReached(open, `${when}, after the next agent has begun`);
  }
});
