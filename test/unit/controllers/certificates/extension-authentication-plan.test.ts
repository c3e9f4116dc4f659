import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '../../../../src/api/core/v1/config-map.ts';
import { planAuthentication } from '../../../../src/controllers/certificates/extension-authentication-plan.ts';

const frontProxy = { authority: 'PROXY', name: 'front-proxy-client' };
const plan = (existing?: ConfigMap) => planAuthentication('CLUSTER', frontProxy, existing);

const stored = (change: Partial<ConfigMap>): ConfigMap => {
  const made = plan();
  assert.ok(made.type === 'create');
  const { metadata, data } = made.configMap;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, uid: 'u' } as ConfigMap['metadata'],
    data,
    ...change,
  };
};

test('the ConfigMap has the authorities, and the names and headers of the front proxy', () => {
  assert.deepEqual(stored({}).data, {
    'client-ca-file': 'CLUSTER',
    'requestheader-client-ca-file': 'PROXY',
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  });
});

test('without a front proxy the ConfigMap has only the authority of users', () => {
  const made = planAuthentication('CLUSTER', undefined, undefined);
  assert.ok(made.type === 'create');
  assert.deepEqual(made.configMap.data, { 'client-ca-file': 'CLUSTER' });
});

test('a correct ConfigMap is unchanged', () => {
  assert.deepEqual(plan(stored({})), { type: 'none' });
});

test('another authority is published, and additions of users are removed', () => {
  const { data } = stored({});
  const next = planAuthentication('NEXT', frontProxy, stored({ data: { ...data, more: 'x' } }));
  assert.ok(next.type === 'update');
  assert.deepEqual(next.configMap.data, { ...data, 'client-ca-file': 'NEXT' });
  const binary = plan(stored({ binaryData: { x: 'YQ==' } }));
  assert.ok(binary.type === 'update');
  assert.equal(binary.configMap.binaryData, undefined);
});

test('an immutable ConfigMap with other content is removed, and one that is being deleted is not changed', () => {
  assert.deepEqual(plan(stored({ data: {}, immutable: true })), { type: 'remove', uid: 'u' });
  const { metadata } = stored({});
  const ending = { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
  assert.deepEqual(plan(stored({ data: {}, metadata: ending })), { type: 'none' });
});
