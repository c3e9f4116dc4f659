/** Node whose agent cleans up an unused volume, and the events on the volume meanwhile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/core/v1/node/node.ts';
import { choreNode, nextNode } from '../../../../src/controllers/volumes/chore-node.ts';
import { assigned, withoutOutcome } from '../../../../src/controllers/volumes/chore-state.ts';
import { node } from '../objects.ts';
import { volume } from './objects.ts';

const label = 'minik8s.io/node';
const affinity = (...names: string[]) => ({
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'host', operator: 'In' as const, values: names }] }],
  },
});
const host = (name: string, ready: 'True' | 'False' = 'True') =>
  node(name, { labels: { host: name }, ready });
const share = { hostPath: undefined, nfs: { server: 'files', path: '/v' } };
const of = (given: string | undefined, spec: object = {}) =>
  volume('v', { metadata: given === undefined ? {} : { labels: { [label]: given } }, spec });
/** Node before its agent has reported its status. */
const silent = (name: string): Node => ({ ...host(name), status: {} });
/** Node that reports these conditions among others. */
const saying = (name: string, ready: 'True' | 'False', pressure: 'True' | 'False'): Node => ({
  ...host(name),
  status: {
    conditions: [
      { type: 'MemoryPressure', status: pressure },
      { type: 'Ready', status: ready },
    ],
  },
});
const nodes = [host('n3'), host('n1'), host('n2', 'False')];

describe('the node of a volume', () => {
  it('is the present one, while it exists and may have the volume', () => {
    assert.deepEqual(choreNode(of('n3', share), nodes), { node: 'n3' });
    assert.deepEqual(choreNode(of('n2', share), nodes), { node: 'n2' }, 'also while it is away');
    assert.deepEqual(choreNode(of('gone', share), nodes), { node: 'n1' });
    assert.deepEqual(choreNode(of('n3', { ...share, nodeAffinity: affinity('n1') }), nodes), { node: 'n1' });
  });

  it('of an NFS volume is the first ready node that the volume may use', () => {
    assert.deepEqual(choreNode(of(undefined, share), nodes), { node: 'n1' });
    assert.deepEqual(choreNode(of(undefined, share), [host('n1', 'False'), silent('n2'), host('n3')]), {
      node: 'n3',
    });
    const mixed = [saying('n1', 'False', 'True'), saying('n2', 'True', 'False')];
    assert.deepEqual(choreNode(of(undefined, share), mixed), { node: 'n2' });
    assert.deepEqual(choreNode(of(undefined, share), [silent('n1')]), {
      why: 'no node is ready that could mount it',
    });
  });

  it('of a hostPath volume is the node of its affinity, or the only node of the cluster', () => {
    assert.deepEqual(choreNode(of(undefined, { nodeAffinity: affinity('n2') }), nodes), { node: 'n2' });
    assert.deepEqual(choreNode(of(undefined), [host('n1')]), { node: 'n1' });
  });
});

describe('the next node of a chore', () => {
  it('of an NFS volume is a ready node that may mount the volume and was not tried before', () => {
    assert.equal(nextNode(of(undefined, share), nodes), 'n1');
    assert.equal(nextNode(of(undefined, share), [host('0')]), '0');
    assert.equal(nextNode(of('n1', share), nodes), 'n3');
    assert.equal(nextNode(of('n3', share), nodes), undefined);
    assert.equal(nextNode(of('n1', { ...share, nodeAffinity: affinity('n1', 'n2') }), nodes), undefined);
  });

  it('of a hostPath volume does not exist: no other node has its folder', () => {
    assert.equal(nextNode(of('n1'), nodes), undefined);
  });
});

describe('the outcome of a chore in the status of a volume', () => {
  it('loses the reason and message of the previous node’s failure', () => {
    const status = { phase: 'Failed', reason: 'Stuck', message: 'no' };
    assert.deepEqual(withoutOutcome(volume('v', { status }))?.status, { phase: 'Failed' });
  });

  it('keeps the reason FolderRemoved or Emptied of a node that has finished', () => {
    for (const reason of ['FolderRemoved', 'Emptied'])
      assert.equal(withoutOutcome(volume('v', { status: { phase: 'Released', reason } })), undefined);
  });

  it('names the agent in a label, and keeps the other labels', () => {
    const one = volume('v', { metadata: { labels: { tier: 'gold', [label]: 'n1' } } });
    assert.deepEqual(assigned(one, 'n2').metadata.labels, { tier: 'gold', [label]: 'n2' });
    assert.deepEqual(assigned(volume('v'), 'n2').metadata.labels, { [label]: 'n2' });
  });
});
