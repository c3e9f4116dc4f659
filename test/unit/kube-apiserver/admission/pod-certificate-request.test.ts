/** Keys for which a certificate of a pod may be requested, and certificates that answer a request. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { before, describe, it } from 'node:test';
import {
  type PodCertificateRequest,
  podCertificateRequestResource as resource,
} from '../../../../src/api/certificates/v1/pod-certificate-request.ts';
import type { PodCertificateRequestStatus } from '../../../../src/api/certificates/v1/types.gen.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { isInvalid } from '../../../../src/apimachinery/status-error.ts';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import type { Admission } from '../../../../src/apiserver/admission/plugin.ts';
import type { AccessRequest } from '../../../../src/apiserver/authorization/authorizer.ts';
import { rfc3339 } from '../../../../src/base/time.ts';
import { signedKeyRequest, unsignedKeyRequest } from '../../../../src/formats/key-request.ts';
import { pemBlocks, pemText } from '../../../../src/formats/pem.ts';
import { chainCauses } from '../../../../src/kube-apiserver/admission/pod-certificate-chain.ts';
import { keyCauses } from '../../../../src/kube-apiserver/admission/pod-certificate-key.ts';
import { podCertificateRequests } from '../../../../src/kube-apiserver/admission/pod-certificate-request.ts';
import type { KubeContext } from '../../../../src/kube-apiserver/context.ts';
import { newKey } from '../../../../src/kubelet/environment/certificate-key.ts';
import { issueCertificate, type KeyAndCertificate } from '../../../../src/pki/x509.ts';
import { testAuthority } from '../../../fixtures/certificates.ts';
import { condition, issuedStatus } from '../../../fixtures/pod-certificate-signer.ts';

const at = 'spec.stubPKCS10Request';
const told = (causes: readonly { readonly field?: string; readonly message: string }[]) =>
  causes.map(({ field, message }) => `${field}: ${message}`);

describe('the key of a request', () => {
  for (const type of ['RSA3072', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'])
    it(`may be ${type}, as nodes generate it`, async () => {
      assert.deepEqual(keyCauses((await newKey(type)).request), []);
    });

  it('is of no other type that a node would be asked for', async () => {
    await assert.rejects(newKey('RSA1024'), /^Error: unknown key type "RSA1024"$/);
    await assert.rejects(newKey('toString'), /unknown key type/);
  });

  const withKey = (keys: { publicKey: import('node:crypto').KeyObject }, algorithm = '300506032b6570') => {
    const content = unsignedKeyRequest(keys.publicKey.export({ type: 'spki', format: 'der' }));
    const request = signedKeyRequest(content, Buffer.from(algorithm, 'hex'), Buffer.alloc(64));
    return Buffer.from(request).toString('base64');
  };

  it('is rejected with a weak or an unusual one', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const ec = generateKeyPairSync('ec', { namedCurve: 'secp224r1' });
    assert.deepEqual(told(keyCauses(withKey(rsa))), [
      `${at}: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096`,
    ]);
    assert.deepEqual(told(keyCauses(withKey(ec))), [
      `${at}: Invalid value: "curve secp224r1": elliptic public keys must use curve P256, P384, or P521`,
    ]);
    assert.deepEqual(told(keyCauses(withKey(generateKeyPairSync('x25519')))), [
      `${at}: Invalid value: unknown public key type; supported types are Ed25519, ECDSA, and RSA`,
    ]);
  });

  it('is rejected without the proof of its possession', async () => {
    const refused = [`${at}: Invalid value: invalid signature`];
    const keys = generateKeyPairSync('ed25519');
    assert.deepEqual(told(keyCauses(withKey(keys))), refused);
    const content = unsignedKeyRequest(keys.publicKey.export({ type: 'spki', format: 'der' }));
    const signature = sign(null, content, keys.privateKey);
    const as = (algorithm: string) =>
      keyCauses(
        Buffer.from(signedKeyRequest(content, Buffer.from(algorithm, 'hex'), signature)).toString('base64'),
      );
    assert.deepEqual(as('300506032b6570'), []);
    // The algorithm of another type of key, and one that is not known.
    assert.deepEqual(told(as('300a06082a8648ce3d040302')), refused);
    assert.deepEqual(told(as('300506032b6571')), refused);
  });

  it('is rejected if it cannot be read, at whatever byte the request is damaged', async () => {
    const invalid = [`${at}: Invalid value: must be a valid PKCS#10 CSR`];
    for (const text of ['', 'eA==', 'MAA=', pemText('CERTIFICATE REQUEST', Buffer.from('x'))])
      assert.deepEqual(told(keyCauses(text)), invalid);
    const whole = Buffer.from((await newKey('ED25519')).request, 'base64');
    for (let index = 0; index < whole.length; index++) {
      const damaged = Buffer.from(whole);
      damaged[index] = (damaged[index] ?? 0) ^ 0x15;
      const causes = keyCauses(damaged.toString('base64'));
      // The algorithm's parameters and the subject do not matter, but the subject is signed.
      assert.equal(causes.length, 1, `byte ${index}`);
    }
    assert.deepEqual(told(keyCauses(whole.subarray(0, -1).toString('base64'))), invalid);
    assert.deepEqual(told(keyCauses(Buffer.concat([whole, whole]).toString('base64'))), invalid);
  });
});

describe('the certificate of a request', () => {
  const now = Date.UTC(2026, 11, 1);
  const [minute, hour] = [60_000, 3_600_000];
  let authority: KeyAndCertificate;
  let request: PodCertificateRequest;
  let good: PodCertificateRequestStatus;
  before(async () => {
    authority = await testAuthority(now);
    const spec = {
      ...{ signerName: 'a.b/c', stubPKCS10Request: (await newKey('ECDSAP256')).request },
      maxExpirationSeconds: 7200,
    };
    request = { metadata: { name: 'r' }, spec } as unknown as PodCertificateRequest;
    good = await issuedStatus(authority, request, { notBefore: now });
  });
  const causes = (change: object, time = now) =>
    told(inOneGo(chainCauses({ ...request, status: { ...good, ...change } }, time)));
  const chain = 'status.certificateChain: Invalid value: ';
  const ends = (found: string[], ending: string) => {
    assert.equal(found.length, 1, String(found));
    assert.ok(found[0]?.endsWith(ending), String(found[0]));
  };

  it('is for the requested key, with any number of certificates behind it', () => {
    assert.deepEqual(causes({}), []);
    assert.deepEqual(
      causes({ certificateChain: good.certificateChain?.replace(authority.certificate, '') }),
      [],
    );
  });

  it('is rejected if it is for another key', async () => {
    const other = { spec: { ...request.spec, stubPKCS10Request: (await newKey('ECDSAP256')).request } };
    const { certificateChain } = await issuedStatus(authority, other, { notBefore: now });
    ends(causes({ certificateChain }), 'leaf certificate was not issued to the requested public key');
  });

  it('is rejected with anything but certificates', () => {
    const [leaf] = pemBlocks(good.certificateChain ?? '');
    const text = pemText('CERTIFICATE', leaf?.bytes ?? Buffer.of());
    const key = pemText('PRIVATE KEY', Buffer.from('x'));
    const broken = pemText('CERTIFICATE', Buffer.from('x'));
    for (const [certificateChain, why] of [
      ['none', 'issued certificate chain must contain at least one certificate'],
      [key, 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks'],
      [broken, 'leaf certificate does not parse as valid X.509'],
      [text + key, 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks'],
      [text + broken, 'intermediate certificate does not parse as valid X.509'],
    ] as const)
      ends(causes({ certificateChain }), why);
  });

  it('is rejected without its times, or with other times than it has', () => {
    assert.deepEqual(causes({ notBefore: undefined, notAfter: undefined, beginRefreshAt: undefined }), [
      'status.notBefore: Required value: must be present and consistent with the issued certificate',
      'status.notAfter: Required value: must be present and consistent with the issued certificate',
      'status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]',
    ]);
    const later = rfc3339(now + 1000);
    ends(causes({ notBefore: later }), 'must be set to the NotBefore time encoded in the leaf certificate');
    ends(causes({ notAfter: later }), 'must be set to the NotAfter time encoded in the leaf certificate');
    const skewed = "must be set to within 5 minutes of kube-apiserver's current time";
    ends(causes({}, now + 5 * minute), skewed);
    ends(causes({}, now - 5 * minute), skewed);
    assert.deepEqual(causes({}, now + 5 * minute - 1), []);
  });

  it('is valid for an hour at least, and as long as requested at most', async () => {
    const lasting = async (lifetimeMs: number) =>
      causes(await issuedStatus(authority, request, { notBefore: now, lifetimeMs }));
    assert.deepEqual(await lasting(2 * hour), []);
    assert.deepEqual(await lasting(hour - 1000), [
      `${chain}59m59s: leaf certificate lifetime must be >= 1 hour`,
    ]);
    assert.deepEqual(await lasting(2 * hour + 1000), [
      `${chain}2h0m1s: leaf certificate lifetime must be <= spec.maxExpirationSeconds (7200)`,
    ]);
  });

  it('is renewed ten minutes after its begin at the earliest, and before its end at the latest', () => {
    const from = (ms: number) => causes({ beginRefreshAt: rfc3339(now + ms) });
    assert.deepEqual([...from(10 * minute), ...from(50 * minute)], []);
    ends(from(10 * minute - 1000), 'must be at least 10 minutes after status.notBefore');
    ends(from(50 * minute + 1000), 'must be at least 10 minutes before status.notAfter');
  });

  it('is rejected with invalid names', async () => {
    const [first] = pemBlocks(
      (
        await issueCertificate(authority, {
          ...{ commonName: 'x', hosts: ['a..b', '.c', 'd.'], usages: ['server' as const] },
          ...{ notBefore: now, notAfter: now + hour },
        })
      ).certificate,
    );
    const found = causes({ certificateChain: pemText('CERTIFICATE', first?.bytes ?? Buffer.of()) });
    assert.deepEqual(found.slice(0, 3), [
      `${chain}"a..b": leaf certificate's DNSName should not contain '..'`,
      `${chain}".c": leaf certificate's DNSName should not start or end with '.'`,
      `${chain}"d.": leaf certificate's DNSName should not start or end with '.'`,
    ]);
  });

  /** Resolves to the names for which `sign` was asked; rejects as the admission does. */
  async function admit(object: PodCertificateRequest, old: PodCertificateRequest | undefined, allowed = '') {
    const asked: string[] = [];
    const server = {
      ...{ clock: { monotonic: () => 0, now: () => now }, turns: { next: async () => undefined } },
      authorize(access: AccessRequest) {
        assert.ok(access.type === 'resource' && access.verb === 'sign' && access.resource === 'signers');
        asked.push(access.name);
        return { allowed: access.name === allowed, reason: '' };
      },
    } as unknown as KubeContext;
    const admission: Admission = {
      ...{ operation: old ? 'update' : 'create', definition: resource as unknown as ResourceDefinition },
      ...{ namespace: 'default', name: 'r', subresource: old ? 'status' : '' },
      ...{ user: { name: 'alice', groups: [] }, object, ...(old && { old }) },
    };
    await podCertificateRequests(server).validate?.(admission);
    return asked;
  }
  const withStatus = (status: object) => ({ ...request, status }) as PodCertificateRequest;

  it('is written only by users who may sign for the signer', async () => {
    assert.deepEqual(await admit(withStatus(good), request, 'a.b/c'), ['a.b/c']);
    assert.deepEqual(await admit(withStatus(good), request, 'a.b/*'), ['a.b/c', 'a.b/*']);
    for (const status of [good, { conditions: [condition('Denied')] }])
      await assert.rejects(admit(withStatus(status), request), (error) => {
        assert.ok(isInvalid(error));
        assert.match(String(error), /User "alice" is not permitted to "sign" for signer "a\.b\/c"/);
        return true;
      });
  });

  it('is not checked again when nothing of the status changes', async () => {
    assert.deepEqual(await admit(withStatus(good), withStatus({ ...good })), []);
  });

  it('is checked before the permission, as the key of a new request is', async () => {
    await assert.rejects(admit(withStatus({ ...good, certificateChain: 'x' }), request), /at least one/);
    await assert.rejects(
      admit({ ...request, spec: { ...request.spec, stubPKCS10Request: 'eA==' } }, undefined),
      /must be a valid PKCS#10 CSR/,
    );
    assert.deepEqual(await admit(request, undefined), []);
  });
});
