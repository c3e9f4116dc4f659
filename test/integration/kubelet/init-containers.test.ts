/**
 * A pod with init containers, a sidecar and an image volume, while the agent is killed at each of its calls
 * that change the pod.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RuntimeError } from '../../../src/docker/runtime-error.ts';
import type { ContainerState } from '../../../src/kubelet/runtime/runtime.ts';
import { eventually, isReady } from './node-harness.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const image = 'app:1';
/** A hook whose program succeeds. */
const hook = { exec: { command: ['true'] } };
const spec = {
  volumes: [{ name: 'data', image: { reference: image, pullPolicy: 'Always' } }],
  initContainers: [
    { name: 'first', image },
    { name: 'net', image, restartPolicy: 'Always', lifecycle: { postStart: hook } },
    { name: 'second', image },
  ],
  containers: [
    {
      name: 'main',
      image,
      lifecycle: { postStart: hook, preStop: hook },
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    },
  ],
  terminationGracePeriodSeconds: 5,
};
/** Engine calls that change the pod. */
const acts = new Set([
  'pullImage',
  'runSandbox',
  'assignSandbox',
  'createContainer',
  'startContainer',
  'exec',
  'terminate',
  'kill',
  'remove',
]);

describe('a pod', () => {
  let node: SimulatedNode;
  /** Names of a pod's containers in the order in which they started and ended. */
  const story: string[] = [];
  const watching = new AbortController();
  const known = new Map<string, ContainerState>();

  /** Ends init containers successfully as soon as they run. */
  async function look(id: string): Promise<void> {
    const object = await node.runtime.inspect(id);
    if (object?.kind !== 'container') return;
    const before = known.get(id);
    known.set(id, object);
    if (object.state === 'running' && before?.state !== 'running') story.push(`+${object.name}`);
    if (object.state === 'exited' && before?.state === 'running') story.push(`-${object.name}`);
    if (object.state === 'running' && ['first', 'second'].includes(object.name)) node.runtime.exit(id, 0);
  }

  before(async () => {
    node = await startSimulatedNode();
    void (async () => {
      for await (const { id } of node.runtime.events(watching.signal, () => undefined)) await look(id);
    })();
  });
  after(() => {
    watching.abort();
    return node.close();
  });

  const deletePod = async (name: string) => {
    const { status } = await node.server.call('DELETE', `/api/v1/namespaces/default/pods/${name}`, {});
    assert.equal(status, 200);
  };
  const untilGone = (name: string) =>
    eventually(async () => {
      const { status } = await node.server.call('GET', `/api/v1/namespaces/default/pods/${name}`);
      assert.equal(status, 404);
    });
  const leftOf = async (name: string) =>
    (await Promise.all((await node.runtime.list()).map(({ id }) => node.runtime.inspect(id)))).filter(
      (object) => object?.pod?.name === name,
    );

  /**
   * Kills the agent at its nth act, before or after the act takes effect. Resolves to whether the agent was
   * killed.
   */
  async function killAt(act: number, when: 'before' | 'after'): Promise<boolean> {
    const name = `pod-${act}-${when}`;
    let acted = 0;
    let died = false;
    story.length = 0;
    const mortal = node
      .startMortal((call) => {
        if (!acts.has(call) || acted++ !== act) return undefined;
        died = true;
        return when;
      })
      .then(() => died && void node.start({ sandboxPool: 0 }));
    await node.createPod(name, spec);
    const pod = await node.waitFor(name, isReady);
    assert.deepEqual(
      pod.status?.initContainerStatuses?.map((one) => [one.name, one.ready, one.restartCount]),
      [
        ['first', true, 0],
        ['net', true, 0],
        ['second', true, 0],
      ],
    );
    const started = ['+first', '-first', '+net', '+second', '-second', '+main'];
    assert.deepEqual(story, started);
    await deletePod(name);
    await untilGone(name);
    assert.deepEqual(story, [...started, '-main', '-net']);
    assert.deepEqual(await leftOf(name), []);
    await node.stop();
    await mortal;
    return died;
  }

  it('becomes ready with one container if the engine fails to inspect that container at first', async () => {
    let refused = 0;
    const inspect = async (id: string) => {
      const found = await node.runtime.inspect(id);
      if (found?.kind !== 'container' || found.state !== 'running' || refused >= 4) return found;
      refused++;
      throw new RuntimeError('Unavailable', 'read ECONNRESET');
    };
    const runtime = new Proxy(node.runtime, {
      get(target, name) {
        const value: unknown = name === 'inspect' ? inspect : Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    node.start({ runtime });
    await node.createPod('unseen', { containers: spec.containers, volumes: spec.volumes });
    await node.waitFor('unseen', isReady);
    assert.equal(refused, 4);
    assert.equal((await node.running('unseen')).length, 1);
    await deletePod('unseen');
    await untilGone('unseen');
    await node.stop();
  });

  it('runs each init container once and in order, and leaves nothing behind, whenever the agent is killed', async () => {
    let act = 0;
    while (await killAt(act, 'before')) {
      assert.ok(await killAt(act, 'after'));
      act++;
    }
    assert.ok(act >= 19, `the agent made ${act} calls`);
  });
});
