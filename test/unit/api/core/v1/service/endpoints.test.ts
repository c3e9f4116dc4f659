import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointsResource } from '../../../../../../src/api/core/v1/service/endpoints.ts';
import { serviceResource } from '../../../../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../../../../src/api/discovery/v1/endpoint-slice.ts';
import { cells, decode, testCreate, testUpdate } from '../../../../../fixtures/kinds.ts';

const endpoints = {
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 'web', namespace: 'default' },
  subsets: [
    {
      addresses: [{ ip: '10.0.0.1', hostname: 'web-0', nodeName: 'n1' }],
      ports: [{ name: 'http', port: 80, appProtocol: 'kubernetes.io/h2c' }],
    },
  ],
};

const of = (subset: object) => ({ subsets: [subset] });
const addresses = [{ ip: '10.0.0.1' }];

testCreate(endpointsResource, endpoints, [
  ['no subsets', { subsets: null }],
  ['no ready address', of({ notReadyAddresses: addresses })],
  ['without ports', of({ addresses })],
  [
    'without addresses',
    of({ ports: [{ port: 80 }] }),
    'subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
  ],
  ['IPv6', of({ addresses: [{ ip: 'fd00::1' }] })],
  [
    'addresses',
    of({ addresses: [{ ip: 'web' }, { ip: '127.0.0.1' }], notReadyAddresses: [{ ip: '169.254.169.254' }] }),
    'subsets[0].addresses[0].ip: Invalid value: "web": must be a valid IP address',
    'subsets[0].addresses[1].ip: Invalid value: "127.0.0.1": may not be in the loopback range',
    'subsets[0].notReadyAddresses[0].ip: Invalid value: "169.254.169.254": may not be in the link-local range',
  ],
  [
    'host and node',
    of({ addresses: [{ ip: '10.0.0.1', hostname: 'A', nodeName: 'B' }] }),
    'subsets[0].addresses[0].hostname: Invalid value: "A": a lowercase RFC 1123 label',
    'subsets[0].addresses[0].nodeName: Invalid value: "B": a lowercase RFC 1123 subdomain',
  ],
  [
    'ports',
    of({ addresses, ports: [{ port: 80 }, { name: 'B', port: 0 }, { name: 'c', port: 1, appProtocol: '' }] }),
    'subsets[0].ports[0].name: Required value',
    'subsets[0].ports[1].name: Invalid value: "B": a lowercase RFC 1123 label',
    'subsets[0].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'subsets[0].ports[2].appProtocol: Invalid value: "": name part must be non-empty',
    'subsets[0].ports[2].appProtocol: Invalid value: "": name part must consist of',
  ],
]);

testUpdate(endpointsResource, endpoints, [
  ['an address on another node', of({ addresses: [{ ip: '10.0.0.1', nodeName: 'n2' }] })],
  ['nothing left', { subsets: null }],
]);

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { clusterIP: 'None', ports: [{ port: 80 }] },
};

testCreate(serviceResource, service, [
  ['an application protocol', { spec: { ports: [{ port: 80, appProtocol: 'http' }] } }],
  [
    'an invalid application protocol',
    { spec: { ports: [{ port: 80, appProtocol: 'a b' }] } },
    'spec.ports[0].appProtocol: Invalid value: "a b": name part must consist of',
  ],
]);

const slice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'web-abc', namespace: 'default' },
  addressType: 'IPv4',
};

testCreate(endpointSliceResource, slice, [
  ['an application protocol', { ports: [{ port: 80, appProtocol: 'http' }] }],
  [
    'an invalid application protocol',
    { ports: [{ port: 80, appProtocol: 'a b' }] },
    'ports[0].appProtocol: Invalid value: "a b": name part must consist of',
  ],
]);

test('the default protocol of a port is TCP', () => {
  const { subsets } = decode(endpointsResource, {
    ...endpoints,
    ...of({ addresses, ports: [{ port: 80 }] }),
  });
  assert.equal(subsets?.[0]?.ports?.[0]?.protocol, 'TCP');
});

test('the column of Endpoints shows the ready ones, as in kubectl', () => {
  const ips = (...list: string[]) => list.map((ip) => ({ ip }));
  for (const [subsets, expected] of [
    [undefined, '<none>'],
    [[], '<none>'],
    [[{ notReadyAddresses: ips('10.0.0.1'), ports: [{ port: 80 }] }], ''],
    [[{ addresses: ips('10.0.0.1', 'fd00::1') }], '10.0.0.1,fd00::1'],
    [[{ addresses: ips('10.0.0.1', 'fd00::1'), ports: [{ port: 80 }] }], '10.0.0.1:80,[fd00::1]:80'],
    [
      [
        { addresses: ips('10.0.0.1', '10.0.0.2'), ports: [{ port: 80 }, { port: 81 }] },
        { addresses: ips('10.0.0.3'), ports: [{ port: 90 }] },
      ],
      '10.0.0.1:80,10.0.0.2:80,10.0.0.1:81 + 2 more...',
    ],
  ] as const) {
    const object = decode(endpointsResource, { ...endpoints, subsets });
    assert.equal(cells(endpointsResource, object, 0).Endpoints, expected);
  }
});
