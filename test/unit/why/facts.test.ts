/** Facts that rules read of pods, of workloads and of the report of the scheduler. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOver, lastEnd, lastEvent } from '../../../src/why/pod-facts.ts';
import { unscheduledOf } from '../../../src/why/rejections.ts';
import { selectorOf } from '../../../src/why/service-facts.ts';
import { isShort, replicasOf } from '../../../src/why/workload-facts.ts';
import { condition, object, pod } from './why-objects.ts';

describe('facts of a pod', () => {
  it('name the present end of a container rather than the one before', () => {
    const status = {
      state: { terminated: { exitCode: 2 } },
      lastState: { terminated: { exitCode: 1 } },
    };
    const facts = { name: 'main', isInit: false, spec: {}, status };
    assert.deepEqual([lastEnd(facts)?.exitCode, lastEnd(facts)?.isPrevious], [2, false]);
    const running = { ...facts, status: { ...status, state: { running: {} } } };
    assert.deepEqual([lastEnd(running)?.exitCode, lastEnd(running)?.isPrevious], [1, true]);
  });

  it('count a pod that has failed or is being deleted as over', () => {
    const ofPhase = (phase: string) => pod('web', { status: { phase } });
    assert.deepEqual(['Failed', 'Succeeded', 'Running'].map(ofPhase).map(isOver), [true, true, false]);
    assert.equal(isOver(pod('web', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })), true);
  });

  it('take the message of the newest event of a reason', () => {
    const events = ['old', 'new'].map((message) => ({ reason: 'Failed', message }));
    assert.equal(lastEvent([...events, { reason: 'Other', message: 'x' }], 'Failed'), 'new');
    assert.equal(lastEvent(events, 'Failed', 'old'), 'old');
  });
});

describe('facts of a workload', () => {
  it('read the numbers of a DaemonSet from its own fields', () => {
    const status = {
      ...{ desiredNumberScheduled: 4, numberReady: 1, numberAvailable: 9 },
      ...{ updatedNumberScheduled: 2, currentNumberScheduled: 3 },
    };
    assert.deepEqual(replicasOf(object('DaemonSet', 'web', { status })), {
      ...{ wanted: 4, ready: 1, updated: 2, existing: 3 },
    });
  });

  it('count one pod for a Deployment that names no number', () => {
    assert.equal(replicasOf(object('Deployment', 'web', { spec: {} })).wanted, 1);
    assert.equal(replicasOf(object('Deployment', 'web', { spec: { replicas: 0 } })).wanted, 0);
  });

  it('report a lack of pods, except of a Job that has completed', () => {
    const job = (status: object) => object('Job', 'work', { status: status as never });
    assert.equal(isShort(job({})), true);
    assert.equal(isShort(job({ active: 1 })), false);
    assert.equal(isShort(job({ completionTime: '2026-01-01T00:00:00Z' })), false);
  });
});

describe('the selector of a Service', () => {
  it('is not used by a Service that is a name of another host', () => {
    const service = (type: string) => object('Service', 'web', { spec: { type, selector: { app: 'web' } } });
    assert.equal(selectorOf(service('ExternalName')), undefined);
    assert.deepEqual(selectorOf(service('ClusterIP')), { app: 'web' });
  });
});

describe('the report of the scheduler', () => {
  const rejected = (nodes: unknown, spec: object = {}) =>
    unscheduledOf(
      pod('web', {
        metadata: { annotations: { 'scheduler.minik8s.io/rejections': JSON.stringify(nodes) } },
        spec: spec as never,
        status: { conditions: [condition('PodScheduled', 'False', '', 'no  node')] },
      }),
    );
  const nodeWith = (node: string, reason: string) => ({ node, reasons: [{ reason }] });

  it('begins with the nodes that the pod selects', () => {
    const other = nodeWith('a', "node(s) didn't match Pod's node affinity/selector");
    const found = rejected({ nodes: [other, nodeWith('b', 'Too many pods')] });
    assert.deepEqual([found?.nearestNode, found?.evidence.length], ['b', 2]);
  });

  it('names five nodes, and the number of the others', () => {
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => nodeWith(name, 'Too many pods'));
    assert.equal(rejected({ nodes: nodes.slice(0, 5) })?.evidence.at(-1), 'e: Too many pods');
    assert.equal(rejected({ nodes })?.evidence.at(-1), '… and 1 more nodes');
  });

  it('of a pod that has a node is ignored, and one that is no object is the message alone', () => {
    assert.equal(rejected({ nodes: [] }, { nodeName: 'n1' }), undefined);
    for (const shape of [null, 1, 'x', []]) assert.deepEqual(rejected(shape)?.evidence, ['no node']);
  });
});
