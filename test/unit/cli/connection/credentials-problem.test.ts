import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialsProblem } from '../../../../src/cli/connection/credentials-problem.ts';
import { createAuthority } from '../../../../src/pki/x509.ts';

const now = Date.parse('2026-11-28T00:00:00Z');
const tokenOf = (claims: unknown) =>
  `a.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;
const of = (credentials: { token?: string; cert?: string }, context = 'dev') =>
  credentialsProblem({ context, ...credentials }, now);

test('an expired token is reported with its expiry', () => {
  const token = tokenOf({ exp: now / 1000 - 60, sub: 'secret' });
  assert.equal(of({ token }), 'the token of context dev expired at 2026-11-27T23:59:00Z');
  assert.equal(of({ token }, ''), 'the token expired at 2026-11-27T23:59:00Z');
});

for (const [title, token] of [
  ['that is still valid', tokenOf({ exp: now / 1000 + 60 })],
  ['that never expires', tokenOf({ sub: 'a' })],
  ['whose time is no number', tokenOf({ exp: 'soon' })],
  ['whose time is beyond all dates', tokenOf({ exp: 1e300 })],
  ['whose claims are null', tokenOf(null)],
  ['that is no JSON Web Token', 'abc'],
  ['with claims that are not JSON', 'a.b.c'],
] as const) {
  test(`a token ${title} is reported as not accepted, without its text`, () => {
    const text = of({ token });
    assert.match(text, /^the server does not accept the token of context dev: /);
    assert.ok(!text.includes(token));
  });
}

test('a client without credentials is reported', () => {
  assert.match(of({}), /^no credentials were sent/);
});

const day = 24 * 3600 * 1000;
for (const [title, from, to, expected] of [
  ['that has expired', -2, -1, 'the client certificate of context dev expired at 2026-11-27T00:00:00Z'],
  [
    'that is not valid yet',
    1,
    2,
    'the client certificate of context dev is not valid before 2026-11-29T00:00:00Z; check the clocks',
  ],
  [
    'that is valid now',
    -1,
    1,
    'the server does not accept the client certificate of context dev: another authority signed it',
  ],
] as const) {
  test(`a certificate ${title} is reported as such`, async () => {
    const { certificate } = await createAuthority('test', now + from * day, now + to * day);
    assert.equal(of({ cert: certificate }), expected);
  });
}
