/** Secrets with which a machine may join, and the user as which the machine is authenticated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '../../../../src/api/core/v1/secret.ts';
import {
  bootstrapTokenAuthenticator,
  masterTokenId,
  masterUsage,
} from '../../../../src/kube-apiserver/authentication/bootstrap-token.ts';
import type { Cache } from '../../../../src/storage/cache.ts';
import { merge } from '../../../fixtures/kinds.ts';

const now = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(now + ms).toISOString();

const fields = (values: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  );

const good = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  data: fields({
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    expiration: at(1000),
  }),
};

function optionsWith(change: object) {
  const secret = merge(good, change) as Secret;
  const cache: Pick<Cache, 'get'> = {
    get: (key) =>
      key === '/registry/secrets/kube-system/bootstrap-token-abcdef'
        ? ({ object: secret } as never)
        : undefined,
  };
  return { cache: cache as Cache, now: () => now };
}

function shownBy(authorization: string, change: object) {
  return bootstrapTokenAuthenticator(optionsWith(change))({ authorization } as never);
}

const token = 'Bearer abcdef.0123456789abcdef';

test('a token identifies a user in the group of joining machines', async () => {
  assert.deepEqual(await shownBy(token, {}), {
    name: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers'],
  });
  const more = { data: fields({ 'auth-extra-groups': 'system:bootstrappers:a, system:bootstrappers:b:c' }) };
  assert.deepEqual((await shownBy(token, more))?.groups.slice(1), [
    'system:bootstrappers:a',
    'system:bootstrappers:b:c',
  ]);
  assert.ok(await shownBy(token, { data: { expiration: null } }), 'one without an end is good');
});

for (const [why, change] of [
  ['that is being deleted', { metadata: { deletionTimestamp: at(0), finalizers: ['a.b/c'] } }],
  ['of another type', { type: 'Opaque' }],
  ['with another token secret', { data: fields({ 'token-secret': '0123456789abcdeg' }) }],
  ['with a longer token secret', { data: fields({ 'token-secret': '0123456789abcdef0' }) }],
  ['without a secret', { data: { 'token-secret': null } }],
  ['with another token id', { data: fields({ 'token-id': 'abcdeg' }) }],
  ['that has expired', { data: fields({ expiration: at(0) }) }],
  ['with an invalid expiration', { data: fields({ expiration: 'soon' }) }],
  ['that does not allow authentication', { data: fields({ 'usage-bootstrap-authentication': 'false' }) }],
  ['without the field for authentication', { data: { 'usage-bootstrap-authentication': null } }],
  ['with a group of another prefix', { data: fields({ 'auth-extra-groups': 'system:masters' }) }],
] as const) {
  test(`a Secret ${why} authenticates no user`, async () => {
    assert.equal(await shownBy(token, change), undefined);
  });
}

for (const shown of [
  'Bearer abcdef',
  'Bearer ABCDEF.0123456789abcdef',
  'Bearer abcdeg.0123456789abcdef',
  '',
]) {
  test(`the header ${JSON.stringify(shown)} authenticates no user`, async () => {
    assert.equal(await shownBy(shown, {}), undefined);
  });
}

const forMasters = { data: fields({ 'usage-bootstrap-authentication': 'false', [masterUsage]: 'true' }) };

test('a token for masters lets a master join, and authenticates no user', async () => {
  assert.equal(masterTokenId(token, optionsWith(forMasters)), 'abcdef');
  assert.equal(await shownBy(token, forMasters), undefined);
});

test('no master can join with a token for nodes, an expired token or a token without an expiration', () => {
  assert.equal(masterTokenId(token, optionsWith({})), undefined);
  assert.equal(masterTokenId('Bearer abcdef.0123456789abcdeg', optionsWith(forMasters)), undefined);
  assert.equal(masterTokenId(undefined, optionsWith(forMasters)), undefined);
  for (const expiration of [fields({ x: at(0) }).x, null]) {
    const change = { data: { ...forMasters.data, expiration } };
    assert.equal(masterTokenId(token, optionsWith(change)), undefined);
  }
});
