import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { newInternalError, newNotFound } from '../../../src/apimachinery/status-error.ts';
import { type SchedulerOptions, scheduler } from '../../../src/scheduler/scheduler.ts';
import { at, type NodeOptions, node, type PodOptions, pod } from '../controllers/objects.ts';
import { wanting } from './pods.ts';
import { SchedulingWorld } from './world.ts';

let world: SchedulingWorld;
afterEach(() => world.stop());

async function begin(options?: SchedulerOptions): Promise<SchedulingWorld> {
  world = new SchedulingWorld();
  await world.start(options);
  return world;
}

const cores = (cpu: string): NodeOptions => ({ allocatable: { cpu, memory: '8Gi', pods: '110' } });
const small = (name: string, spec?: Partial<Pod['spec']>) => wanting(name, { cpu: '100m' }, spec);
const lines = () => world.log.of('warn').concat(world.log.of('error'));

describe('a pod without a node', () => {
  it('is bound to a node with room, with an event', async () => {
    await begin();
    await world.addNode(node('full', cores('0')), node('n'));
    await world.put(small('p'));
    assert.equal(world.nodeOf('p'), 'n');
    assert.deepEqual(world.events, ['Normal Scheduled p: Successfully assigned default/p to n']);
    assert.equal(world.conditionOf('p')?.status, 'True');
    // The pod was stored at its creation and at its binding.
    assert.equal(world.revisionOf('p'), '2');
  });

  it('is bound if it existed before the scheduler', async () => {
    world = new SchedulingWorld();
    await world.put(small('p'));
    await world.addNode(node('n'));
    await world.start();
    assert.equal(world.nodeOf('p'), 'n');
  });

  const over = { metadata: { deletionTimestamp: at(1) } };
  for (const [what, options] of [
    ['names another scheduler', { spec: { schedulerName: 'mine' } }],
    ['is being deleted', over],
    ['has gates', { spec: { schedulingGates: [{ name: 'a.example/b' }] } }],
    ['has failed', { phase: 'Failed' }],
    ['has succeeded', { phase: 'Succeeded' }],
  ] as [string, PodOptions][]) {
    it(`is not scheduled when it ${what}`, async () => {
      await begin();
      await world.addNode(node('n'));
      await world.put(pod('p', { ...options, spec: { nodeName: undefined, ...options.spec } }));
      assert.deepEqual([world.nodeOf('p'), world.revisionOf('p')], [undefined, '1']);
      assert.deepEqual(world.log.lines, []);
    });
  }

  it('is bound as soon as its gates are removed', async () => {
    await begin();
    await world.addNode(node('n'));
    await world.put(small('p', { schedulingGates: [{ name: 'a.example/b' }] }));
    await world.put(small('p', { schedulingGates: [] }));
    assert.equal(world.nodeOf('p'), 'n');
  });

  it('is handled by the scheduler that it names', async () => {
    await begin({ schedulerName: 'mine' });
    await world.addNode(node('n'));
    await world.put(small('own', { schedulerName: 'mine' }), small('other'));
    assert.deepEqual([world.nodeOf('own'), world.nodeOf('other')], ['n', undefined]);
  });

  it('gets the node after the last chosen one with RoundRobin', async () => {
    await begin({ policy: 'RoundRobin' });
    await world.addNode(node('b'), node('zone'), node('a'));
    const names = ['p1', 'p2', 'p3', 'p4'];
    for (const name of names) await world.put(small(name));
    assert.deepEqual(names.map(world.nodeOf), ['a', 'b', 'zone', 'a']);
  });
});

it('an unknown policy is rejected with a list of the existing ones', async () => {
  await begin();
  const wrong = { policy: 'Best' } as unknown as SchedulerOptions;
  assert.throws(
    () => scheduler(wrong),
    /"Best" does not exist; use one of Default, RoundRobin, Random, LeastPod, LeastCpu, LeastMem$/,
  );
});

describe('nodes are never overcommitted', () => {
  it('while the cache does not show many bindings yet', async () => {
    await begin();
    world.prompt = false;
    await world.addNode(node('n', cores('1')), node('m', cores('1')));
    const gate = Promise.withResolvers<void>();
    world.before = (request) => (request === 'binding' ? gate.promise : undefined);
    const names = Array.from({ length: 6 }, (_, index) => `p${index}`);
    await world.put(...names.map((name) => wanting(name, { cpu: '400m' })));
    gate.resolve();
    await world.clock.settle();
    const nodes = names.map(world.nodeOf);
    for (const name of ['n', 'm']) assert.equal(nodes.filter((one) => one === name).length, 2, name);
    // Later events of the server change nothing, whether they are from before the binding or after it.
    await world.repeat(wanting('p0', { cpu: '400m' }, { nodeSelector: {} }));
    assert.deepEqual(world.log.lines, []);
    for (const name of names) world.tell(name);
    await world.clock.settle();
    assert.deepEqual(names.map(world.nodeOf), nodes);
    assert.deepEqual(lines(), []);
  });

  it('after a failed binding, whose resources are released', async () => {
    await begin();
    await world.addNode(node('n', cores('1')));
    world.before = () => {
      throw newInternalError('no');
    };
    await world.put(wanting('p', { cpu: '1' }));
    assert.equal(world.nodeOf('p'), undefined);
    assert.equal(lines().length, 1);
    world.before = () => {};
    await world.clock.advance(10);
    assert.equal(world.nodeOf('p'), 'n');
    assert.deepEqual(world.events, ['Normal Scheduled p: Successfully assigned default/p to n']);
  });
});

describe('a binding of a missing object', () => {
  const pods = { group: '', plural: 'pods' };

  it('is no error when the pod is deleted', async () => {
    await begin();
    await world.addNode(node('n', cores('1')));
    world.before = async (request) => {
      world.before = () => {};
      assert.equal(request, 'binding');
      await world.remove('p');
    };
    await world.put(wanting('p', { cpu: '1' }));
    assert.deepEqual([lines(), world.events, world.clock.pending], [[], [], 0]);
    await world.put(wanting('next', { cpu: '1' }));
    assert.equal(world.nodeOf('next'), 'n');
  });

  it('is no failure if the pod was deleted and the cache still shows it', async () => {
    await begin();
    await world.addNode(node('n', cores('1')));
    world.before = () => {
      world.before = () => {};
      throw newNotFound(pods, 'p');
    };
    await world.put(wanting('p', { cpu: '1' }));
    assert.deepEqual([world.log.lines, world.events, world.clock.pending], [[], [], 0]);
    await world.put(wanting('next', { cpu: '1' }));
    assert.equal(world.nodeOf('next'), 'n', 'the resources that were meant for the deleted pod are free');
    await world.remove('p');
    assert.deepEqual([lines(), world.clock.pending], [[], 0]);
  });

  it('is no error if another pod got the name in the meantime, and that pod is bound', async () => {
    await begin();
    await world.addNode(node('n'));
    world.before = () => {
      world.before = () => {};
      const again = small('p');
      void world.put({ ...again, metadata: { ...again.metadata, uid: 'another' } });
      throw newNotFound(pods, 'p');
    };
    await world.put(small('p'));
    assert.equal(world.pod('p').metadata.uid, 'another');
    assert.equal(world.nodeOf('p'), 'n');
    assert.deepEqual(lines(), []);
  });

  it('is retried if the pod exists', async () => {
    await begin();
    await world.addNode(node('n'));
    world.before = () => {
      throw newNotFound({ group: '', plural: 'nodes' }, 'n');
    };
    await world.put(small('p'));
    world.before = () => {};
    assert.equal(lines().length, 1);
    await world.clock.advance(10);
    assert.equal(world.nodeOf('p'), 'n');
  });
});

describe('the report of why a pod waits', () => {
  it('is removed when the pod has a node', async () => {
    await begin();
    await world.put(small('p'));
    const report = { 'scheduler.minik8s.io/rejections': '{"total":0,"nodes":[]}' };
    assert.deepEqual(world.pod('p').metadata.annotations, report);
    await world.addNode(node('n'));
    assert.equal(world.nodeOf('p'), 'n');
    assert.deepEqual(world.pod('p').metadata.annotations, {});
  });
});
