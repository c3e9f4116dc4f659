import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterTrustBundleResource as kind } from '../../../../../src/api/certificates/v1/cluster-trust-bundle.ts';
import { signerOfBundleName } from '../../../../../src/api/certificates/v1/signer-name.ts';
import { cells, created, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';

const bundle = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'ClusterTrustBundle',
  metadata: { name: 'example.com:ca:one' },
  spec: { signerName: 'example.com/ca', trustBundle: 'x' },
};

testCreate(kind, bundle, [
  ['without a signer', { metadata: { name: 'one' }, spec: { signerName: null } }],
  [
    'without a signer, but with a colon in the name',
    { spec: { signerName: null } },
    'metadata.name: Invalid value: "example.com:ca:one": ClusterTrustBundle without signer name must not have ":"',
  ],
  [
    'with a name of another signer',
    { metadata: { name: 'example.com:cb:one' } },
    'metadata.name: Invalid value: "example.com:cb:one": ClusterTrustBundle for signerName example.com/ca must be named with prefix example.com:ca:',
  ],
  [
    'with an invalid name behind the signer',
    { metadata: { name: 'example.com:ca:A' } },
    'metadata.name: Invalid value: "example.com:ca:A": a lowercase RFC 1123 subdomain',
  ],
  [
    'with an invalid signer',
    { metadata: { name: 'ca:one' }, spec: { signerName: 'ca' } },
    'spec.signerName: Invalid value: "ca": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
  ],
  [
    'with more than a mebibyte',
    { spec: { trustBundle: 'x'.repeat(1024 * 1024 + 1) } },
    'spec.trustBundle: Too long: may not be more than 1048576 bytes',
  ],
]);

testUpdate(kind, bundle, [
  ['other certificates', { spec: { trustBundle: 'y' } }],
  [
    'another signer',
    { spec: { signerName: 'example.com/cb' } },
    'metadata.name: Invalid value: "example.com:ca:one": ClusterTrustBundle for signerName example.com/cb',
    'spec.signerName: Invalid value: "example.com/cb": field is immutable',
  ],
]);

test('the columns of a trust bundle are its name and its signer', () => {
  const plain = created(kind, { ...bundle, spec: { trustBundle: 'x' } });
  const name = { Name: 'example.com:ca:one' };
  assert.deepEqual(cells(kind, created(kind, bundle), 0), { ...name, SignerName: 'example.com/ca' });
  assert.deepEqual(cells(kind, plain, 0), {
    ...name,
    SignerName: '<none>',
  });
});

test('a name with colons belongs to a signer', () => {
  assert.equal(signerOfBundleName('example.com:ca:one'), 'example.com/ca');
  assert.equal(signerOfBundleName('one'), '');
});
