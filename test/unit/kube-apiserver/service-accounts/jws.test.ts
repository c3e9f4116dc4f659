/** Signed tokens: tokens that verify, and every kind of forgery. */
import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, createPublicKey, subtle, type webcrypto } from 'node:crypto';
import { test } from 'node:test';
import {
  newKeyPair,
  publicJwk,
  signToken,
  tokenReader,
} from '../../../../src/kube-apiserver/service-accounts/jws.ts';

const own = newKeyPair();
const older = newKeyPair();
const foreign = newKeyPair();
const privateOf = ({ privateKey }: { privateKey: string }) => createPrivateKey(privateKey);
const publicOf = ({ publicKey }: { publicKey: string }) => createPublicKey(publicKey);
const read = tokenReader([publicOf(older), publicOf(own)]);

const claims = { sub: 'a', 'kubernetes.io': { namespace: 'ä' } };
const token = signToken(privateOf(own), claims);
const [header = '', body = '', signature = ''] = token.split('.');
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());

test('a token that any of the keys has signed is accepted', () => {
  assert.deepEqual(read(token), claims);
  assert.deepEqual(read(signToken(privateOf(older), claims)), claims);
  assert.equal(read(signToken(privateOf(foreign), claims)), undefined);
  assert.equal(tokenReader([])(token), undefined);
});

test('a token is verified by the published key', async () => {
  const jwk = publicJwk(publicOf(own));
  assert.equal(decode(header).kid, jwk.kid);
  assert.equal(jwk.kid, (publicJwk(publicOf(own)) as { kid: string }).kid);
  assert.notEqual(jwk.kid, publicJwk(publicOf(older)).kid);
  assert.equal('d' in jwk, false);
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const key = await subtle.importKey('jwk', jwk as webcrypto.JsonWebKey, ecdsa, false, ['verify']);
  const bytes = Buffer.from(signature, 'base64url');
  assert.ok(await subtle.verify(ecdsa, key, bytes, Buffer.from(`${header}.${body}`)));
});

const kid = decode(header).kid as string;
const hmac = (head: string, secret: string | Buffer) =>
  createHmac('sha256', secret).update(`${head}.${body}`).digest('base64url');
const hs256 = encode({ alg: 'HS256', kid });
const none = encode({ alg: 'none', kid });
/** Returns a token of a foreign key, whose header says where the key can be found. */
const strange = (head: object) => {
  const [, content, mark] = signToken(privateOf(foreign), claims).split('.');
  return `${encode({ alg: 'ES256', kid, ...head })}.${content}.${mark}`;
};
/** Returns the token with another spelling of its header: the text differs, but not the meaning. */
const reSpelt = (text: string) => `${text}.${body}.${signature}`;

const forgeries: readonly [string, string][] = [
  ['nothing', ''],
  ['dots', '..'],
  ['more dots', '.'.repeat(60_000)],
  ['a token with a missing part', `${header}.${body}`],
  ['no signature', `${header}.${body}.`],
  ['a token with an additional part', `${token}.${signature}`],
  ['alg none', `${none}.${body}.`],
  ['alg none, signed', `${none}.${body}.${signature}`],
  ['HS256 with the public key in PEM', `${hs256}.${body}.${hmac(hs256, own.publicKey)}`],
  [
    'HS256 with the public key in DER',
    `${hs256}.${body}.${hmac(hs256, publicOf(own).export({ type: 'spki', format: 'der' }))}`,
  ],
  ['the usual header with an HMAC', `${header}.${body}.${hmac(header, own.publicKey)}`],
  ['another algorithm', `${encode({ alg: 'ES384', kid })}.${body}.${signature}`],
  ['a kid that is a path', strange({ kid: '../../../../dev/null' })],
  ['a kid that is a URL', strange({ kid: 'https://example.com/key' })],
  ['the kid __proto__', strange({ kid: '__proto__' })],
  ['the kid constructor', strange({ kid: 'constructor' })],
  ['no kid', strange({ kid: undefined })],
  ['a key in the header', strange({ jwk: publicJwk(publicOf(foreign)) })],
  ['a URL of keys in the header', strange({ jku: 'https://example.com/jwks' })],
  ['a certificate in the header', strange({ x5c: ['MIIB'], x5u: 'https://example.com/crt' })],
  ['what must be understood', strange({ crit: ['b64'], b64: false })],
  ['another claim', `${header}.${encode({ ...claims, sub: 'b' })}.${signature}`],
  ['a token with the header in another order', reSpelt(encode({ kid, alg: 'ES256' }))],
  ['a token with a padded header', reSpelt(`${header}=`)],
  ['a token with a space at its end', `${token} `],
  ['a token with a line break', `${header}.${body}.${signature.slice(0, 9)}\n${signature.slice(9)}`],
  ['a token with a padded signature', `${token}==`],
  [
    'a token with a signature in standard base64',
    `${header}.${body}.${Buffer.from(signature, 'base64url').toString('base64')}`,
  ],
  ['a token with unused bits set in the signature', `${token.slice(0, -1)}${nextOf(token.at(-1) ?? '')}`],
  ['a token with a longer signature', `${token}AAAA`],
  ['a signature in DER', `${header}.${body}.${encode('x')}`],
];

/**
 * Returns the letter with the same meaning for a lenient parser: the last letter of 64 bytes leaves four bits
 * unused.
 */
function nextOf(letter: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(letter) + 1] ?? '';
}

for (const [what, forged] of forgeries)
  test(`refused: ${what}`, () => {
    assert.notEqual(forged, token);
    assert.equal(read(forged), undefined);
  });

test('a lenient decoder accepts the token with unused bits', () => {
  const [, forged = ''] = forgeries.find(([what]) => what.includes('unused bits')) ?? [];
  const bytes = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64url');
  assert.deepEqual(bytes(forged), bytes(token));
});
