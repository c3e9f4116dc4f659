import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CertificateFacts, certificateChecks } from '../../../../src/doctor/checks/certificates.ts';
import { linesOf, observe, situation } from '../../../fixtures/situation.ts';

const day = 24 * 3600 * 1000;
const certificate = (days: number, more: Partial<CertificateFacts> = {}): CertificateFacts => ({
  ...{ path: '/data/pki/apiserver.crt', isAuthority: false, hosts: ['192.0.2.1'] },
  ...{ notBefore: situation.now - day, notAfter: situation.now + days * day },
  ...more,
});
const at = (name: string, one: CertificateFacts, damaged: readonly string[] = []) =>
  linesOf(observe(certificateChecks, name, { certificates: [one], damaged }));

describe('checks of certificates', () => {
  it('report how long the certificates are valid', () => {
    assert.deepEqual(at('certificate-expiry', certificate(30)), [
      'ok: /data/pki/apiserver.crt is valid for 30 days',
    ]);
    assert.deepEqual(at('certificate-expiry', certificate(29)), [
      'warning: /data/pki/apiserver.crt is valid for 29 days # systemctl restart minik8s.service',
    ]);
    assert.deepEqual(at('certificate-expiry', certificate(-1)), [
      'fault: /data/pki/apiserver.crt expired on 2026-11-28 # systemctl restart minik8s.service',
    ]);
  });

  it('give no command for the authority', () =>
    assert.deepEqual(at('certificate-expiry', certificate(-1, { isAuthority: true })), [
      'fault: /data/pki/apiserver.crt expired on 2026-11-28',
    ]));

  it('suspect the clock if a certificate is not valid yet', () =>
    assert.deepEqual(at('certificate-expiry', certificate(9, { notBefore: situation.now + day })), [
      'fault: /data/pki/apiserver.crt is valid only from 2026-11-30 # timedatectl set-ntp true',
    ]));

  it('compare the names of the API server with the address of the node', () => {
    assert.deepEqual(at('certificate-names', certificate(9)), []);
    assert.deepEqual(
      at('certificate-names', certificate(9, { hosts: ['a'], path: '/data/pki/admin.crt' })),
      [],
    );
    assert.deepEqual(at('certificate-names', certificate(9, { hosts: ['a'] })), [
      'note: /data/pki/apiserver.crt does not name 192.0.2.1 # systemctl restart minik8s.service',
    ]);
  });

  it('name damaged files', () =>
    assert.deepEqual(at('certificate-files', certificate(9), ['/data/pki/x.crt']), [
      'fault: /data/pki/x.crt is no certificate # systemctl restart minik8s.service',
    ]));
});
