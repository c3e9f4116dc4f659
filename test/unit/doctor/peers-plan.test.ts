import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import { peersOf } from '../../../src/doctor/peers-plan.ts';

const node = (name: string, address: string | undefined, port = 10250, annotations = {}): Node =>
  ({
    metadata: { name, annotations },
    spec: {},
    status: {
      addresses: [
        { type: 'Hostname', address: name },
        ...(address === undefined ? [] : [{ type: 'InternalIP', address }]),
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  }) as unknown as Node;

const ready = (address: string, range: string) => ({
  'minik8s.io/node-ip': address,
  'minik8s.io/pod-cidr': range,
  'minik8s.io/vxlan-mac': '0a:58:0a:f4:01:00',
});

describe('peers of a node', () => {
  it('are the other Nodes, with their addresses and ports', () => {
    const nodes = [
      node('own', '192.0.2.1'),
      node('b', '192.0.2.2', 10251, ready('192.0.2.2', '10.244.1.0/24')),
      node('c', '192.0.2.3'),
    ];
    assert.deepEqual(peersOf(nodes, 'own'), [
      { node: 'b', address: '192.0.2.2', port: 10251, overlayAddress: '10.244.1.0' },
      { node: 'c', address: '192.0.2.3', port: 10250 },
    ]);
  });

  it('include only addresses of other machines', () => {
    for (const address of [
      undefined,
      '127.0.0.1',
      '169.254.169.254',
      '224.0.0.1',
      '0.0.0.0',
      '::1',
      'host.example',
    ])
      assert.deepEqual(peersOf([node('b', address)], 'own'), [], String(address));
    assert.deepEqual(peersOf([node('b', '192.0.2.2', 0)], 'own'), []);
  });

  it('have an address in the overlay only with a pod range, a MAC address and their own address in annotations', () => {
    for (const annotations of [
      ready('192.0.2.9', '10.244.1.0/24'),
      ready('192.0.2.2', '10.244.1.7/24'),
      { ...ready('192.0.2.2', '10.244.1.0/24'), 'minik8s.io/vxlan-mac': '' },
    ])
      assert.deepEqual(peersOf([node('b', '192.0.2.2', 10250, annotations)], 'own'), [
        { node: 'b', address: '192.0.2.2', port: 10250 },
      ]);
  });
});
