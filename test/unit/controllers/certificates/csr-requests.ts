/** CertificateSigningRequests, and the facts for their decision. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '../../../../src/api/certificates/v1/certificate-signing-request.ts';
import type { Lease } from '../../../../src/api/coordination/v1/lease.ts';
import type { Node } from '../../../../src/api/core/v1/node/node.ts';
import {
  decideRequest,
  type Situation,
} from '../../../../src/controllers/certificates/csr-approving-plan.ts';
import type { ClusterPlaces } from '../../../../src/controllers/certificates/csr-serving-plan.ts';
import type { CertificateRequestContent } from '../../../../src/formats/certificate-request.ts';
import { at, meta, start } from '../objects.ts';

type Spec = CertificateSigningRequest['spec'];
type Conditions = NonNullable<CertificateSigningRequest['status']>['conditions'];

export const clientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const servingSigner = 'kubernetes.io/kubelet-serving';
export const client = ['digital signature', 'client auth'];
export const server = ['digital signature', 'server auth'];

export function request(spec: Partial<Spec> = {}, conditions?: Conditions): CertificateSigningRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: meta('r'),
    spec: { request: '', signerName: clientSigner, usages: client, ...spec },
    ...(conditions && { status: { conditions } }),
  };
}

export const joining = (spec: Partial<Spec> = {}) =>
  request({ username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'], ...spec });
export const byNode = (name: string, spec: Partial<Spec> = {}) =>
  request({ username: `system:node:${name}`, groups: ['system:nodes'], ...spec });
export const serving = (name: string, spec: Partial<Spec> = {}) =>
  byNode(name, { signerName: servingSigner, usages: server, ...spec });

export const content = (over: Partial<CertificateRequestContent> = {}): CertificateRequestContent => ({
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  dnsNames: [],
  ipAddresses: [],
  emailAddresses: [],
  uris: [],
  ...over,
});
export const hosts = (dnsNames: string[], ipAddresses: string[]) => content({ dnsNames, ipAddresses });

export function node(
  name: string,
  addresses: readonly (readonly [string, string])[] = [],
  ready = 'True',
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: meta(name),
    spec: {},
    status: {
      addresses: addresses.map(([type, address]) => ({ type, address })),
      conditions: [{ type: 'Ready', status: ready as 'True' }],
    },
  };
}

export const pending: Node = { ...node('a'), status: { phase: 'Pending' } };

export const lease = (renewed: number): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: meta('a'),
  spec: { leaseDurationSeconds: 40, renewTime: at(renewed) },
});

export const places: ClusterPlaces = {
  clusterDomain: 'cluster.local',
  ranges: ['10.96.0.0/16', '10.244.0.0/16', 'fd00:10:96::/112'],
  serviceAddresses: [],
  masters: [
    { address: '192.0.2.10', hostname: 'Master-1.' },
    { address: '192.0.2.11', hostname: undefined },
  ],
};

export const situation = (over: Partial<Situation> = {}): Situation => ({
  approval: 'auto',
  content: content(),
  node: undefined,
  lease: undefined,
  otherNodes: [],
  places,
  now: start + 100_000,
  ...over,
});

export const manual = { approval: 'manual' } as const;
export const lost: Node = { ...node('a'), status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
export const ofA = node('a', [
  ['InternalIP', '192.0.2.1'],
  ['Hostname', 'a.example'],
]);
export const servingA = serving('a');

/** Type of the decision, and the beginnings of its reason and message. */
export type Row = readonly [string, CertificateSigningRequest, Partial<Situation>, string, string?];

/** Declares a test for each row. */
export function decide(rows: readonly Row[]): void {
  for (const [what, asked, over, type, text] of rows) {
    test(`${asked.spec.signerName === servingSigner ? 'serving' : 'client'} certificate: ${what}: ${type}`, () => {
      const decision = decideRequest(asked, situation(over));
      assert.equal(decision.type, type);
      if (decision.type === 'deny') {
        const told = `${decision.reason}: ${decision.message}`;
        assert.equal(told.slice(0, text?.length), text);
      }
      if (decision.type === 'approve' && text !== undefined) assert.equal(decision.message, text);
      if (decision.type === 'await') assert.equal(decision.node, 'a');
    });
  }
}
