/** Tolerations that match a taint, and the keys of the well-known taints. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taintKeys, tolerates } from '../../../../../../src/api/core/v1/node/taints.ts';
import type { Toleration } from '../../../../../../src/api/core/v1/types.gen.ts';

const taint = { key: 'k', value: 'v', effect: 'NoSchedule' as const };

describe('a taint', () => {
  const table: [toleration: Toleration | undefined, valued: boolean, bare: boolean][] = [
    [undefined, false, false],
    [{ operator: 'Exists' }, true, true],
    [{ key: 'k', operator: 'Exists' }, true, true],
    [{ key: 'x', operator: 'Exists' }, false, false],
    [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }, true, true],
    [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }, false, false],
    [{ key: 'k', operator: 'Equal', value: 'v' }, true, false],
    [{ key: 'k', value: 'v' }, true, false],
    [{ key: 'k', value: 'x' }, false, false],
    [{ key: 'k' }, false, true],
    [{ value: 'v' }, false, false],
    [{ effect: 'NoSchedule' }, false, false],
  ];
  for (const [toleration, valued, bare] of table)
    it(`is compared with the toleration ${JSON.stringify(toleration ?? 'nothing')}`, () => {
      const list = toleration && [toleration];
      const { value: _, ...plain } = taint;
      assert.deepEqual([tolerates(list, taint), tolerates(list, plain)], [valued, bare]);
    });
  it('is tolerated if one of several tolerations matches', () => {
    assert.equal(tolerates([{ key: 'x' }, { operator: 'Exists' }], taint), true);
    assert.equal(tolerates([{ key: 'x' }, { key: 'y' }], taint), false);
    assert.equal(tolerates([], taint), false);
  });
  it('of the control plane has the standard name', () => {
    assert.deepEqual(
      Object.values(taintKeys).map((key) => key.replace('node.kubernetes.io/', '')),
      [
        'not-ready',
        'unreachable',
        'unschedulable',
        'memory-pressure',
        'disk-pressure',
        'pid-pressure',
        'network-unavailable',
        'out-of-service',
      ],
    );
  });
});
