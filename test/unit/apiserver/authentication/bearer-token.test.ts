/** Authentication of a request by a token, a certificate, or the subprotocol of a WebSocket. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { unionAuthenticator } from '../../../../src/apiserver/authentication/authenticator.ts';
import { bearerTokenAuthenticator } from '../../../../src/apiserver/authentication/bearer-token.ts';
import { clientCertificateAuthenticator } from '../../../../src/apiserver/authentication/client-certificate.ts';
import { bearerAmongProtocols } from '../../../../src/apiserver/authentication/websocket-bearer.ts';

const user = (name: string) => ({ name, groups: [`${name}s`] });
const entries = [
  { token: 'always', user: user('alice') },
  { token: 'brief', user: user('bob'), expires: 1000 },
];

describe('a bearer token', () => {
  const shown = (authorization: string | undefined, now: number) =>
    bearerTokenAuthenticator(
      () => entries,
      () => now,
    )({ authorization, peer: undefined });

  for (const [authorization, now, name] of [
    ['Bearer always', 5000, 'alice'],
    ['Bearer brief', 999, 'bob'],
    ['Bearer brief', 1000, undefined],
    ['Bearer brief', 1001, undefined],
    ['Bearer Always', 0, undefined],
    ['Bearer alwaysalways', 0, undefined],
    ['Bearer ', 0, undefined],
    ['xBearer always', 0, undefined],
    ['Bearer always x', 0, undefined],
    ['', 0, undefined],
    [undefined, 0, undefined],
  ] as const) {
    test(`in the header ${JSON.stringify(authorization)} at ${now} authenticates ${name ?? 'no user'}`, async () => {
      assert.equal((await shown(authorization, now))?.name, name);
    });
  }
});

test('the first authenticator that recognizes the user decides, and each recognized user is recorded once', async () => {
  const authenticate = unionAuthenticator([
    ({ authorization }) => (authorization === 'a' ? user('first') : undefined),
    async () => ({ name: 'second', groups: ['system:authenticated', 'others'] }),
  ]);
  const ask = (authorization: string) => authenticate({ authorization, peer: undefined });
  assert.deepEqual(await ask('a'), { name: 'first', groups: ['firsts', 'system:authenticated'] });
  assert.deepEqual(await ask('b'), { name: 'second', groups: ['system:authenticated', 'others'] });
  assert.equal(
    await unionAuthenticator([() => undefined])({ authorization: 'a', peer: undefined }),
    undefined,
  );
});

test('a certificate without a name authenticates no user', () => {
  const ask = (commonName: string) =>
    clientCertificateAuthenticator({
      authorization: undefined,
      peer: { commonName, organizations: ['system:masters'] },
    });
  assert.deepEqual(ask('alice'), { name: 'alice', groups: ['system:masters'] });
  assert.equal(ask(''), undefined);
});

describe('the subprotocols of a WebSocket', () => {
  const bearer = (token: string) =>
    `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
  for (const [title, header, authorization, protocols] of [
    [
      'a token and a protocol',
      `${bearer('s3cr-et')}, v4.channel.k8s.io`,
      'Bearer s3cr-et',
      ['v4.channel.k8s.io'],
    ],
    ['in the other order', `a,b , ${bearer('~~~???')}`, 'Bearer ~~~???', ['a', 'b']],
    ['no token', 'a, b', undefined, ['a', 'b']],
    ['a token alone', bearer('x'), undefined, []],
    ['two tokens', `${bearer('x')}, ${bearer('y')}, a`, undefined, ['a']],
    ['the same token twice', `${bearer('x')}, ${bearer('x')}, a`, undefined, ['a']],
    ['a token that ends with a line break', `${bearer('x\n')}, a`, undefined, ['a']],
    ['a token with characters that no header can contain', `${bearer('x\u0100')}, a`, undefined, ['a']],
    ['an empty token', 'base64url.bearer.authorization.k8s.io., a', undefined, ['a']],
    ['a token that is not base64url', 'base64url.bearer.authorization.k8s.io.eA==, a', undefined, ['a']],
    ['a token with invalid characters', 'base64url.bearer.authorization.k8s.io.e/A, a', undefined, ['a']],
    ['nothing', '', undefined, []],
    ['empty elements', ' ,, a,', undefined, ['a']],
    [
      'a protocol with the name of the token protocol at its end only',
      `x${bearer('x')}, a`,
      undefined,
      [`x${bearer('x')}`, 'a'],
    ],
  ] as const) {
    test(`with ${title} show ${authorization ?? 'no token'}`, () => {
      assert.deepEqual(bearerAmongProtocols(header), { authorization, protocols });
    });
  }
});
