/** Events after which a waiting pod is retried, its delays, and events that cause no retry. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaim } from '../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeClaimResource } from '../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import type { Plugin } from '../../../src/scheduler/framework.ts';
import { plugins } from '../../../src/scheduler/plugins/index.ts';
import { delayAfter } from '../../../src/scheduler/waiting-pods.ts';
import { container, meta, type NodeOptions, node, pod } from '../controllers/objects.ts';
import { wanting } from './pods.ts';
import { SchedulingWorld } from './world.ts';

let world: SchedulingWorld;
afterEach(() => world.stop());

/** Names of the pods that were tried, once for each try. */
let looks: string[] = [];
const watcher: Plugin = {
  name: 'Watcher',
  preFilter({ pod: { metadata } }) {
    looks.push(metadata.name);
    return 'skip';
  },
};

async function begin(...more: readonly Plugin[]): Promise<void> {
  world = new SchedulingWorld();
  looks = [];
  await world.start({ plugins: [watcher, ...more, ...plugins()] });
}

const room = (cpu: string, more: NodeOptions = {}): NodeOptions => ({
  allocatable: { cpu, memory: '8Gi', pods: '50' },
  labels: { host: 'n' },
  ...more,
});
const on = (nodeName: string, name: string, spec: Partial<Pod['spec']> = {}) =>
  pod(name, {
    metadata: { labels: { app: name } },
    spec: { nodeName, containers: [container({ resources: { requests: { cpu: '1' } } })], ...spec },
  });
const waiting = {
  cpu: () => wanting('cpu', { cpu: '2' }),
  label: () => wanting('label', {}, { nodeSelector: { disk: 'ssd' } }),
  near: () =>
    wanting(
      'near',
      {},
      {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'host', labelSelector: { matchLabels: { app: 'db' } } },
            ],
          },
        },
      },
    ),
  claim: () => wanting('claim', {}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }),
};

describe('waiting pods: each event wakes only those that it can help', () => {
  const cases: [string, () => Promise<void>, string[]][] = [
    ['a deleted pod that leaves enough room', () => world.remove('holder'), ['cpu']],
    ['a deleted pod that leaves too little room', () => world.remove('small'), []],
    ['another created pod', () => world.put(on('n', 'else')), []],
    ['a created pod that an affinity term selects', () => world.put(on('n', 'db')), ['near']],
    [
      'a label of a node that a pod selects',
      () => world.addNode(node('n', room('2900m', { labels: { host: 'n', disk: 'ssd' } }))),
      ['label', 'near'],
    ],
    [
      'a label of a node that no pod selects',
      () => world.addNode(node('n', room('2900m', { labels: { host: 'n', disk: 'hdd' } }))),
      ['near'],
    ],
    ['more cpu on a node', () => world.addNode(node('n', room('9'))), ['cpu']],
    [
      'a heartbeat',
      () =>
        world.addNode({
          ...node('n', room('2900m')),
          status: { ...node('n', room('2900m')).status, images: [{ names: ['i:1'] }] },
        }),
      [],
    ],
    ['a new node that is too small', () => world.addNode(node('m', room('1', { labels: {} }))), ['near']],
    [
      'a new claim',
      async () => {
        const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: meta('c'), spec: {} };
        world.informers.put(persistentVolumeClaimResource, claim as PersistentVolumeClaim);
        await world.clock.settle();
      },
      ['claim'],
    ],
    [
      'a new namespace',
      async () => {
        world.informers.put(namespaceResource, {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { ...meta('x'), namespace: undefined },
          spec: {},
        } as never);
        await world.clock.settle();
      },
      ['near'],
    ],
    [
      'a change in the status of the pod cpu',
      () => world.put({ ...world.pod('cpu'), status: { ...world.pod('cpu').status, reason: 'x' } }),
      [],
    ],
    [
      'a change in the labels of the pod cpu',
      () =>
        world.put({
          ...world.pod('cpu'),
          metadata: { ...world.pod('cpu').metadata, labels: { new: 'yes' } },
        }),
      ['cpu'],
    ],
  ];
  for (const [what, happen, expected] of cases)
    it(`${what} wakes ${expected.length > 0 ? expected.join(' and ') : 'no pod'}`, async () => {
      await begin();
      await world.addNode(node('n', room('2900m')));
      await world.put(
        on('n', 'holder'),
        on('n', 'small', { containers: [container({ resources: { requests: { cpu: '500m' } } })] }),
      );
      for (const make of Object.values(waiting)) await world.put(make());
      assert.deepEqual(looks, ['cpu', 'label', 'near', 'claim']);
      looks = [];
      await happen();
      await world.clock.advance(60_000);
      assert.deepEqual([...new Set(looks)].sort(), expected);
    });
});

describe('a pod that is tried without success', () => {
  it('is retried at once, then after one second, and after twice the delay each time, up to ten seconds', async () => {
    assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map(delayAfter), [0, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    await begin();
    await world.addNode(node('n', room('1')));
    await world.put(wanting('p', {}, { nodeSelector: { disk: 'ssd' } }));
    for (let change = 1; change <= 4; change++)
      await world.addNode(node(`m${change}`, room('1', { labels: { disk: 'ssd' }, unschedulable: true })));
    assert.equal(looks.length, 2);
    await world.clock.advance(999);
    assert.equal(looks.length, 2);
    await world.clock.advance(1);
    assert.equal(looks.length, 3);
  });

  it('is bound at once, without a delay, if the first change helps it', async () => {
    await begin();
    await world.addNode(node('n', room('1')));
    await world.put(wanting('p', { cpu: '2' }));
    await world.addNode(node('n', room('3')));
    assert.equal(world.nodeOf('p'), 'n');
  });
});

describe('many pods that fit nowhere', () => {
  it('are checked once together if their requests are equal', async () => {
    let asked = 0;
    const counting: Plugin = {
      name: 'Counting',
      filter() {
        asked++;
        return [];
      },
    };
    await begin(counting);
    await world.addNode(node('n', room('1')));
    const alike = Array.from({ length: 200 }, (_, index) => wanting(`p${index}`, { cpu: '2' }));
    await world.put(...alike);
    assert.equal(asked, 2, 'once to find a node, and once to explain');
    assert.equal(world.conditionOf('p199')?.status, 'False');
    looks = [];
    await world.clock.advance(3_600_000);
    assert.deepEqual([asked, looks], [2, []], 'no pod is retried without an event');
  });
});

describe('Permit and Reserve', () => {
  const together = (count: number): Plugin => ({
    name: 'Together',
    permit: (_pod, { podCount }) => (podCount >= count ? 'allowed' : { waitMs: 5_000 }),
  });
  it('delay a pod until enough pods of its group exist, and then bind all of them', async () => {
    await begin(together(3));
    await world.addNode(node('n', room('9')));
    await world.put(wanting('a', {}), wanting('b', {}));
    assert.deepEqual([world.nodeOf('a'), world.nodeOf('b')], [undefined, undefined]);
    await world.put(wanting('c', {}));
    assert.deepEqual(['a', 'b', 'c'].map(world.nodeOf), ['n', 'n', 'n']);
  });
  it('release the room when the timeout expires or the pod is deleted', async () => {
    await begin(together(3));
    await world.addNode(node('n', room('2')));
    await world.put(wanting('a', { cpu: '2' }));
    await world.clock.advance(5_000);
    assert.match(world.conditionOf('a')?.message ?? '', /Together did not allow it in time/);
    await world.put(wanting('b', { cpu: '2' }));
    await world.remove('b');
    await world.clock.advance(10);
    await world.put(wanting('c', { cpu: '2' }));
    assert.equal(world.conditionOf('c'), undefined, 'it has the room and waits for the others');
    await world.remove('c');
    await world.clock.advance(60_000);
  });
  it('reject a pod whose node a Reserve plugin refuses', async () => {
    const closed: Plugin = {
      name: 'Closed',
      reserve: () => [{ plugin: 'Closed', text: 'it is closed' }],
      helps: () => false,
    };
    await begin(closed);
    await world.addNode(node('n', room('2')));
    await world.put(wanting('a', {}));
    assert.equal(world.conditionOf('a')?.message, '0/1 nodes are available: it is closed.');
  });
});
