/** Clients whose certificates are approved: joining machines, and nodes that renew theirs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remoteAddressKey } from '../../../../src/api/certificates/v1/conditions.ts';
import type { Node } from '../../../../src/api/core/v1/node/node.ts';
import { decideRequest } from '../../../../src/controllers/certificates/csr-approving-plan.ts';
import {
  byNode,
  client,
  content,
  decide,
  hosts,
  joining,
  lease,
  lost,
  manual,
  ofA,
  pending,
  request,
  serving,
  situation,
} from './csr-requests.ts';

test('a machine that joins under the name of a lost node at another address is reported as its successor', () => {
  const from = (address: string) => joining({ extra: { [remoteAddressKey]: [address] } });
  const lostAt = (...addresses: readonly string[]): Node => ({
    ...lost,
    status: { ...lost.status, addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  });
  const replacedBy = (address: string, node: Node | undefined) => {
    const decision = decideRequest(from(address), situation({ node }));
    assert.ok(decision.type === 'approve');
    return decision.replaced;
  };
  assert.equal(
    replacedBy('10.0.0.9', lostAt('10.0.0.8')),
    'the machine at 10.0.0.9 joins as node "a", which was the machine at 10.0.0.8 and does not answer: it gets that node\'s pods; if both exist, give one of them another node-name',
  );
  assert.equal(replacedBy('::ffff:10.0.0.8', lostAt('10.0.0.8')), undefined, 'the same address');
  assert.equal(replacedBy('10.0.0.9', lostAt('10.0.0.8', '10.0.0.9')), undefined, 'one of its addresses');
  assert.equal(replacedBy('10.0.0.9', undefined), undefined, 'a new name');
  assert.equal(replacedBy('10.0.0.9', lostAt()), undefined, 'a Node that has never reported an address');
});

const withConditions = (...conditions: readonly string[]): Node => ({
  ...ofA,
  status: {
    conditions: conditions.map((text) => {
      const [type = '', status = ''] = text.split(' ');
      return { type, status: status as 'True' };
    }),
  },
});

decide([
  [
    'a machine with a token',
    joining(),
    {},
    'approve',
    'Auto approving kubelet client certificate of a bootstrap token.',
  ],
  ['a machine whose Node has an old Lease', joining(), { node: ofA, lease: lease(59) }, 'approve'],
  [
    'a machine with the name of a live node',
    joining(),
    { lease: lease(61) },
    'deny',
    'DuplicateNodeName: duplicate node name: a node "a" is alive (it renewed its Lease 39 s ago)',
  ],
  [
    'a machine whose name sent its last heartbeat exactly the grace period ago',
    joining(),
    { lease: lease(60) },
    'approve',
  ],
  [
    'a machine with the name of a live node whose clock is ahead',
    joining(),
    { lease: lease(500) },
    'deny',
    'DuplicateNodeName: duplicate node name: a node "a" is alive (it renewed its Lease 0 s ago)',
  ],
  [
    'a machine with the name of a lost node whose clock is ahead',
    joining(),
    { node: lost, lease: lease(500) },
    'approve',
  ],
  [
    'a machine with the name of a node that never sent a heartbeat',
    joining(),
    { lease: { ...lease(99), spec: { leaseDurationSeconds: 40 } } },
    'approve',
  ],
  [
    'a machine whose name has a Lease without a renewal time',
    joining(),
    { lease: { ...lease(99), spec: { renewTime: 'then' } } },
    'approve',
  ],
  [
    'a machine with the name of a live node, whose Lease has no duration',
    joining(),
    { lease: { ...lease(99), spec: { renewTime: lease(61).spec.renewTime } } },
    'deny',
    'DuplicateNodeName: duplicate node name: a node "a" is alive (it renewed its Lease 39 s ago); choose another node-name, or, if that node is this machine, delete the node (minik8s ctl delete node a) or try again 40 s later',
  ],
  [
    'a machine whose name sent its last heartbeat 40 s ago, with a Lease without a duration',
    joining(),
    { lease: { ...lease(99), spec: { renewTime: lease(60).spec.renewTime } } },
    'approve',
  ],
  [
    'a machine with the name of a live node that has other problems',
    joining(),
    { node: withConditions('Ready True', 'MemoryPressure Unknown'), lease: lease(99) },
    'deny',
    'DuplicateNodeName',
  ],
  [
    'a machine with the name of a live node that is not ready',
    joining(),
    { node: withConditions('Ready False'), lease: lease(99) },
    'deny',
    'DuplicateNodeName',
  ],
  [
    'a machine with the name of a lost node that has other conditions',
    joining(),
    { node: withConditions('MemoryPressure False', 'Ready Unknown'), lease: lease(99) },
    'approve',
  ],
  [
    'a machine with the name of a live node without conditions',
    joining(),
    { node: { ...ofA, status: undefined }, lease: lease(99) },
    'deny',
    'DuplicateNodeName',
  ],
  ['a machine that waits for an administrator', joining(), manual, 'await'],
  [
    'a machine with the name of a live node, with manual approval',
    joining(),
    { ...manual, lease: lease(100) },
    'deny',
    'DuplicateNodeName',
  ],
  [
    'a token that requests another type of user',
    joining(),
    { content: content({ commonName: 'root' }) },
    'deny',
    'InvalidRequest: subject common name does not begin with system:node: and a name',
  ],
  [
    'a token that requests an empty node name',
    joining(),
    { content: content({ commonName: 'system:node:' }) },
    'deny',
    'InvalidRequest: subject common name',
  ],
  [
    'a token that requests an administrator',
    joining(),
    { content: content({ organizations: ['system:nodes', 'system:masters'] }) },
    'deny',
    'InvalidRequest: subject organization is not system:nodes',
  ],
  [
    'a name that no object can have',
    joining(),
    { content: content({ commonName: 'system:node:A/..' }) },
    'deny',
    'InvalidRequest: node name "A/.."',
  ],
  [
    'a client certificate with the usage of a server',
    joining({ usages: [...client, 'server auth'] }),
    {},
    'deny',
    'InvalidRequest: usages did not match [client auth, digital signature, key encipherment]',
  ],
  [
    'a client certificate with the usage of an authority',
    joining({ usages: ['client auth', 'cert sign'] }),
    {},
    'deny',
    'InvalidRequest: usages',
  ],
  ['an RSA client', joining({ usages: [...client, 'key encipherment'] }), {}, 'approve'],
  [
    'a client certificate with a DNS name',
    joining(),
    { content: hosts(['a'], []) },
    'deny',
    'InvalidRequest: DNS subjectAltNames are not allowed',
  ],
  [
    'a client certificate with an IP address',
    joining(),
    { content: hosts([], ['192.0.2.1']) },
    'deny',
    'InvalidRequest: IP subjectAltNames are not allowed',
  ],
  [
    'a client certificate with a URI',
    joining(),
    { content: content({ uris: ['spiffe://a'] }) },
    'deny',
    'InvalidRequest: URI',
  ],
  [
    'a request that cannot be parsed',
    joining(),
    { content: undefined },
    'deny',
    'InvalidRequest: the certificate request cannot be read',
  ],
  ['another user', request({ username: 'bob', groups: ['system:authenticated'] }), {}, 'leave'],
  [
    'a user with the name of a bootstrap token',
    request({ username: 'system:bootstrap:x', groups: [] }),
    {},
    'leave',
  ],
  [
    'a user who only has the group of bootstrap tokens',
    request({ username: 'bob', groups: ['system:bootstrappers'] }),
    {},
    'leave',
  ],
  ['another signer', joining({ signerName: 'kubernetes.io/kube-apiserver-client' }), {}, 'leave'],
  [
    'a decided request',
    { ...joining(), status: { conditions: [{ type: 'Denied', status: 'True' }] } },
    {},
    'leave',
  ],
  ['a signed request', { ...joining(), status: { certificate: 'eA==' } }, {}, 'leave'],
  [
    'a bootstrap token that requests a serving certificate',
    serving('a', { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] }),
    { content: hosts(['a'], []) },
    'deny',
    'OtherNode: the holder of a bootstrap token may not request a certificate for node a',
  ],

  ['a node that renews', byNode('a'), {}, 'approve', 'Auto approving self kubelet client certificate.'],
  ['a live node that renews', byNode('a'), { lease: lease(99) }, 'approve'],
  [
    'a node that requests the certificate of another node',
    byNode('b'),
    {},
    'deny',
    'OtherNode: node "b" may not request a certificate for node a',
  ],
  [
    'a node with the name of a special user',
    byNode('join'),
    {},
    'deny',
    'OtherNode: node "join" may not request a certificate for node a',
  ],
  ['a node that renews, with manual approval', byNode('a'), { ...manual, node: ofA }, 'approve'],
  ['a node whose Node was deleted', byNode('a'), manual, 'await'],
  ['a node that is not approved yet', byNode('a'), { ...manual, node: pending }, 'await'],
]);

test('a user with a name like a node’s, outside of system:nodes, is left to an administrator', () => {
  const named = byNode('a', { groups: ['system:authenticated'] });
  assert.equal(decideRequest(named, situation({ node: ofA })).type, 'leave');
});
