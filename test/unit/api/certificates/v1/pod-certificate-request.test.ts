import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import {
  podCertificateRequestResource as kind,
  type PodCertificateRequest,
} from '../../../../../src/api/certificates/v1/pod-certificate-request.ts';
import { cells, created, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';
import { condition } from '../../../../fixtures/pod-certificate-signer.ts';

const request = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'PodCertificateRequest',
  metadata: { name: 'req-1', namespace: 'default' },
  spec: {
    ...{ signerName: 'example.com/signer', podName: 'web', podUID: 'p', serviceAccountName: 'default' },
    ...{ serviceAccountUID: 's', nodeName: 'n1', nodeUID: 'n', stubPKCS10Request: 'eA==' },
  },
};

const seconds = (signerName: string, maxExpirationSeconds: number) => ({
  spec: { signerName, maxExpirationSeconds },
});
const own = 'example.com/signer';
const ofKubernetes = 'kubernetes.io/signer';

testCreate(kind, request, [
  ['for an hour', seconds(own, 3600)],
  ['for 91 days', seconds(own, 7_862_400)],
  ['for a day by a signer of Kubernetes', seconds(ofKubernetes, 86_400)],
  [
    'for less than an hour',
    seconds(own, 3599),
    'spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]',
  ],
  [
    'for more than 91 days',
    seconds(own, 7_862_401),
    'spec.maxExpirationSeconds: Invalid value: 7862401: must be in the range [3600, 7862400]',
  ],
  [
    'for more than a day by a signer of Kubernetes',
    seconds('a.kubernetes.io/signer', 86_401),
    'spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]',
  ],
  [
    'without any of its fields',
    {
      spec: {
        ...{ signerName: null, podName: null, podUID: null, serviceAccountName: null },
        ...{ serviceAccountUID: null, nodeName: null, nodeUID: null, stubPKCS10Request: null },
      },
    },
    'spec.signerName: Required value',
    'spec.podName: Invalid value: "": a lowercase RFC 1123 subdomain',
    'spec.podUID: Invalid value: "": must not be empty',
    'spec.serviceAccountName: Invalid value: "": a lowercase RFC 1123 subdomain',
    'spec.serviceAccountUID: Invalid value: "": must not be empty',
    'spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain',
    'spec.nodeUID: Invalid value: "": must not be empty',
    'spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set',
  ],
  [
    'with uids and a key that are too long',
    {
      spec: {
        ...{ podUID: 'x'.repeat(129), serviceAccountUID: 'x'.repeat(129), nodeUID: 'x'.repeat(129) },
        stubPKCS10Request: Buffer.alloc(10_241).toString('base64'),
      },
    },
    'spec.podUID: Too long: may not be more than 128 bytes',
    'spec.serviceAccountUID: Too long: may not be more than 128 bytes',
    'spec.nodeUID: Too long: may not be more than 128 bytes',
    'spec.stubPKCS10Request: Too long: may not be more than 10240 bytes',
  ],
  ['with annotations for the signer', { spec: { unverifiedUserAnnotations: { 'A.b/c': 'x' } } }],
  [
    'with annotations for the signer whose keys have no domain',
    { spec: { unverifiedUserAnnotations: { a: 'x', '': 'y', '-/b': 'z' } } },
    'spec.unverifiedUserAnnotations: Required value',
    'spec.unverifiedUserAnnotations: Invalid value: "-/b": prefix part a lowercase RFC 1123 subdomain',
    'spec.unverifiedUserAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")',
  ],
]);

testUpdate(kind, request, [
  ['other labels', { metadata: { labels: { a: 'b' } } }],
  ['another pod', { spec: { podName: 'other' } }, 'spec: Invalid value: '],
]);

test('a certificate is requested for a day by default', () => {
  assert.equal(created(kind, request).spec.maxExpirationSeconds, 86_400);
});

describe('the status of a request', () => {
  const withStatus = (status?: object) =>
    ({ ...created(kind, request), ...(status && { status }) }) as PodCertificateRequest;
  const causes = (next?: object, before?: object) =>
    (kind.strategy.validateStatus?.(withStatus(next), withStatus(before), 'status') ?? []).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  const [issued, denied, failed] = ['Issued', 'Denied', 'Failed'].map((type) => condition(type));

  it('ends with one condition, and with a certificate only if it is issued', () => {
    for (const end of [denied, failed]) assert.deepEqual(causes({ conditions: [end] }), []);
    assert.deepEqual(causes({ conditions: [issued], certificateChain: 'x' }), []);
    assert.deepEqual(causes({ conditions: [denied], certificateChain: 'x' }), [
      'status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest',
    ]);
    assert.deepEqual(causes({ conditions: [denied], certificateChain: '' }), []);
  });

  it('is rejected with other conditions, with two of them, or with one that is not true', () => {
    assert.deepEqual(causes({ conditions: [condition('Ready')] }), [
      'status.conditions[0].type: Unsupported value: "Ready": supported values: "Issued", "Denied", "Failed"',
    ]);
    assert.deepEqual(causes({ conditions: [issued, denied] }), [
      'status.conditions[1].type: Invalid value: "Denied": There may be at most one condition with type "Issued", "Denied", or "Failed"',
    ]);
    assert.deepEqual(causes({ conditions: [{ ...issued, status: 'False' }] }), [
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    ]);
    assert.deepEqual(causes({ conditions: [{ ...issued, reason: '' }] }), [
      'status.conditions[0].reason: Required value: must be set',
    ]);
  });

  it('changes only when the request ends, and never afterwards', () => {
    assert.deepEqual(causes({ certificateChain: 'x' }), [
      'status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
    ]);
    assert.deepEqual(causes({ conditions: [] }, undefined), []);
    const ended = { conditions: [denied] };
    assert.deepEqual(causes(ended, ended), []);
    assert.deepEqual(causes({ conditions: [issued] }, ended), [
      'status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed',
    ]);
  });

  it('is rejected with a chain of more than 100 KiB', () => {
    assert.deepEqual(causes({ conditions: [issued], certificateChain: 'x'.repeat(102_401) }), [
      'status.certificateChain: Too long: may not be more than 102400 bytes',
    ]);
  });

  it('is shown with what the request is for', () => {
    const row = (status?: object) => cells(kind, withStatus(status), 0);
    assert.deepEqual(row(), {
      ...{ Name: 'req-1', PodName: 'web', ServiceAccountName: 'default', NodeName: 'n1' },
      ...{ SignerName: 'example.com/signer', State: 'Pending', UnverifiedUserAnnotations: '<none>' },
    });
    assert.equal(row({ conditions: [issued] }).State, 'Issued');
    assert.equal(row({ conditions: [denied] }).State, 'Denied');
  });
});
