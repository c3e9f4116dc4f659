/** Tests which certificate requests each signer accepts; each rejected case has one mistake. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  contentChecks,
  nodeOfCommonName,
} from '../../../../src/controllers/certificates/csr-content-plan.ts';
import type { CertificateRequestContent } from '../../../../src/formats/certificate-request.ts';

const check = (signer: string, over: Partial<CertificateRequestContent>, usages: readonly string[]) => {
  const content = {
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    dnsNames: [],
    ipAddresses: [],
    emailAddresses: [],
    uris: [],
    ...over,
  };
  const of = contentChecks.get(`kubernetes.io/${signer}`);
  assert.ok(of);
  return of(content, usages);
};

const clientUsages = ['digital signature', 'client auth'];
const serverUsages = ['digital signature', 'server auth'];
const label = 'a'.repeat(63);

const rows: readonly (readonly [
  string,
  Partial<CertificateRequestContent>,
  readonly string[],
  RegExp | undefined,
])[] = [
  ['kube-apiserver-client-kubelet', {}, clientUsages, undefined],
  ['kube-apiserver-client-kubelet', {}, [...clientUsages, 'key encipherment'], undefined],
  ['kube-apiserver-client-kubelet', { dnsNames: ['a'] }, clientUsages, /^DNS /],
  ['kube-apiserver-client-kubelet', { ipAddresses: ['192.0.2.1'] }, clientUsages, /^IP /],
  [
    'kube-apiserver-client-kubelet',
    { emailAddresses: ['a@b'] },
    clientUsages,
    /^Email subjectAltNames are not/,
  ],
  ['kube-apiserver-client-kubelet', { uris: ['spiffe://a'] }, clientUsages, /^URI subjectAltNames are not/],
  [
    'kube-apiserver-client-kubelet',
    { commonName: 'a' },
    clientUsages,
    /common name does not begin with system:node:/,
  ],
  ['kube-apiserver-client-kubelet', { commonName: 'system:node:' }, clientUsages, /common name/],
  [
    'kube-apiserver-client-kubelet',
    { organizations: ['system:nodes', 'system:masters'] },
    clientUsages,
    /organization/,
  ],
  ['kube-apiserver-client-kubelet', { organizations: ['system:masters'] }, clientUsages, /organization/],
  [
    'kube-apiserver-client-kubelet',
    {},
    ['client auth'],
    /^usages did not match \[client auth, digital signature, key encipherment\]$/,
  ],
  ['kube-apiserver-client-kubelet', {}, serverUsages, /^usages/],
  ['kube-apiserver-client-kubelet', {}, [...clientUsages, 'server auth'], /^usages/],
  ['kubelet-serving', { dnsNames: ['a'] }, serverUsages, undefined],
  ['kubelet-serving', { ipAddresses: ['192.0.2.1'] }, serverUsages, undefined],
  ['kubelet-serving', {}, serverUsages, /^DNS or IP subjectAltName is required$/],
  [
    'kubelet-serving',
    { dnsNames: ['a'], emailAddresses: ['a@b'] },
    serverUsages,
    /^Email subjectAltNames are not/,
  ],
  [
    'kubelet-serving',
    { dnsNames: ['a'], uris: ['spiffe://a'] },
    serverUsages,
    /^URI subjectAltNames are not/,
  ],
  ['kubelet-serving', { dnsNames: ['a'], commonName: 'b' }, serverUsages, /common name/],
  ['kubelet-serving', { dnsNames: ['a'], organizations: [] }, serverUsages, /organization/],
  ['kubelet-serving', { dnsNames: ['a'] }, clientUsages, /^usages did not match \[server auth, /],
  ['kubelet-serving', { dnsNames: [`${label}.b`] }, serverUsages, undefined],
  ['kubelet-serving', { dnsNames: [`${label}a.b`] }, serverUsages, /is not a DNS name in lower case/],
  ['kubelet-serving', { dnsNames: ['a', 'B'] }, serverUsages, /"B" is not a DNS name in lower case/],
  ['kubelet-serving', { dnsNames: ['*.a'] }, serverUsages, /"\*\.a" is not/],
  ['kubelet-serving', { dnsNames: ['a.'] }, serverUsages, /is not/],
  ['kubelet-serving', { dnsNames: ['a.0x7f'] }, serverUsages, /is not/],
  ['kubelet-serving', { dnsNames: Array(15).fill('a'), ipAddresses: ['192.0.2.1'] }, serverUsages, undefined],
  [
    'kubelet-serving',
    { dnsNames: Array(16).fill('a'), ipAddresses: ['192.0.2.1'] },
    serverUsages,
    /^at most 16 /,
  ],
  ['kube-apiserver-client', { commonName: 'anybody' }, ['client auth'], undefined],
  ['kube-apiserver-client', {}, [...clientUsages, 'key encipherment'], undefined],
  ['kube-apiserver-client', {}, ['digital signature'], /^usage client auth is required$/],
  [
    'kube-apiserver-client',
    {},
    ['client auth', 'cert sign'],
    /^usage cert sign is not allowed; allowed: client auth, digital signature, key encipherment$/,
  ],
];

describe('a request for a certificate', () => {
  for (const [signer, content, usages, problem] of rows) {
    it(`of ${signer} with ${JSON.stringify(content).slice(0, 60)} for ${usages.join(', ')} is checked`, () => {
      const found = check(signer, content, usages);
      if (problem === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', problem);
    });
  }

  it('belongs to the node in its common name', () => {
    assert.equal(nodeOfCommonName('system:node:a'), 'a');
    assert.equal(nodeOfCommonName('a.system:node:a'), undefined);
    assert.equal(nodeOfCommonName('system:serviceaccount:a'), undefined);
  });
});
