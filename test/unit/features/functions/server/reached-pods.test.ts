/** Pods to which a master connects directly. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { storageKey } from '../../../../../src/apimachinery/resource-definition.ts';
import { podsOfNode } from '../../../../../src/features/functions/server/reached-pods.ts';
import type { Cache } from '../../../../../src/storage/cache.ts';

const nodes: Readonly<Record<string, object>> = {
  n1: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] },
  n2: { podCIDR: '10.244.2.0/24' },
  none: {},
  odd: { podCIDRs: ['10.244.1', '10.244.3.0/24'] },
};
const cache = {
  get: (key: string) => {
    const name = Object.keys(nodes).find((one) => key === storageKey(nodeResource, '', one));
    const spec = name && nodes[name];
    return spec && { object: { spec } };
  },
} as unknown as Cache;

it('a master connects directly only to pods of its own node with an address in the range of the node, since a node may report any address', () => {
  const reaches = (nodeName: string, podIP?: string, hostNetwork = false) =>
    podsOfNode(nodeName)({ spec: { nodeName, hostNetwork }, status: { podIP } } as unknown as Pod, cache);
  assert.deepEqual([reaches('n1', '10.244.1.7'), reaches('n2', '10.244.2.7')], [true, true]);
  const other = { spec: { nodeName: 'n2' }, status: { podIP: '10.244.2.7' } } as unknown as Pod;
  assert.equal(podsOfNode('n1')(other, cache), false, 'the agent of the other connects to it');
  assert.equal(reaches('n1', '10.244.1.7', true), false, 'it has the network of the machine');
  for (const address of [
    '127.0.0.1',
    '10.244.2.7',
    '169.254.169.254',
    '::1',
    '::ffff:127.0.0.1',
    '10.244.1.007',
    '10.244.1.7/32',
    '192.0.2.1',
    '',
    undefined,
  ])
    assert.equal(reaches('n1', address), false, String(address));
  assert.deepEqual([reaches('odd', '10.244.1.7'), reaches('odd', '10.244.3.7')], [false, true]);
  assert.deepEqual([reaches('none', '10.244.1.7'), reaches('gone', '10.244.1.7')], [false, false]);
});
