import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain, formatAmount, nearestFit, report } from '../../../src/scheduler/explain.ts';
import type { Rejection } from '../../../src/scheduler/framework.ts';

const short = (resource: string, requested: number, free: number): Rejection => ({
  plugin: 'NodeResourcesFit',
  text: `Insufficient ${resource}`,
  shortage: { resource, requested, free },
});
const refused = (text: string): Rejection => ({ plugin: 'Other', text });
const on = (node: string, ...rejections: Rejection[]) => ({ node, rejections });

describe('the reasons', () => {
  it('are sorted by their text, whatever the order of the nodes', () => {
    const text = explain([on('a', refused('z')), on('b', refused('y')), on('c', refused('z'))]);
    assert.equal(text, '0/3 nodes are available: 1 y, 2 z.');
  });

  it('name all shortages of the nearest fit', () => {
    assert.equal(
      explain([on('a', short('cpu', 2000, 500), short('memory', 1024 ** 3, 512 * 1024 ** 2))]),
      '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. Nearest fit: a lacks ' +
        '1500m cpu (requested 2, free 500m), 512Mi memory (requested 1Gi, free 512Mi).',
    );
  });

  it('name no nearest fit if each node has a reason other than a shortage', () => {
    const text = explain([
      on('a', short('cpu', 2000, 500), { ...refused('no'), plugin: 'NodeResourcesFit' }),
    ]);
    assert.equal(text, '0/1 nodes are available: 1 Insufficient cpu, 1 no.');
  });
});

describe('the nearest fit', () => {
  const nearest = (...nodes: ReturnType<typeof on>[]) => nearestFit(nodes)?.node;

  it('is the node that lacks the smallest share of the request', () => {
    assert.equal(nearest(on('a', short('cpu', 1000, 100)), on('b', short('memory', 1000, 200))), 'b');
    assert.equal(nearest(on('a', short('cpu', 10, 1)), on('b', short('cpu', 1000, 200))), 'b');
  });

  it('is computed as if at most the whole request were missing, even if the free amount is negative', () => {
    const overfull = on('a', short('cpu', 100, -900));
    assert.equal(nearest(overfull, on('b', short('cpu', 100, 0), short('memory', 100, 99))), 'a');
  });

  it('is the node with the fewest reasons other than shortages', () => {
    const two = on('a', refused('no'), refused('neither'));
    assert.equal(nearest(two, on('b', refused('no'), short('cpu', 10, 0))), 'b');
    assert.equal(nearest(on('b', refused('no'), short('cpu', 10, 0)), on('c', refused('no'))), 'c');
  });

  it('is a node that lacks several resources rather than a node with another reason', () => {
    const several = ['cpu', 'memory', 'a', 'b'].map((resource) => short(resource, 10, 0));
    assert.equal(nearest(on('a', refused('no')), on('b', ...several)), 'b');
  });

  it('is the first by name among equals, whatever the order of the nodes', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => on(name, short('cpu', 10, 5)));
    assert.ok(a && b && c);
    for (const nodes of [
      [a, b, c],
      [c, b, a],
      [b, c, a],
      [b, a, c],
    ])
      assert.equal(nearestFit(nodes)?.node, 'a');
    assert.equal(nearest(), undefined);
  });
});

describe('the report', () => {
  it('has at most twenty nodes, the nearest fit first, and the number of all nodes', () => {
    const nodes = Array.from({ length: 30 }, (_, index) =>
      on(`n${index}`, short('cpu', 100, index === 29 ? 99 : 0)),
    );
    const { total, nodes: told } = JSON.parse(report(nodes)) as { total: number; nodes: { node: string }[] };
    assert.equal(total, 30);
    assert.equal(told.length, 20);
    assert.deepEqual(
      told.slice(0, 2).map(({ node }) => node),
      ['n29', 'n0'],
    );
    assert.equal(report([]), '{"total":0,"nodes":[]}');
  });
});

for (const [resource, value, text] of [
  ['cpu', 1500, '1500m'],
  ['cpu', 2000, '2'],
  ['memory', 2 * 1024 ** 2, '2Mi'],
  ['ephemeral-storage', 3 * 1024 ** 3, '3Gi'],
  ['pods', 1024, '1024'],
  ['pods', 2000, '2k'],
] as const)
  it(`${value} of ${resource} is formatted as ${text}`, () =>
    assert.equal(formatAmount(resource, value), text));
