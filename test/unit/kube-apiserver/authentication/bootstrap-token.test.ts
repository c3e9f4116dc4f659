/** Secrets that let a machine join, and the user that the machine then is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '../../../../src/api/core/v1/secret.ts';
import { bootstrapTokenAuthenticator } from '../../../../src/kube-apiserver/authentication/bootstrap-token.ts';
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

function shownBy(authorization: string, change: object) {
  const secret = merge(good, change) as Secret;
  const cache: Pick<Cache, 'get'> = {
    get: (key) =>
      key === '/registry/secrets/kube-system/bootstrap-token-abcdef'
        ? ({ object: secret } as never)
        : undefined,
  };
  return bootstrapTokenAuthenticator({ cache: cache as Cache, now: () => now })({ authorization } as never);
}

const token = 'Bearer abcdef.0123456789abcdef';

test('a token is a user of the group of those who join', async () => {
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
  ['of another secret', { data: fields({ 'token-secret': '0123456789abcdeg' }) }],
  ['of a longer secret', { data: fields({ 'token-secret': '0123456789abcdef0' }) }],
  ['without a secret', { data: { 'token-secret': null } }],
  ['of another id', { data: fields({ 'token-id': 'abcdeg' }) }],
  ['that is over', { data: fields({ expiration: at(0) }) }],
  ['whose end cannot be read', { data: fields({ expiration: 'soon' }) }],
  ['that is not for joining', { data: fields({ 'usage-bootstrap-authentication': 'false' }) }],
  ['that does not say what it is for', { data: { 'usage-bootstrap-authentication': null } }],
  ['with a group of others', { data: fields({ 'auth-extra-groups': 'system:masters' }) }],
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
  test(`nor does ${JSON.stringify(shown)}`, async () => {
    assert.equal(await shownBy(shown, {}), undefined);
  });
}
