import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node } from '../controllers/objects.ts';
import { snapshotOf } from './pods.ts';

const region = 'topology.kubernetes.io/region';
const zone = 'topology.kubernetes.io/zone';

describe('nodes are tried', () => {
  const order = (...nodes: [name: string, labels: Record<string, string> | undefined][]) =>
    snapshotOf(nodes.map(([name, labels]) => node(name, { labels })))
      .nodes.map(({ name }) => name)
      .join(' ');
  const a = { [zone]: 'a' };
  const b = { [zone]: 'b' };
  it('in their own order if all are in one zone, or in none', () => {
    assert.equal(order(['1', undefined], ['2', undefined], ['3', {}]), '1 2 3');
    assert.equal(order(['1', a], ['2', a]), '1 2');
    assert.equal(order(), '');
  });
  it('one of each zone in turn, as long as a zone has any left', () => {
    assert.equal(order(['a1', a], ['a2', a], ['a3', a], ['b1', b], ['x', {}], ['b2', b]), 'a1 b1 x a2 b2 a3');
  });
  it('one of each zone in turn if two regions have zones of the same name', () => {
    assert.equal(
      order(['1', { ...a, [region]: 'r' }], ['2', { ...a, [region]: 'r' }], ['3', { ...a, [region]: 's' }]),
      '1 3 2',
    );
  });
  it('one of each zone in turn also after a node got another zone or was removed', () => {
    const snapshot = snapshotOf([
      node('1', { labels: a }),
      node('2', { labels: a }),
      node('3', { labels: a }),
    ]);
    assert.equal(snapshot.nodes.map(({ name }) => name).join(' '), '1 2 3');
    snapshot.setNode(node('3', { labels: b }));
    assert.equal(snapshot.nodes.map(({ name }) => name).join(' '), '1 3 2');
    snapshot.removeNode('1');
    assert.equal(snapshot.nodes.map(({ name }) => name).join(' '), '2 3');
  });
});
