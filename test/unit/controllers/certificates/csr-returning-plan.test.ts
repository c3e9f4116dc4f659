/** Nodes that were off past the end of their certificate, and others who say that they are such nodes. */
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
  ['one that an administrator had approved', returning('AB:CD'), { ...known, ...old, ...manual }, 'approve'],
  ['one that never had a Lease', returning('AB:CD'), known, 'approve'],
  [
    'one taken for lost, whose clock was ahead',
    returning('AB:CD'),
    { node: withLast(lost, 'AB:CD'), lease: lease(500) },
    'approve',
  ],
  [
    'one that is alive',
    returning('AB:CD'),
    { ...known, lease: lease(61) },
    'deny',
    'DuplicateNodeName: node "a" is alive: it renewed its Lease 39 s ago',
  ],
  ['one that was deleted', returning('AB:CD'), {}, 'deny', 'NodeDeleted: there is no node "a"'],
  [
    'one that waits for approval, which a machine with a token makes',
    returning('AB:CD'),
    { node: withLast(pending, 'AB:CD') },
    'deny',
    'NodeDeleted',
  ],
  [
    'one with an earlier certificate',
    returning('AB:CE'),
    known,
    'deny',
    'OtherCertificate: the certificate is not the last one that node "a" has used',
  ],
  ['one whose Node was made again', returning('AB:CD'), { node: ofA }, 'deny', 'OtherCertificate'],
  ['one without a certificate', returning(undefined), known, 'deny', 'OtherCertificate'],
  [
    'one without a certificate, for a Node without one',
    returning(undefined),
    { node: ofA },
    'deny',
    'OtherCertificate',
  ],
  [
    'one for another node',
    returning('AB:CD', { username: 'system:expired-node:b' }),
    known,
    'deny',
    'OtherNode: the expired certificate of node "b" may not request a certificate for node a',
  ],
  [
    'one that asks for an administrator',
    returning('AB:CD'),
    { ...known, content: content({ organizations: ['system:nodes', 'system:masters'] }) },
    'deny',
    'InvalidRequest: subject organization is not system:nodes',
  ],
  [
    'one that asks to serve',
    returning('AB:CD', { signerName: servingSigner, usages: server }),
    { ...known, content: content({ dnsNames: ['a'] }) },
    'deny',
    'InvalidRequest: an expired certificate is good for a client certificate only',
  ],
  ['a user with the name of such a node alone', returning('AB:CD', { groups: ['people'] }), known, 'leave'],
]);
