/** Curves of edges, and the parts of a graph that belong together. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { curve } from '../../../../src/dashboard/app/graph/plan/curve.ts';
import { related } from '../../../../src/dashboard/app/pages/topology/plan/related.ts';

describe('a curve', () => {
  const points = [
    [0, 0],
    [100, 40],
    [200, 40],
  ] as const;

  it('leaves and reaches its points in the direction of the layers', () => {
    assert.equal(
      curve(points, 'right'),
      'M0.0 0.0C50.0 0.0,50.0 40.0,100.0 40.0C150.0 40.0,150.0 40.0,200.0 40.0',
    );
    assert.equal(curve(points.slice(0, 2), 'down'), 'M0.0 0.0C0.0 20.0,100.0 20.0,100.0 40.0');
  });

  it('without points is empty', () => assert.equal(curve([], 'down'), ''));
});

describe('the parts of a graph that belong to a node', () => {
  const edges = ['a>b', 'b>c', 'b>d', 'x>d', 'c>n', 'y>n'].map((pair) => {
    const [from = '', to = ''] = pair.split('>');
    return { from, to };
  });

  it('are the nodes on the paths to it and from it', () => {
    assert.deepEqual([...related(edges, 'b')].sort(), ['a', 'b', 'c', 'd', 'n']);
    assert.deepEqual([...related(edges, 'n')].sort(), ['a', 'b', 'c', 'n', 'y']);
    assert.deepEqual([...related(edges, 'lonely')], ['lonely']);
  });
});
