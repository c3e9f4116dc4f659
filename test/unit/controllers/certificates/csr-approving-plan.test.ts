/** Clients whose certificates are approved: joining machines, and nodes that renew theirs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
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
  ['one of an older life', joining(), { node: ofA, lease: lease(59) }, 'approve'],
  [
    'one whose name lives',
    joining(),
    { lease: lease(61) },
    'deny',
    'DuplicateNodeName: duplicate node name: a node "a" is alive (it renewed its Lease 39 s ago)',
  ],
  ['one whose name was heard of just as long ago as counts', joining(), { lease: lease(60) }, 'approve'],
  [
    'one whose name lives by a clock ahead',
    joining(),
    { lease: lease(500) },
    'deny',
    'DuplicateNodeName: duplicate node name: a node "a" is alive (it renewed its Lease 0 s ago)',
  ],
  ['one taken for lost, by a clock ahead', joining(), { node: lost, lease: lease(500) }, 'approve'],
  [
    'one whose name was never alive',
    joining(),
    { lease: { ...lease(99), spec: { leaseDurationSeconds: 40 } } },
    'approve',
  ],
  [
    'one whose name has a Lease that says no time',
    joining(),
    { lease: { ...lease(99), spec: { renewTime: 'then' } } },
    'approve',
  ],
  [
    'one whose name lives, with a Lease that does not say for how long',
    joining(),
    { lease: { ...lease(99), spec: { renewTime: lease(61).spec.renewTime } } },
    'deny',
    'DuplicateNodeName: duplicate node name: a node "a" is alive (it renewed its Lease 39 s ago); choose another node-name, or, if that node is this machine, delete the node (minik8s ctl delete node a) or try again 40 s later',
  ],
  [
    'one whose name was heard of 40 s ago, where its Lease does not say for how long that counts',
    joining(),
    { lease: { ...lease(99), spec: { renewTime: lease(60).spec.renewTime } } },
    'approve',
  ],
  [
    'one whose name lives and has trouble of another sort',
    joining(),
    { node: withConditions('Ready True', 'MemoryPressure Unknown'), lease: lease(99) },
    'deny',
    'DuplicateNodeName',
  ],
  [
    'one whose name lives and says it is not ready',
    joining(),
    { node: withConditions('Ready False'), lease: lease(99) },
    'deny',
    'DuplicateNodeName',
  ],
  [
    'one taken for lost that has other conditions',
    joining(),
    { node: withConditions('MemoryPressure False', 'Ready Unknown'), lease: lease(99) },
    'approve',
  ],
  [
    'one whose name lives but has told nothing',
    joining(),
    { node: { ...ofA, status: undefined }, lease: lease(99) },
    'deny',
    'DuplicateNodeName',
  ],
  ['one that waits for a person', joining(), manual, 'await'],
  [
    'one whose name lives, by a person',
    joining(),
    { ...manual, lease: lease(100) },
    'deny',
    'DuplicateNodeName',
  ],
  [
    'a token for another sort of user',
    joining(),
    { content: content({ commonName: 'root' }) },
    'deny',
    'InvalidRequest: subject common name does not begin with system:node: and a name',
  ],
  [
    'a token for an empty node name',
    joining(),
    { content: content({ commonName: 'system:node:' }) },
    'deny',
    'InvalidRequest: subject common name',
  ],
  [
    'a token for an administrator',
    joining(),
    { content: content({ organizations: ['system:nodes', 'system:masters'] }) },
    'deny',
    'InvalidRequest: subject organization is not system:nodes',
  ],
  [
    'a name no object can have',
    joining(),
    { content: content({ commonName: 'system:node:A/..' }) },
    'deny',
    'InvalidRequest: node name "A/.."',
  ],
  [
    'a client that would serve too',
    joining({ usages: [...client, 'server auth'] }),
    {},
    'deny',
    'InvalidRequest: usages did not match [client auth, digital signature, key encipherment]',
  ],
  [
    'a client that would sign',
    joining({ usages: ['client auth', 'cert sign'] }),
    {},
    'deny',
    'InvalidRequest: usages',
  ],
  ['an RSA client', joining({ usages: [...client, 'key encipherment'] }), {}, 'approve'],
  [
    'a client with a name to serve',
    joining(),
    { content: hosts(['a'], []) },
    'deny',
    'InvalidRequest: DNS subjectAltNames are not allowed',
  ],
  [
    'a client with an address to serve',
    joining(),
    { content: hosts([], ['192.0.2.1']) },
    'deny',
    'InvalidRequest: IP subjectAltNames are not allowed',
  ],
  [
    'a client with an identity in a URI',
    joining(),
    { content: content({ uris: ['spiffe://a'] }) },
    'deny',
    'InvalidRequest: URI',
  ],
  [
    'what cannot be read',
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
    'a bootstrapper by group alone',
    request({ username: 'bob', groups: ['system:bootstrappers'] }),
    {},
    'leave',
  ],
  ['another signer', joining({ signerName: 'kubernetes.io/kube-apiserver-client' }), {}, 'leave'],
  [
    'what is decided',
    { ...joining(), status: { conditions: [{ type: 'Denied', status: 'True' }] } },
    {},
    'leave',
  ],
  ['what is signed', { ...joining(), status: { certificate: 'eA==' } }, {}, 'leave'],
  [
    'a bootstrap token that requests a serving certificate',
    serving('a', { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] }),
    { content: hosts(['a'], []) },
    'deny',
    'OtherNode: the holder of a bootstrap token may not request a certificate for node a',
  ],

  ['a node that renews', byNode('a'), {}, 'approve', 'Auto approving self kubelet client certificate.'],
  ['a node that renews while it lives', byNode('a'), { lease: lease(99) }, 'approve'],
  [
    'a node that asks for another',
    byNode('b'),
    {},
    'deny',
    'OtherNode: node "b" may not request a certificate for node a',
  ],
  [
    'a node whose name is a word of ours',
    byNode('join'),
    {},
    'deny',
    'OtherNode: node "join" may not request a certificate for node a',
  ],
  ['a node that renews, by a person', byNode('a'), { ...manual, node: ofA }, 'approve'],
  ['a node whose Node was deleted', byNode('a'), manual, 'await'],
  ['a node that is not approved yet', byNode('a'), { ...manual, node: pending }, 'await'],
]);

test('a user with a name like a node’s, outside of system:nodes, is left to an administrator', () => {
  const named = byNode('a', { groups: ['system:authenticated'] });
  assert.equal(decideRequest(named, situation({ node: ofA })).type, 'leave');
});
