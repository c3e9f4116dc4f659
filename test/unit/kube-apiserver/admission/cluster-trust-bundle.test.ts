/** Certificates that a ClusterTrustBundle may have, and users who may write the bundle of a signer. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  type ClusterTrustBundle,
  clusterTrustBundleResource as resource,
} from '../../../../src/api/certificates/v1/cluster-trust-bundle.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import type { Admission } from '../../../../src/apiserver/admission/plugin.ts';
import type { AccessRequest } from '../../../../src/apiserver/authorization/authorizer.ts';
import { pemText } from '../../../../src/formats/pem.ts';
import {
  bundleCauses,
  clusterTrustBundles,
} from '../../../../src/kube-apiserver/admission/cluster-trust-bundle.ts';
import type { KubeContext } from '../../../../src/kube-apiserver/context.ts';
import { issueCertificate } from '../../../../src/pki/x509.ts';
import { testAuthority } from '../../../fixtures/certificates.ts';

describe('a trust bundle', () => {
  let ca: string;
  let other: string;
  let leaf: string;
  before(async () => {
    const authority = await testAuthority();
    ca = authority.certificate;
    other = (await testAuthority()).certificate;
    leaf = (
      await issueCertificate(authority, {
        ...{ commonName: 'leaf', usages: ['client'] as const },
        ...{ notBefore: Date.now(), notAfter: Date.now() + 60_000 },
      })
    ).certificate;
  });

  const told = (text: string) => inOneGo(bundleCauses(text)).map(({ message }) => message);
  const omitted = (...faults: string[]) => faults.map((why) => `Invalid value: "<value omitted>": ${why}`);

  it('has certificates of authorities, with any text between them', () => {
    assert.deepEqual(told(ca), []);
    assert.deepEqual(told(`one\n${ca}\ntwo\n${other}`), []);
  });

  it('is rejected without a certificate, or with one that it has twice', () => {
    assert.deepEqual(told('none'), omitted('at least one trust anchor must be provided'));
    assert.deepEqual(told([ca, other, ca].join('\n')), omitted('duplicate trust anchor (indices [0 2])'));
  });

  it('is rejected with blocks that are no certificates of authorities', () => {
    const headers = ca.replace('\n', '\nA: b\n\n');
    const key = pemText('PRIVATE KEY', Buffer.from('x'));
    const broken = pemText('CERTIFICATE', Buffer.from('x'));
    assert.deepEqual(
      told([ca, key, headers, broken, leaf, ca].join('\n')),
      omitted(
        'entry 1 has bad block type: PRIVATE KEY',
        'entry 2 has PEM block headers',
        'entry 3 does not parse as X.509',
        'entry 4 does not have the CA bit set',
      ),
    );
  });

  const bundle = (trustBundle: string, signerName?: string, metadata: object = {}) =>
    ({
      metadata: { name: 'x', ...metadata },
      spec: { trustBundle, ...(signerName !== undefined && { signerName }) },
    }) as unknown as ClusterTrustBundle;

  /** Resolves to the names for which `attest` was asked; rejects as the admission does. */
  async function admit(
    object: ClusterTrustBundle,
    old?: ClusterTrustBundle,
    allowed = '',
  ): Promise<string[]> {
    const asked: string[] = [];
    const server = {
      ...{ clock: { monotonic: () => 0 }, turns: { next: async () => undefined } },
      authorize(access: AccessRequest) {
        assert.ok(access.type === 'resource' && access.verb === 'attest' && access.resource === 'signers');
        asked.push(access.name);
        return { allowed: access.name === allowed, reason: '' };
      },
    } as unknown as KubeContext;
    const admission: Admission = {
      ...{ operation: old ? 'update' : 'create', definition: resource as unknown as ResourceDefinition },
      ...{ namespace: '', name: 'x', subresource: '', user: { name: 'alice', groups: [] }, object },
      ...(old && { old }),
    };
    await clusterTrustBundles(server).validate?.(admission);
    return asked;
  }
  const isForbidden = (error: unknown) =>
    error instanceof StatusError &&
    error.status.code === 403 &&
    /user not permitted to attest for signerName "a\.b\/c"/.test(error.message);

  it('of a signer is written only by users who may attest for it', async () => {
    assert.deepEqual(await admit(bundle(ca, 'a.b/c'), undefined, 'a.b/c'), ['a.b/c']);
    assert.deepEqual(await admit(bundle(ca, 'a.b/c'), undefined, 'a.b/*'), ['a.b/c', 'a.b/*']);
    await assert.rejects(admit(bundle(ca, 'a.b/c')), isForbidden);
    await assert.rejects(admit(bundle(other, 'a.b/c'), bundle(ca, 'a.b/c')), isForbidden);
  });

  it('without a signer, or with other owners alone, is written without that permission', async () => {
    assert.deepEqual(await admit(bundle(ca)), []);
    const owned = bundle(ca, 'a.b/c', { ownerReferences: [{ uid: 'u' }] });
    assert.deepEqual(await admit(bundle(ca, 'a.b/c', { finalizers: [] }), owned), []);
  });

  it('is rejected with invalid certificates, but not for those that it already has', async () => {
    const isInvalid = (error: unknown) => error instanceof StatusError && error.status.code === 422;
    await assert.rejects(admit(bundle('none')), isInvalid);
    await assert.rejects(admit(bundle('none'), bundle(ca)), isInvalid);
    assert.deepEqual(await admit(bundle('none', undefined, { labels: { a: 'b' } }), bundle('none')), []);
  });
});
