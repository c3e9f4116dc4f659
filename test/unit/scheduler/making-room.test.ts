/** Preemption: events, victims, and the time at which the preemptor is bound. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { newInternalError } from '../../../src/apimachinery/status-error.ts';
import { container, node, pod } from '../controllers/objects.ts';
import { wanting } from './pods.ts';
import { SchedulingWorld } from './world.ts';

let world: SchedulingWorld;
beforeEach(async () => {
  world = new SchedulingWorld();
  world.graceful = true;
  await world.start();
});
afterEach(() => world.stop());

const sized = (name: string, cpu = '2') => node(name, { allocatable: { cpu, memory: '8Gi', pods: '10' } });
const on = (nodeName: string, name: string, cpu: string, priority = 0) =>
  pod(name, { spec: { nodeName, priority, containers: [container({ resources: { requests: { cpu } } })] } });
const urgent = (name = 'urgent', cpu = '2', priority = 100, spec: Partial<Pod['spec']> = {}) =>
  wanting(name, { cpu }, { priority, ...spec });
const nominated = (name: string) => world.pod(name).status?.nominatedNodeName;
const leaving = (name: string) => world.pod(name).metadata.deletionTimestamp !== undefined;

describe('a pod that preempts another', () => {
  it('is nominated for the node, reports it, and is bound when the victim is deleted', async () => {
    await world.addNode(sized('n'));
    await world.put(on('n', 'low', '2'), urgent());
    assert.deepEqual([nominated('urgent'), leaving('low'), world.nodeOf('urgent')], ['n', true, undefined]);
    const condition = world.pod('low').status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.message],
      ['True', 'PreemptionByScheduler', 'default-scheduler: preempting to accommodate a higher priority pod'],
    );
    assert.ok(world.events.includes('Normal Preempted low: Preempted by pod uid-urgent on node n'));
    assert.match(world.conditionOf('urgent')?.message ?? '', /1 pod\(s\) of a lower priority leave n\.$/);
    await world.remove('low');
    assert.equal(world.nodeOf('urgent'), 'n');
    assert.deepEqual(world.deletes, ['low']);
  });

  it('preempts pods on one node only, also while it waits', async () => {
    await world.addNode(sized('a'), sized('b'));
    await world.put(on('a', 'x', '2'), on('b', 'y', '2'), urgent());
    assert.equal(world.deletes.length, 1);
    await world.addNode(node('other', { allocatable: { cpu: '1', memory: '1Gi', pods: '1' } }));
    await world.put(on('other', 'z', '1'));
    await world.remove('z');
    await world.clock.advance(60_000);
    assert.equal(world.deletes.length, 1);
  });

  it('keeps the room from later pods of a lower priority', async () => {
    await world.addNode(sized('n'));
    await world.put(on('n', 'low', '2'), urgent(), wanting('again', { cpu: '2' }, { priority: 50 }));
    assert.equal(world.deletes.length, 1);
    await world.remove('low');
    assert.deepEqual([world.nodeOf('urgent'), world.nodeOf('again')], ['n', undefined]);
  });

  it('loses its node to a pod of a higher priority, and gets another node or none', async () => {
    await world.addNode(sized('n'));
    await world.put(on('n', 'low', '2'), urgent('first', '2', 100), urgent('second', '2', 200));
    assert.equal(nominated('second'), 'n');
    assert.equal(nominated('first'), undefined);
    await world.remove('low');
    assert.deepEqual([world.nodeOf('first'), world.nodeOf('second')], [undefined, 'n']);
  });

  it('is bound to another node that has room earlier', async () => {
    await world.addNode(sized('n'));
    await world.put(on('n', 'low', '2'), urgent());
    await world.addNode(sized('m'));
    assert.equal(world.nodeOf('urgent'), 'm');
  });

  it('preempts pods on another node when its node is deleted', async () => {
    await world.addNode(sized('a'));
    await world.put(on('a', 'x', '2'), urgent());
    await world.put(on('b', 'y', '2'));
    await world.removeNode('a');
    assert.equal(nominated('urgent'), undefined);
    await world.addNode(sized('b'));
    await world.clock.advance(1_000);
    assert.deepEqual([nominated('urgent'), leaving('y')], ['b', true]);
    await world.remove('y');
    await world.clock.advance(10_000);
    assert.equal(world.nodeOf('urgent'), 'b');
  });

  it('keeps its new nomination when the server shows its earlier status', async () => {
    await world.addNode(sized('a'));
    await world.put(on('a', 'x', '2'), urgent());
    const earlier = world.pod('urgent');
    world.prompt = false;
    await world.put(on('b', 'y', '2'));
    await world.removeNode('a');
    await world.addNode(sized('b'));
    await world.clock.advance(1_000);
    await world.repeat(earlier);
    world.tell('urgent');
    await world.clock.settle();
    assert.deepEqual([nominated('urgent'), leaving('y')], ['b', true]);
    await world.put(wanting('low', { cpu: '2' }));
    await world.remove('y');
    await world.clock.advance(10_000);
    assert.deepEqual([world.nodeOf('urgent'), world.nodeOf('low')], ['b', undefined]);
  });

  it('keeps its nomination after a restart of the scheduler', async () => {
    await world.addNode(sized('a'), sized('b'));
    const low = on('a', 'low', '2');
    await world.put(low, on('b', 'other', '2'), urgent());
    const chosen = nominated('urgent');
    const again = new SchedulingWorld();
    for (const name of ['a', 'b']) await again.addNode(sized(name));
    again.graceful = true;
    await again.put(world.pod('low'), world.pod('other'), world.pod('urgent'));
    await again.start();
    assert.deepEqual(again.deletes, []);
    await again.remove(chosen === 'a' ? 'low' : 'other');
    assert.equal(again.nodeOf('urgent'), chosen);
    await again.stop();
  });

  it('retries if the victim could not be deleted', async () => {
    await world.addNode(sized('n'));
    let failures = 0;
    world.before = (request) => {
      if (request === 'delete' && failures++ < 2) throw newInternalError('no');
    };
    await world.put(on('n', 'low', '2'), urgent());
    assert.equal(leaving('low'), false);
    await world.clock.advance(60_000);
    assert.equal(leaving('low'), true);
  });
});

describe('pods of equal priority', () => {
  it('never preempt one another, and the replacement of a victim preempts nothing', async () => {
    await world.addNode(sized('n'));
    await world.put(urgent('a', '2', 10), urgent('b', '2', 10));
    await world.clock.advance(60_000);
    assert.deepEqual(world.deletes, []);
    await world.put(urgent('c', '2', 20));
    const [victim] = world.deletes;
    await world.remove(victim ?? '');
    // The controller creates a replacement.
    await world.put(urgent('d', '2', 10));
    await world.clock.advance(60_000);
    assert.equal(world.deletes.length, 1);
    assert.equal(world.nodeOf('c'), 'n');
  });
});
