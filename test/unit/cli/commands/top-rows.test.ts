import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  cpuText,
  memoryText,
  nodeRows,
  podRows,
  shares,
  sorted,
  swapCells,
  swapText,
} from '../../../../src/cli/commands/top-rows.ts';
import { sumOf } from '../../../../src/views/usage.ts';

const pod = (name: string, ...containers: [string, string, string][]) => ({
  metadata: { name, namespace: 'default' },
  containers: containers.map(([container, cpu, memory]) => ({ name: container, usage: { cpu, memory } })),
});
const pods = [pod('b', ['c', '250000000n', '2048Ki'], ['d', '1m', '1Mi']), pod('a', ['c', '1', '512Ki'])];

describe('the rows of ctl top', () => {
  it('have the sum of a pod, or each of its containers', () => {
    const shown = podRows(pods, false).map(({ name, use }) => [name, cpuText(use), memoryText(use)]);
    assert.deepEqual(shown, [
      ['b', '251m', '3Mi'],
      ['a', '1000m', '0Mi'],
    ]);
    const each = podRows(pods, true).map(({ pod: owner, name, use }) => [owner, name, cpuText(use)]);
    assert.deepEqual(each, [
      ['b', 'c', '250m'],
      ['b', 'd', '1m'],
      ['a', 'c', '1000m'],
    ]);
  });

  it('are sorted by name, or by usage, the largest first', () => {
    const names = (by?: 'cpu' | 'memory') => sorted(podRows(pods, false), by).map(({ name }) => name);
    assert.deepEqual(
      [names(), names('cpu'), names('memory')],
      [
        ['a', 'b'],
        ['a', 'b'],
        ['b', 'a'],
      ],
    );
  });

  it('can be added up to the total of all pods', () => {
    const all = sumOf(podRows(pods, false).map(({ use }) => use));
    assert.deepEqual([cpuText(all), memoryText(all)], ['1251m', '3Mi']);
  });

  it('have the share of the allocatable resources of a node', () => {
    const [row] = nodeRows([{ metadata: { name: 'n1' }, usage: { cpu: '500m', memory: '1Gi' } }]);
    const use = row?.use ?? assert.fail();
    const node = { status: { allocatable: { cpu: '2', memory: '3Gi' } } };
    assert.deepEqual(shares(use, node), ['25%', '33%']);
    assert.deepEqual(shares(use, {}), ['<unknown>', '<unknown>']);
  });

  it('have the swap in use, and its share of the swap that the node reports', () => {
    const usage = { cpu: '1', memory: '1Gi', swap: '3Mi' };
    const use = nodeRows([{ metadata: { name: 'n1' }, usage }])[0]?.use ?? assert.fail();
    const node = (capacity?: number) => ({ status: { nodeInfo: { swap: { capacity } } } });
    assert.deepEqual(swapCells(use, node(4 << 20)), ['3Mi', '75%']);
    assert.deepEqual(swapCells(use, node(0)), ['3Mi', '0%']);
    assert.deepEqual(swapCells(use, node()), ['<unknown>', '<unknown>']);
    assert.deepEqual(swapCells(use, {}), ['<unknown>', '<unknown>']);
    assert.deepEqual([swapText(use), swapText({ cpu: 1, memory: 1 })], ['3Mi', '0Mi']);
  });
});
