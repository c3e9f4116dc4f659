/** To which pods a master connects by itself. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod.ts';
import { hasAddressOfItsNode } from '../../../../src/kube-apiserver/functions/reached-pods.ts';
import type { Cache } from '../../../../src/storage/cache.ts';

const nodes: Readonly<Record<string, object>> = {
  n1: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] },
  n2: { podCIDR: '10.244.2.0/24' },
  none: {},
};
const cache = {
  get: (key: string) => {
    const spec = nodes[key.split('/').at(-1) ?? ''];
    return spec && { object: { spec } };
  },
} as unknown as Cache;

it('only those whose address is of the range of their node: a node may say any', () => {
  const reaches = (nodeName: string, podIP?: string) =>
    hasAddressOfItsNode({ spec: { nodeName }, status: { podIP } } as unknown as Pod, cache);
  assert.deepEqual([reaches('n1', '10.244.1.7'), reaches('n2', '10.244.2.7')], [true, true]);
  for (const address of [
    '127.0.0.1',
    '10.244.2.7',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    '',
    undefined,
  ])
    assert.equal(reaches('n1', address), false, String(address));
  assert.deepEqual([reaches('none', '10.244.1.7'), reaches('gone', '10.244.1.7')], [false, false]);
});
