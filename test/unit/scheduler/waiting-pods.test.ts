import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { newInternalError } from '../../../src/apimachinery/status-error.ts';
import { reportAnnotation } from '../../../src/scheduler/explain.ts';
import { at, type NodeOptions, node, pod } from '../controllers/objects.ts';
import { wanting } from './pods.ts';
import { SchedulingWorld } from './world.ts';

let world: SchedulingWorld;
beforeEach(async () => {
  world = new SchedulingWorld();
  await world.start();
});
afterEach(() => world.stop());

const lines = () => world.log.of('warn').concat(world.log.of('error'));
const room = (cpu: string, more: NodeOptions = {}): NodeOptions => ({
  allocatable: { cpu, memory: '8Gi', pods: '110' },
  ...more,
});
const noNodes = 'no nodes available to schedule pods';

describe('pods that fit nowhere', () => {
  it('get the room by their priority, and among equals by their waiting time', async () => {
    await world.addNode(node('n', room('0')));
    const priorities = { a: 1, b: 1000, c: 1, d: 50 };
    for (const [name, priority] of Object.entries(priorities))
      await world.put(wanting(name, { cpu: '1' }, { priority }));
    const placed: string[] = [];
    world.before = (request, name) => {
      if (request === 'binding') placed.push(name);
    };
    await world.addNode(node('n', room('3')));
    assert.deepEqual(placed, ['b', 'd', 'a']);
    assert.equal(world.nodeOf('c'), undefined);
  });
});

describe('a pod that fits nowhere', () => {
  it('has the reason in its condition, an event and a report', async () => {
    await world.addNode(node('n', room('500m')));
    await world.clock.advance(5_000);
    const made = wanting('p', { cpu: '1' });
    await world.put({
      ...made,
      status: { phase: 'Pending', conditions: [{ type: 'Other', status: 'True' }] },
    });
    const message =
      '0/1 nodes are available: 1 Insufficient cpu. Nearest fit: n lacks 500m cpu (requested 1, free 500m).';
    const reason = 'Unschedulable';
    const told = { type: 'PodScheduled', status: 'False', reason, message, lastTransitionTime: at(5) };
    assert.deepEqual(world.pod('p').status, {
      phase: 'Pending',
      conditions: [{ type: 'Other', status: 'True' }, told],
    });
    assert.deepEqual(world.events, [`Warning FailedScheduling p: ${message}`]);
    const report = JSON.parse(world.pod('p').metadata.annotations?.[reportAnnotation] ?? '');
    assert.deepEqual([report.total, report.nodes[0].node], [1, 'n']);
  });

  it('reports the reason once, and again when it changes', async () => {
    await world.put(wanting('p', { cpu: '1' }));
    const explanation = world.revisionOf('p');
    assert.deepEqual(world.events, [`Warning FailedScheduling p: ${noNodes}`]);
    await world.put({ ...world.pod('p'), spec: { ...world.pod('p').spec, tolerations: [] } });
    assert.equal(world.events.length, 1);
    assert.equal(world.revisionOf('p'), String(Number(explanation) + 1), 'stored by the test only');
    await world.clock.advance(60_000);
    await world.addNode(node('n', room('500m')));
    assert.equal(world.events.length, 2);
    const condition = world.conditionOf('p');
    assert.match(condition?.message ?? '', /^0\/1 nodes are available/);
    // The pod has been waiting since then, whatever the reason is.
    assert.equal(condition?.lastTransitionTime, at(0));
  });

  it('reports the reason again if the condition or the annotation was lost', async () => {
    await world.put(wanting('p', { cpu: '1' }));
    const { metadata, status, ...rest } = world.pod('p');
    await world.clock.advance(1_000);
    await world.put({ ...rest, metadata, status: { ...status, conditions: [] } });
    assert.equal(world.conditionOf('p')?.lastTransitionTime, at(1));
    await world.put({ ...world.pod('p'), metadata: { ...metadata, annotations: {} } });
    assert.ok(world.pod('p').metadata.annotations?.[reportAnnotation]);
    const [condition] = world.pod('p').status?.conditions ?? [];
    assert.ok(condition);
    for (const wrong of [{ status: 'True' as const }, { message: 'another' }]) {
      await world.put({ ...world.pod('p'), status: { conditions: [{ ...condition, ...wrong }] } });
      assert.deepEqual([world.conditionOf('p')?.status, world.conditionOf('p')?.message], ['False', noNodes]);
    }
    assert.equal(world.events.length, 1);
  });

  it('keeps the time since which it waits when its reason is reported again', async () => {
    const made = wanting('p', { cpu: '1' });
    await world.clock.advance(9_000);
    const scheduled = (status: 'True' | 'False') => ({
      ...made,
      status: { conditions: [{ type: 'PodScheduled', status, lastTransitionTime: at(3) }] },
    });
    await world.put(scheduled('False'));
    assert.equal(world.conditionOf('p')?.lastTransitionTime, at(3));
    await world.put(scheduled('True'));
    assert.equal(world.conditionOf('p')?.lastTransitionTime, at(9));
  });

  it('may be deleted during the report', async () => {
    world.before = (made, name) => {
      if (made === 'status') void world.remove(name);
    };
    await world.put({ ...wanting('p', { cpu: '1' }), status: {} });
    assert.throws(() => world.pod('p'));
    assert.deepEqual(lines(), []);
    assert.equal(world.clock.pending, 0);
  });

  it('reports the reason again after a failed report', async () => {
    world.before = (made) => {
      if (made === 'status') throw newInternalError('no');
    };
    await world.put(wanting('p', { cpu: '1' }));
    assert.notDeepEqual(lines(), []);
    world.before = () => {};
    await world.clock.advance(10);
    assert.equal(world.conditionOf('p')?.message, noNodes);
    assert.ok(world.pod('p').metadata.annotations?.[reportAnnotation]);
    assert.equal(world.events.length, 1);
  });
});

describe('a waiting pod is tried again', () => {
  const wanted = () => wanting('p', { cpu: '1' }, { nodeSelector: { disk: 'ssd' } });
  const suiting = room('2', { labels: { disk: 'ssd' } });
  for (const [what, before, after = node('n', suiting)] of [
    ['a node gets a label', node('n', room('2'))],
    ['a node loses a taint', node('n', { ...suiting, taints: [{ key: 'k', effect: 'NoSchedule' }] })],
    ['a node is no longer cordoned', node('n', { ...suiting, unschedulable: true })],
    ['a node becomes ready', node('n', { ...suiting, ready: 'False' })],
    ['a node has more allocatable resources', node('n', { ...suiting, ...room('500m') })],
    [
      'a node grows whose status has only a capacity',
      withoutAllocatable({ ...suiting, ...room('500m') }),
      withoutAllocatable(suiting),
    ],
  ] as const) {
    it(`when ${what}`, async () => {
      await world.addNode(before);
      await world.put(wanted());
      assert.equal(world.nodeOf('p'), undefined);
      await world.addNode(after);
      assert.equal(world.nodeOf('p'), 'n');
    });
  }

  const holder = () => pod('holder', { spec: { nodeName: 'n', containers: wanted().spec.containers } });

  for (const [what, change] of [
    ['a pod is deleted', () => world.remove('holder')],
    ['a pod has completed', () => world.put({ ...holder(), status: { phase: 'Succeeded' } })],
    [
      'a pod is replaced by another of its name',
      () => {
        const { metadata, ...rest } = pod('holder', { spec: { nodeName: 'm' } });
        return world.put({ ...rest, metadata: { ...metadata, uid: 'another' } });
      },
    ],
  ] as const) {
    it(`when ${what}`, async () => {
      await world.put(holder());
      await world.addNode(node('n', { ...suiting, ...room('1') }));
      await world.put(wanted());
      assert.equal(world.nodeOf('p'), undefined);
      await change();
      assert.equal(world.nodeOf('p'), 'n');
    });
  }

  it('when another pod releases its room, because its binding failed and it was bound to another node', async () => {
    await world.addNode(node('n', { ...suiting, ...room('1') }));
    const failed = Promise.withResolvers<void>();
    world.before = (request) => (request === 'binding' ? failed.promise : undefined);
    await world.put(wanting('other', { cpu: '1' }));
    await world.put(wanted());
    assert.match(world.conditionOf('p')?.message ?? '', /Insufficient cpu/);
    world.before = () => {};
    await world.addNode(node('m', room('1')));
    failed.reject(newInternalError('no'));
    await world.clock.settle();
    await world.put({ ...world.pod('other'), spec: { ...world.pod('other').spec, nodeName: 'm' } });
    await world.clock.advance(1_000);
    assert.deepEqual([world.nodeOf('p'), world.nodeOf('other')], ['n', 'm']);
  });

  it('when the pod with the reserved room is bound elsewhere by another client', async () => {
    await world.addNode(node('n', { ...suiting, ...room('1') }));
    const gate = Promise.withResolvers<void>();
    world.before = (request, name) => (request === 'binding' && name === 'other' ? gate.promise : undefined);
    await world.put(wanting('other', { cpu: '1' }));
    await world.put(wanted());
    assert.equal(world.nodeOf('p'), undefined);
    await world.put({ ...world.pod('other'), spec: { ...world.pod('other').spec, nodeName: 'elsewhere' } });
    assert.equal(world.nodeOf('p'), 'n');
    gate.resolve();
    await world.clock.advance(10);
    assert.deepEqual([world.nodeOf('other'), world.nodeOf('p')], ['elsewhere', 'n']);
  });

  it('when a node is deleted, since it then waits for another reason', async () => {
    await world.addNode(node('n', room('2')));
    await world.put(wanted());
    assert.match(world.conditionOf('p')?.message ?? '', /^0\/1/);
    await world.removeNode('n');
    assert.equal(world.conditionOf('p')?.message, noNodes);
  });

  it('when a node has returned unchanged', async () => {
    await world.put(holder());
    await world.addNode(node('n', { ...suiting, ...room('1') }));
    await world.put(wanted());
    await world.removeNode('n');
    assert.equal(world.conditionOf('p')?.message, noNodes);
    await world.addNode(node('n', { ...suiting, ...room('1') }));
    await world.clock.advance(1_000);
    assert.match(world.conditionOf('p')?.message ?? '', /Insufficient cpu/);
  });

  it('except after a heartbeat of a node or a pod, or the end of a pod without a node', async () => {
    const full = node('n', { ...suiting, ...room('1') });
    await world.addNode(full);
    const over = pod('over', { phase: 'Succeeded', spec: { nodeName: 'n' } });
    await world.put(holder(), over, wanting('none', {}, { schedulerName: 'mine' }));
    await world.put(pod('earlier', { spec: { nodeName: 'n' } }));
    await world.remove('earlier');
    world.prompt = false;
    await world.put(wanted());
    // The scheduler has not seen its own status write, so that each try would write it again.
    const explanation = world.revisionOf('p');
    await world.addNode({ ...full, status: { ...full.status, images: [] } });
    await world.put({ ...holder(), status: { phase: 'Running' } }, over);
    await world.remove('none');
    assert.equal(world.revisionOf('p'), explanation);
  });

  it('no longer once it has a node, or is deleted', async () => {
    await world.put(wanting('gone', {}), wanting('bound', {}), wanting('taken', {}));
    await world.remove('gone');
    await world.put({ ...world.pod('taken'), spec: { ...world.pod('taken').spec, nodeName: 'elsewhere' } });
    await world.addNode(node('n'));
    assert.equal(world.nodeOf('bound'), 'n');
    const events = world.events.length;
    await world.removeNode('n');
    assert.equal(world.events.length, events);
    assert.equal(world.nodeOf('taken'), 'elsewhere');
    assert.deepEqual(lines(), []);
  });

  it('with a new event after it was deleted and created again', async () => {
    await world.put(wanting('p', {}));
    await world.remove('p');
    await world.put(wanting('p', {}));
    assert.deepEqual(world.events, Array(2).fill(`Warning FailedScheduling p: ${noNodes}`));
  });
});

function withoutAllocatable(options: NodeOptions) {
  const made = node('n', options);
  return { ...made, status: { ...made.status, allocatable: undefined } };
}
