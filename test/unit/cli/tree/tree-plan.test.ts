import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type TreeObject, treeOf, treeRow } from '../../../../src/cli/tree/tree-plan.ts';

const one = (
  kind: string,
  name: string,
  owners: readonly string[] = [],
  cells: Readonly<Record<string, string>> = {},
): TreeObject => ({
  kind,
  object: {
    metadata: {
      ...{ name, namespace: 'shop', uid: `uid-${name}` },
      ownerReferences: owners.map((owner, i) => ({ uid: `uid-${owner}`, controller: i === 0 })),
    },
  },
  cells: new Map(Object.entries(cells)),
});

const web = one('Deployment', 'web', [], { ready: '1/2', age: '3d' });
const first = one('ReplicaSet', 'web-1', ['web']);
const second = one('ReplicaSet', 'web-2', ['web']);
const a = one('Pod', 'web-1-a', ['web-1'], { ready: '1/1', status: 'Running', age: '2d' });
const b = one('Pod', 'web-2-b', ['web-2']);
const c = one('Pod', 'web-2-c', ['web-2']);
const all = [c, web, second, one('Pod', 'other'), first, b, a];
const lines = (root: TreeObject, objects = all) => treeOf(root, objects).map((branch) => treeRow(branch)[1]);

describe('the tree of an object', () => {
  it('has all that it owns below it, by kind and name', () => {
    assert.deepEqual(lines(web), [
      'Deployment/web',
      '├─ReplicaSet/web-1',
      '│ └─Pod/web-1-a',
      '└─ReplicaSet/web-2',
      '  ├─Pod/web-2-b',
      '  └─Pod/web-2-c',
    ]);
  });

  it('begins at the topmost owner, and shows of the owners only those above the object', () => {
    assert.deepEqual(lines(second), [
      'Deployment/web',
      '└─ReplicaSet/web-2',
      '  ├─Pod/web-2-b',
      '  └─Pod/web-2-c',
    ]);
    assert.deepEqual(lines(a), ['Deployment/web', '└─ReplicaSet/web-1', '  └─Pod/web-1-a']);
  });

  it('follows the controller where an object has several owners', () => {
    const shared = one('Secret', 'key', ['web-1', 'web-2']);
    assert.deepEqual(lines(shared, [...all, shared]), [
      'Deployment/web',
      '└─ReplicaSet/web-1',
      '  └─Secret/key',
    ]);
    assert.equal(lines(web, [...all, shared]).filter((line) => line?.endsWith('Secret/key')).length, 2);
  });

  it('ends where owners are a circle', () => {
    const [x, y] = [one('A', 'x', ['y']), one('B', 'y', ['x'])];
    assert.deepEqual(lines(x, [x, y]), ['B/y', '└─A/x', '  └─B/y']);
  });

  it('does not grow with the number of ways to an object', () => {
    const layers = Array.from({ length: 30 }, (_, layer) =>
      ['l', 'r'].map((side) =>
        one('X', `${side}${layer}`, layer === 0 ? [] : [`l${layer - 1}`, `r${layer - 1}`]),
      ),
    ).flat();
    assert.ok(lines(layers[0] ?? web, layers).length < 200);
  });

  it('has the cells that the server prints, and a dash for kinds without them', () => {
    assert.deepEqual(treeOf(a, [a]).map(treeRow), [['shop', 'Pod/web-1-a', '1/1', 'Running', '2d']]);
    assert.deepEqual(treeOf(first, [first]).map(treeRow), [['shop', 'ReplicaSet/web-1', '-', '-', '-']]);
  });
});
