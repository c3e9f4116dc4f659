/** Authentication with service account tokens: the tokens that the server accepts, and their validity. */
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { writeLegacyClaims } from '../../../src/kube-apiserver/service-accounts/claims.ts';
import { newKeyPair, signToken } from '../../../src/kube-apiserver/service-accounts/jws.ts';
import { accountKeysKey } from '../../../src/kube-apiserver/service-accounts/keys.ts';
import { type AccountWorld, claimsOf, inDefault, podOf, startAccountWorld } from './account-world.ts';

const issuer = 'https://kubernetes.default.svc.cluster.local';
const groups = ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'];
const bindTo = (kind: string, name: string) => ({ boundObjectRef: { apiVersion: 'v1', kind, name } });
const minute = 60_000;
const hour = 60 * minute;

describe('a token of a service account', () => {
  let world: AccountWorld;
  const uidOf = async (path: string) => (await world.server.call('GET', path)).json().metadata.uid;
  const remove = async (path: string) => {
    const answer = await world.server.call('DELETE', `${path}?gracePeriodSeconds=0`);
    assert.equal(answer.status, 200, answer.text);
  };
  const isGood = async (token: string) => (await world.whoIs(`Bearer ${token}`)) !== undefined;
  beforeEach(async () => {
    world = await startAccountWorld();
  });
  afterEach(() => world.server.stop());

  it('authenticates its account, with the groups of accounts', async () => {
    const token = await world.token();
    assert.deepEqual(await world.whoIs(`Bearer ${token}`), {
      username: 'system:serviceaccount:default:app',
      uid: await uidOf(`${inDefault}/serviceaccounts/app`),
      groups,
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claimsOf(token).jti}`] },
    });
    const bound = await world.whoIs(`Bearer ${await world.token(bindTo('Pod', 'p1'))}`);
    const { 'authentication.kubernetes.io/credential-id': _, ...extra } = bound?.extra ?? {};
    assert.deepEqual(extra, {
      'authentication.kubernetes.io/pod-name': ['p1'],
      'authentication.kubernetes.io/pod-uid': [await uidOf(`${inDefault}/pods/p1`)],
      'authentication.kubernetes.io/node-name': ['n1'],
      'authentication.kubernetes.io/node-uid': [await uidOf('/api/v1/nodes/n1')],
    });
  });

  it('has no right without a rule', async () => {
    const request = new Request(`https://apiserver${inDefault}/pods`, {
      headers: { authorization: `Bearer ${await world.token()}` },
    });
    const answer = await world.server.app.fetch(request, {});
    assert.equal(answer.status, 403);
    assert.match(await answer.text(), /User \\"system:serviceaccount:default:app\\" cannot list resource/);
  });

  it('expires at its time, or at most a minute later', async () => {
    const token = await world.token({ expirationSeconds: 600 });
    await world.server.clock.advance(10 * minute + 59_000);
    assert.equal(await isGood(token), true);
    await world.server.clock.advance(2_000);
    assert.equal(await isGood(token), false);
  });

  it('is invalid before its time, and for another audience', async () => {
    const { accountKeys, clock } = world.server;
    const claims = claimsOf(await world.token());
    const now = Math.floor(clock.now() / 1000);
    const signed = (change: object) => accountKeys.sign({ ...claims, ...change }, (now + 600) * 1000);
    assert.equal(await isGood(await signed({})), true);
    assert.equal(await isGood(await signed({ nbf: now + 59 })), true, 'of a master whose clock is ahead');
    for (const [what, change] of [
      ['not yet valid', { nbf: now + 61 }],
      ['issued in the future', { iat: now + 61 }],
      ['over', { exp: now - 61 }],
      ['for another audience', { aud: ['vault'] }],
      ['of another issuer', { iss: 'https://example.com' }],
      ['without an issuer', { iss: undefined }],
      ['of another subject', { sub: 'system:serviceaccount:kube-system:app' }],
      ['without an expiration', { exp: undefined }],
      ['with an expiration that is not a number', { exp: '9999999999' }],
      ['without a time of issue', { iat: undefined }],
      ['without an account', { 'kubernetes.io': { namespace: 'default' } }],
      [
        'of an account without a uid',
        { 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'app' } } },
      ],
      ['of an invalid account', { 'kubernetes.io': { namespace: 'default', serviceaccount: 'app' } }],
      ['without the claims of Kubernetes', { 'kubernetes.io': undefined }],
    ] as const)
      assert.equal(await isGood(await signed(change)), false, what);
  });

  it('is not accepted with the same claims and the signature of another cluster', async () => {
    const token = await world.token();
    const { privateKey } = newKeyPair();
    assert.equal(await isGood(signToken(createPrivateKey(privateKey), claimsOf(token))), false);
  });

  it('is the only credential in its header', async () => {
    const token = await world.token();
    assert.ok(await world.whoIs(`Bearer ${token}`));
    assert.ok(await world.whoIs(`bearer  ${token} `));
    for (const header of [
      `Bearer ${token} ${token}`,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer ${token},${token}`,
      `Bearer bearer ${token}`,
      `Basic ${token}`,
      `Bearer\t${token}`,
      token,
      'Bearer ',
      `Bearer ${token}${'A'.repeat(60_000)}`,
      `Bearer ${'A'.repeat(60_000)}`,
      `Bearer ${'.'.repeat(60_000)}`,
    ])
      assert.equal(await world.whoIs(header), undefined, header.slice(0, 40));
  });

  const bound: readonly [kind: string, path: string, again: () => object][] = [
    ['Pod', `${inDefault}/pods/p1`, () => podOf('p1', 'n1')],
    ['Secret', `${inDefault}/secrets/s1`, () => ({ metadata: { name: 's1' } })],
    ['Node', '/api/v1/nodes/n1', () => ({ metadata: { name: 'n1' } })],
  ];
  for (const [kind, path, again] of bound)
    it(`becomes invalid with the ${kind} that it is bound to, even if that is created again`, async () => {
      const [collection = '', name = ''] = path.split(/\/(?=[^/]*$)/);
      if (kind === 'Secret') await world.make(collection, again());
      const token = await world.token(bindTo(kind, name));
      const free = await world.token();
      assert.equal(await isGood(token), true);
      await remove(path);
      assert.equal(await isGood(token), false);
      await world.make(collection, again());
      assert.equal(await isGood(token), false, 'another one of that name');
      assert.equal(await isGood(free), true, 'one that is bound to nothing');
    });

  it('becomes invalid with its account, even if that is created again', async () => {
    const path = `${inDefault}/serviceaccounts/app`;
    const token = await world.token();
    assert.equal(await isGood(token), true);
    await remove(path);
    assert.equal(await isGood(token), false);
    await world.make(`${inDefault}/serviceaccounts`, { metadata: { name: 'app' } });
    assert.equal(await isGood(token), false);
    assert.equal(await isGood(await world.token()), true);
  });

  it("is rejected at the end of the pod's grace period, and for an account that only waits for finalizers", async () => {
    const { server } = world;
    const ofPod = await world.token(bindTo('Pod', 'p1'));
    const ended = await server.call('DELETE', `${inDefault}/pods/p1?gracePeriodSeconds=120`);
    assert.equal(ended.json().metadata.deletionTimestamp !== undefined, true, ended.text);
    await server.clock.advance(2 * minute + 50_000);
    assert.equal(await isGood(ofPod), true, 'a program that is ending still works');
    await server.clock.advance(20_000);
    assert.equal(await isGood(ofPod), false);

    const metadata = { name: 'kept', finalizers: ['example.com/x'] };
    await world.make(`${inDefault}/serviceaccounts`, { metadata });
    const kept = await world.token({}, 'kept');
    await remove(`${inDefault}/serviceaccounts/kept`);
    assert.equal(await isGood(kept), true);
    await server.clock.advance(61_000);
    assert.equal(await isGood(kept), false);
  });

  it('of a Secret is valid while the Secret contains it and the account exists', async () => {
    const { server } = world;
    const path = `${inDefault}/secrets/kept`;
    const annotations = { 'kubernetes.io/service-account.name': 'app' };
    const type = 'kubernetes.io/service-account-token';
    const account = { name: 'app', uid: await uidOf(`${inDefault}/serviceaccounts/app`) };
    const sign = (...claims: Parameters<typeof writeLegacyClaims>) =>
      server.accountKeys.sign(writeLegacyClaims(...claims), null);
    const token = await sign('default', account, 'kept');
    const hold = (content: string, more: object = {}) =>
      world.make(`${inDefault}/secrets`, {
        metadata: { name: 'kept', annotations },
        type,
        stringData: { token: content },
        ...more,
      });
    assert.equal(await isGood(token), false, 'before the Secret is there');
    await hold(token);
    assert.deepEqual(await world.whoIs(`Bearer ${token}`), {
      username: 'system:serviceaccount:default:app',
      uid: account.uid,
      groups,
    });
    await server.clock.advance(50 * 365 * 24 * hour);
    assert.equal(await isGood(token), true, 'forever');
    assert.equal((await world.review(token, ['vault'])).authenticated, undefined);
    const merge = (body: object) =>
      server.call('PATCH', path, body, { headers: { 'content-type': 'application/merge-patch+json' } });
    await merge({ metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } } });
    assert.equal(await isGood(token), false, 'marked as invalid');
    await merge({ metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': null } } });
    assert.equal(await isGood(token), true);
    await merge({ stringData: { token: 'other' } });
    assert.equal(await isGood(token), false, 'it holds something else');
    await remove(path);
    assert.equal(await isGood(token), false);
    await hold(token, { type: 'Opaque' });
    assert.equal(await isGood(token), false, 'a Secret of another type');
    await remove(path);
    for (const [what, wrong] of [
      ['another namespace', await sign('kube-system', account, 'kept')],
      ['another uid', await sign('default', { ...account, uid: 'other' }, 'kept')],
      ['no Secret', await sign('default', account, '')],
    ] as const) {
      await hold(wrong);
      assert.equal(await isGood(wrong), false, what);
      await remove(path);
    }
    await hold(token);
    await remove(`${inDefault}/serviceaccounts/app`);
    assert.equal(await isGood(token), false, 'its account has gone');
  });

  it('is valid for the requested audiences', async () => {
    const [own, vault] = [await world.token(), await world.token({ audiences: ['vault', 'nomad'] })];
    const none = { user: {}, error: 'invalid bearer token' };
    const of = async (...asked: Parameters<AccountWorld['review']>) =>
      (await world.review(...asked)).audiences;
    assert.deepEqual(await of(own), [issuer]);
    assert.deepEqual(await of(own, [issuer, 'x']), [issuer]);
    assert.deepEqual(await world.review(own, ['x']), none);
    assert.deepEqual(await world.review(vault), none, 'the server itself is not among them');
    assert.deepEqual(await of(vault, ['nomad', 'x']), ['nomad']);
    assert.deepEqual(await of(vault, ['x', 'nomad', 'vault']), ['vault', 'nomad']);
    assert.equal(await world.whoIs(`Bearer ${vault}`), undefined);
    const { user } = await world.review(vault, ['vault']);
    assert.equal(user?.username, 'system:serviceaccount:default:app');
    await remove(`${inDefault}/serviceaccounts/app`);
    assert.deepEqual(await world.review(vault, ['vault']), none);
  });

  it('is valid after a new key is added, until the old key is removed', async () => {
    const { clock, accountKeys } = world.server;
    const kid = (token: string) =>
      JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
    const year = 365 * 24 * hour;
    const token = await world.token({ expirationSeconds: (3 * year) / 1000 });
    await clock.advance(year - hour);
    assert.equal(accountKeys.publicKeys.length, 2);
    assert.equal(kid(await world.token()), kid(token), 'a key is known before it signs');
    await clock.advance(hour);
    const later = await world.token();
    assert.notEqual(kid(later), kid(token));
    assert.equal(await isGood(token), true);
    assert.equal(await isGood(later), true);
    await clock.advance(4 * year);
    const kids = async () => {
      const keys = (await world.server.call('GET', '/openid/v1/jwks')).json<{ keys: { kid: string }[] }>();
      return keys.keys.map((key) => key.kid);
    };
    assert.ok(!(await kids()).includes(kid(token)));
  });

  it('becomes invalid when the keys are removed from the store', async () => {
    const { store, clock } = world.server;
    const token = await world.token();
    const { revision = 0 } = (await store.get(accountKeysKey)) ?? {};
    await store.delete(accountKeysKey, revision);
    await clock.advance(10);
    assert.equal(await isGood(token), false);
    assert.equal(await isGood(await world.token()), true);
  });
});

describe('several masters on one store', () => {
  it('accept the tokens of one another, and new keys of one another', async () => {
    const one = await startAccountWorld();
    const { store, clock } = one.server;
    const { AccountKeys } = await import('../../../src/kube-apiserver/service-accounts/keys.ts');
    const { silentLogger } = await import('../../../src/base/log.ts');
    const ageMs = 365 * 24 * hour;
    const other = new AccountKeys({ store, clock, log: silentLogger, ageMs });
    await other.open();
    const stopping = new AbortController();
    const running = other.run(stopping.signal);
    const claims = claimsOf(await one.token());
    const now = Math.floor(clock.now() / 1000);
    assert.ok(await one.whoIs(`Bearer ${await other.sign(claims, (now + 600) * 1000)}`));
    await clock.advance(ageMs);
    const names = (keys: AccountWorld['server']['accountKeys']) =>
      keys.publicKeys.map((key) => key.export({ type: 'spki', format: 'pem' }));
    assert.equal(names(other).length, 2, 'one of them made it');
    assert.deepEqual(names(other), names(one.server.accountKeys));
    const signed = await other.sign({ ...claims, iat: 0, nbf: 0, exp: 1e10 }, 1e13);
    await clock.advance(10);
    assert.ok(await one.whoIs(`Bearer ${signed}`));
    stopping.abort();
    await clock.until(running);
    await one.server.stop();
  });
});

describe('discovery of the issuer', () => {
  let world: AccountWorld;
  before(async () => {
    world = await startAccountWorld({ advertiseAddress: '192.0.2.10:6443' });
  });
  after(() => world.server.stop());
  const ask = (path: string, groups: readonly string[]) =>
    world.server.call('GET', path, undefined, { user: { name: 'x', groups } });
  const [configuration, keys] = ['/.well-known/openid-configuration', '/openid/v1/jwks'] as const;

  it('has the issuer of the tokens and the keys that verify them', async () => {
    const answer = await ask(configuration, ['system:masters']);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/json');
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=3600');
    assert.deepEqual(answer.json(), {
      issuer,
      jwks_uri: 'https://192.0.2.10:6443/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
    const set = await ask(keys, ['system:masters']);
    assert.equal(set.headers.get('content-type'), 'application/jwk-set+json');
    const [key, ...more] = set.json<{ keys: Record<string, string>[] }>().keys;
    assert.equal(more.length, 0);
    const { x, y, kid, ...rest } = key ?? {};
    assert.deepEqual(rest, { use: 'sig', kty: 'EC', crv: 'P-256', alg: 'ES256' });
    const [header = ''] = (await world.token()).split('.');
    assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'ES256', kid });
    const { paths } = (await ask('/', ['system:masters'])).json<{ paths: string[] }>();
    assert.ok([configuration, keys].every((path) => paths.includes(path)));
  });

  it('is readable for users with the role', async () => {
    for (const path of [configuration, keys]) {
      assert.equal((await ask(path, ['system:authenticated'])).status, 403);
      assert.equal((await world.server.app.fetch(new Request(`https://a${path}`), {})).status, 401);
      assert.equal((await ask(`${path}/x`, ['system:masters'])).status, 404);
    }
  });

  it('uses the addresses of the settings', async () => {
    const names = ['https://new.example.com', 'https://old.example.com'];
    const other = await startAccountWorld({
      issuer: { issuers: names, jwksURI: 'https://keys.example.com/k' },
    });
    const { issuer: name, jwks_uri } = (await other.server.call('GET', configuration)).json<
      Record<string, string>
    >();
    assert.deepEqual([name, jwks_uri], [names[0], 'https://keys.example.com/k']);
    const token = await other.token();
    const claims = claimsOf(token);
    assert.deepEqual([claims.iss, claims.aud], [names[0], names]);
    const { accountKeys } = other.server;
    const old = await accountKeys.sign({ ...claims, iss: names[1], aud: [names[1]] }, 0);
    assert.ok(await other.whoIs(`Bearer ${old}`), 'tokens of before the name changed');
    await other.server.stop();
  });
});

describe('a server with unreadable stored keys', () => {
  it('does not start if it cannot read the keys, and reports the remedy', async () => {
    const damaged = startAccountWorld({
      wrapStore: (store) => {
        void store.create(accountKeysKey, Buffer.from('{"keys":[]}'));
        return store;
      },
    });
    await assert.rejects(
      damaged,
      /service-accounts\/keys in etcd does not hold the keys of service accounts: delete it/,
    );
  });
});
