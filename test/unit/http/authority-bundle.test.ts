/** Certificates of authorities as users supply them: which are accepted, and what a server loads of them. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { authorityBundle } from '../../../src/http/authority-bundle.ts';
import { makeAuthority } from '../../fixtures/authorities.ts';

describe('a bundle of authorities', () => {
  let one = '';
  let two = '';
  before(async () => {
    one = (await makeAuthority('one')).certificate.trim();
    two = (await makeAuthority('two')).certificate.trim();
  });
  const pemOf = (text: string) => {
    const bundle = authorityBundle(text);
    return 'pem' in bundle ? bundle.pem : bundle.problem;
  };

  it('has each certificate once, and no other text', () => {
    const text = `# directives of nginx;\n${one}\r\nnoise\n${two}\n${one}\n-----BEGIN PRIVATE KEY-----\nx`;
    assert.equal(pemOf(text), `${one}\n${two}\n`);
  });

  it('is not usable if a part of it cannot be read', () => {
    const half = one.slice(0, 100);
    for (const [text, problem] of [
      [undefined, /^has no ca\.crt$/],
      ['', /^has no ca\.crt$/],
      ['none', /^has no certificate in PEM/],
      [`${one}\n${half}`, /^has a certificate without an end/],
      [`${half}\n${one}`, /^has a certificate without an end|cannot be read/],
      [`${one}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`, /^has a ca\.crt that cannot/],
      [`${one}\n`.repeat(101), /^has more than 100 certificates/],
      ['x'.repeat(300_000), /^has a ca\.crt of more than 262144 characters/],
    ] as const) {
      const bundle = authorityBundle(text);
      assert.match('problem' in bundle ? bundle.problem : 'usable', problem);
    }
  });
});
