/** Serving certificates that are approved, and the reasons for a denial. */
import type { Node } from '../../../../src/api/core/v1/node/node.ts';
import {
  client,
  content,
  decide,
  hosts,
  node,
  ofA,
  places,
  type Row,
  serving,
  servingA,
} from './csr-requests.ts';

const twoAddresses = node('a', [
  ['InternalIP', '192.0.2.1'],
  ['ExternalIP', '192.0.2.3'],
]);
const saying = (conditions: readonly (readonly [string, string])[] | undefined): Node => {
  const other = node('b', [['InternalIP', '192.0.2.2']]);
  return {
    ...other,
    status: {
      ...other.status,
      conditions: conditions?.map(([type, status]) => ({ type, status: status as 'True' })),
    },
  };
};

decide([
  [
    'its name and address',
    servingA,
    { content: hosts(['a'], ['192.0.2.1']), node: ofA },
    'approve',
    'Auto approving kubelet serving certificate.',
  ],
  [
    'its own name and address, with one known master',
    servingA,
    {
      content: hosts(['a'], ['192.0.2.1']),
      node: ofA,
      places: { ...places, masters: places.masters.slice(0, 1) },
    },
    'approve',
  ],
  [
    'the second of its addresses',
    servingA,
    { content: hosts([], ['192.0.2.3']), node: twoAddresses },
    'approve',
  ],
  [
    'an address that is not one of its two',
    servingA,
    { content: hosts([], ['192.0.2.5']), node: twoAddresses },
    'deny',
    'NotItsAddress: address 192.0.2.5 does not belong to node a, which has 192.0.2.1, 192.0.2.3',
  ],
  [
    'an address that its Node lists as a name',
    servingA,
    {
      content: hosts([], ['192.0.2.7']),
      node: node('a', [
        ['Hostname', '192.0.2.7'],
        ['InternalIP', '192.0.2.1'],
      ]),
    },
    'deny',
    'NotItsAddress: address 192.0.2.7 does not belong to node a, which has 192.0.2.1',
  ],
  [
    'an address of a node that reports no valid address',
    servingA,
    { content: hosts([], ['192.0.2.7']), node: node('a', [['InternalIP', 'nonsense']]) },
    'approve',
  ],
  [
    'an address that a Ready node does not have',
    servingA,
    { content: hosts([], ['192.0.2.2']), otherNodes: [node('b', [['InternalIP', '192.0.2.4']])] },
    'approve',
  ],
  [
    'the second address of a Ready node',
    servingA,
    {
      content: hosts([], ['192.0.2.2']),
      otherNodes: [
        node('b', [
          ['InternalIP', '192.0.2.4'],
          ['ExternalIP', '192.0.2.2'],
        ]),
      ],
    },
    'deny',
    'NotItsAddress: address 192.0.2.2 belongs to node b',
  ],
  ...(
    [
      [
        [
          ['MemoryPressure', 'False'],
          ['Ready', 'True'],
        ],
        'deny',
        'NotItsAddress: address 192.0.2.2 belongs to node b',
      ],
      [
        [
          ['MemoryPressure', 'True'],
          ['Ready', 'False'],
        ],
        'approve',
      ],
      [undefined, 'approve'],
    ] as const
  ).map(
    ([conditions, type, text]): Row => [
      `the address of a node of which is said ${JSON.stringify(conditions)}`,
      servingA,
      { content: hosts([], ['192.0.2.2']), otherNodes: [saying(conditions)] },
      type,
      text,
    ],
  ),
  [
    'no address at all',
    servingA,
    { content: hosts([], ['192.0.2']), node: ofA },
    'deny',
    'NotItsAddress: address 192.0.2 is not an IP address',
  ],
  [
    'its machine’s own address',
    servingA,
    { content: hosts([], ['127.0.0.1']) },
    'deny',
    'NotItsAddress: address 127.0.0.1 is loopback: other',
  ],
  [
    'an address of pods',
    servingA,
    { content: hosts([], ['10.244.3.1']) },
    'deny',
    'NotItsAddress: address 10.244.3.1 is in 10.244.0.0/16, which is reserved for Services or pods',
  ],
  [
    'the address of cluster DNS, outside of the Service range',
    servingA,
    {
      content: hosts([], ['192.0.2.53']),
      places: { ...places, serviceAddresses: ['192.0.2.52', '192.0.2.53'] },
    },
    'deny',
    'NotItsAddress: address 192.0.2.53 belongs to a Service of the control plane',
  ],
  [
    'a reserved name that is its own',
    serving('kubernetes'),
    { content: content({ commonName: 'system:node:kubernetes', dnsNames: ['kubernetes'] }) },
    'deny',
    'NotItsName: DNS name kubernetes is reserved for the API server or for Services',
  ],
  ...(
    [
      [undefined, 'an unknown address'],
      [{ 'minik8s.io/remote-address': ['192.0.2.1'] }, '192.0.2.1'],
    ] satisfies readonly (readonly [Record<string, string[]> | undefined, string])[]
  ).map(
    ([extra, from]): Row => [
      `the host name of a master, from ${from}`,
      serving('master-1', { extra }),
      { content: content({ commonName: 'system:node:master-1', dnsNames: ['master-1'] }) },
      'deny',
      `NotItsName: DNS name master-1 belongs to the master at 192.0.2.10, but the request comes from ${from}`,
    ],
  ),
  [
    'the host name of its machine',
    servingA,
    { content: hosts(['a', 'a.example'], []), node: ofA },
    'deny',
    'NotItsName: DNS name a.example does not belong to node a: request a',
  ],
  [
    'a name that is not its own',
    servingA,
    { content: hosts(['a', 'b'], []), node: ofA },
    'deny',
    'NotItsName: DNS name b does not belong to node a: request a',
  ],
  [
    'an address that is not its own',
    servingA,
    { content: hosts(['a'], ['192.0.2.2']), node: ofA },
    'deny',
    'NotItsAddress: address 192.0.2.2 does not belong to node a, which has 192.0.2.1',
  ],
  [
    'an address before its Node reports one',
    servingA,
    { content: hosts(['a'], ['192.0.2.2']), node: node('a') },
    'approve',
  ],
  [
    'the address of another Ready node',
    servingA,
    { content: hosts(['a'], ['192.0.2.2']), otherNodes: [node('b', [['InternalIP', '192.0.2.2']])] },
    'deny',
    'NotItsAddress: address 192.0.2.2 belongs to node b',
  ],
  [
    'the address of a deleted node',
    servingA,
    {
      content: hosts(['a'], ['192.0.2.2']),
      otherNodes: [node('b', [['InternalIP', '192.0.2.2']], 'Unknown')],
    },
    'approve',
  ],
  [
    'a master’s address, requested from another machine',
    serving('a', { extra: { 'minik8s.io/remote-address': ['192.0.2.1'] } }),
    { content: hosts(['a'], ['192.0.2.10']) },
    'deny',
    'NotItsAddress: address 192.0.2.10 belongs to the API server, but the request comes from 192.0.2.1',
  ],
  [
    'a master’s address, requested from an unknown address',
    serving('a', {}),
    { content: hosts(['a'], ['192.0.2.10']) },
    'deny',
    'NotItsAddress: address 192.0.2.10 belongs to the API server, but the request comes from an unknown address',
  ],
  [
    'a master’s address, requested from that master',
    serving('a', { extra: { 'minik8s.io/remote-address': ['192.0.2.10'] } }),
    { content: hosts(['a'], ['192.0.2.10']) },
    'approve',
  ],
  [
    'a master’s address, requested by another process on its machine',
    serving('a', { extra: { 'minik8s.io/remote-address': ['127.0.0.1'] } }),
    { content: hosts(['a'], ['192.0.2.10']) },
    'approve',
  ],
  [
    'the address of the API’s Service',
    serving('a', { extra: { 'minik8s.io/remote-address': ['192.0.2.1'] } }),
    { content: hosts(['a'], ['10.96.0.1']) },
    'deny',
    'NotItsAddress',
  ],
  [
    'the API server’s name',
    servingA,
    {
      content: hosts(['kubernetes.default.svc'], []),
      node: node('a', [['Hostname', 'kubernetes.default.svc']]),
    },
    'deny',
    'NotItsName',
  ],
  [
    'nothing',
    servingA,
    { content: content() },
    'deny',
    'InvalidRequest: DNS or IP subjectAltName is required',
  ],
  [
    'a mail address',
    servingA,
    { content: content({ dnsNames: ['a'], emailAddresses: ['a@b'] }) },
    'deny',
    'InvalidRequest: Email subjectAltNames are not allowed',
  ],
  [
    'its name with the usage of a client',
    serving('a', { usages: client }),
    { content: hosts(['a'], []) },
    'deny',
    'InvalidRequest: usages did not match [server auth',
  ],
]);
