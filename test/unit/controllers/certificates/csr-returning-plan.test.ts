/** Nodes that were off until their certificate had expired, and clients that pretend to be such nodes. */
import { expiredCertificateKey } from '../../../../src/api/certificates/v1/conditions.ts';
import { certificateAnnotation } from '../../../../src/api/core/v1/node/annotations.ts';
import type { Node } from '../../../../src/api/core/v1/node/node.ts';
import {
  content,
  decide,
  lease,
  lost,
  manual,
  ofA,
  pending,
  request,
  server,
  servingSigner,
} from './csr-requests.ts';

const withLast = (node: Node, fingerprint: string): Node => ({
  ...node,
  metadata: { ...node.metadata, annotations: { [certificateAnnotation]: fingerprint } },
});

const returning = (shown: string | undefined, more: Parameters<typeof request>[0] = {}) =>
  request({
    username: 'system:expired-node:a',
    groups: ['system:expired-nodes'],
    ...(shown !== undefined && { extra: { [expiredCertificateKey]: [shown] } }),
    ...more,
  });

const known = { node: withLast(ofA, 'AB:CD') };
const old = { lease: lease(60) };

decide([
  [
    'a node returns with its last certificate',
    returning('AB:CD'),
    { ...known, ...old },
    'approve',
    'Auto approving the return of a node whose certificate has expired.',
  ],
  [
    'a node that an administrator had approved',
    returning('AB:CD'),
    { ...known, ...old, ...manual },
    'approve',
  ],
  ['a node that never had a Lease', returning('AB:CD'), known, 'approve'],
  [
    'a lost node whose clock was ahead',
    returning('AB:CD'),
    { node: withLast(lost, 'AB:CD'), lease: lease(500) },
    'approve',
  ],
  [
    'a node that is alive',
    returning('AB:CD'),
    { ...known, lease: lease(61) },
    'deny',
    'DuplicateNodeName: node "a" is alive: it renewed its Lease 39 s ago',
  ],
  ['a deleted node', returning('AB:CD'), {}, 'deny', 'NodeDeleted: there is no node "a"'],
  [
    'a Pending Node, which a machine with a token creates',
    returning('AB:CD'),
    { node: withLast(pending, 'AB:CD') },
    'deny',
    'NodeDeleted',
  ],
  [
    'a node with an earlier certificate',
    returning('AB:CE'),
    known,
    'deny',
    'OtherCertificate: the certificate is not the last one that node "a" has used',
  ],
  ['a node whose Node was created again', returning('AB:CD'), { node: ofA }, 'deny', 'OtherCertificate'],
  ['a node without a certificate', returning(undefined), known, 'deny', 'OtherCertificate'],
  [
    'a node without a certificate, whose Node records none',
    returning(undefined),
    { node: ofA },
    'deny',
    'OtherCertificate',
  ],
  [
    'a certificate of another node',
    returning('AB:CD', { username: 'system:expired-node:b' }),
    known,
    'deny',
    'OtherNode: the expired certificate of node "b" may not request a certificate for node a',
  ],
  [
    'a request for the identity of an administrator',
    returning('AB:CD'),
    { ...known, content: content({ organizations: ['system:nodes', 'system:masters'] }) },
    'deny',
    'InvalidRequest: subject organization is not system:nodes',
  ],
  [
    'a request for a serving certificate',
    returning('AB:CD', { signerName: servingSigner, usages: server }),
    { ...known, content: content({ dnsNames: ['a'] }) },
    'deny',
    'InvalidRequest: an expired certificate can be used only to request the next client certificate',
  ],
  ['a user who only has the name of such a node', returning('AB:CD', { groups: ['people'] }), known, 'leave'],
]);
