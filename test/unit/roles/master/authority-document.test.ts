/** The authorities as nodes watch them, while a rotation goes through its phases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replaceable } from '../../../../src/base/current.ts';
import { authorityHash } from '../../../../src/pki/authority-hash.ts';
import { authoritiesOf, type RotationPhase } from '../../../../src/pki/authority-rotation.ts';
import { type Credentials, newAuthority } from '../../../../src/pki/credentials.ts';
import { watchedAuthorities } from '../../../../src/roles/master/authority-document.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const [own, next] = [await newAuthority(now), await newAuthority(now)];

const during = (phase: RotationPhase) =>
  authoritiesOf(own, { phase, next, former: authorityHash(own.certificate) });

/** Returns which of the two authorities the document names as trusted, and which as the signer. */
const shown = (text: string) => {
  const { trusted, signer } = JSON.parse(text) as { trusted: string; signer: string };
  const known = [own, next].filter(({ certificate }) => trusted.includes(certificate.trim()));
  return [known.map((one) => (one === own ? 'own' : 'next')), signer === own.certificate ? 'own' : 'next'];
};

test('nodes get the authorities of each phase, and drop the former one only after the master has dropped it', () => {
  const authorities = replaceable(authoritiesOf(own, undefined));
  const authority = replaceable(own.certificate);
  const credentials = { authorities } as unknown as Credentials;
  const [text] = [...watchedAuthorities({ credentials, authority }).values()];
  assert.ok(text);
  const seen: unknown[] = [];
  text.onChange((value) => seen.push(shown(value)));
  assert.deepEqual(shown(text.value), [['own'], 'own']);

  authorities.replace(during('trust'));
  assert.deepEqual(shown(text.value), [['own'], 'own'], 'the master does not trust it yet');
  authority.replace(during('trust').trusted);
  assert.deepEqual(shown(text.value), [['own', 'next'], 'own']);

  authorities.replace(during('issue'));
  assert.deepEqual(shown(text.value), [['own', 'next'], 'next']);

  authorities.replace(during('finish'));
  assert.deepEqual(shown(text.value), [['own', 'next'], 'next'], 'the API server has its former certificate');
  authority.replace(during('finish').trusted);
  assert.deepEqual(shown(text.value), [['next'], 'next']);
  assert.ok(seen.length >= 3);
});

test('a master that missed the phase trust never names a signer that nodes do not trust', () => {
  const authorities = replaceable(authoritiesOf(own, undefined));
  const authority = replaceable(own.certificate);
  const credentials = { authorities } as unknown as Credentials;
  const [text] = [...watchedAuthorities({ credentials, authority }).values()];
  authorities.replace(during('issue'));
  assert.deepEqual(shown(text?.value ?? ''), [['own', 'next'], 'next']);
});
