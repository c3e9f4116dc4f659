import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceAccountResource } from '../../../../../../src/api/core/v1/service-account/service-account.ts';
import { convertObject } from '../../../../../../src/apimachinery/decode.ts';
import { kindFields } from '../../../../../../src/features/kinds.ts';
import { cells, created, testCreate, testUpdate, updated } from '../../../../../fixtures/kinds.ts';

const account = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'builder', namespace: 'default' },
};

testCreate(serviceAccountResource, account, [
  ['a name with dots', { metadata: { name: 'a.b' } }],
  ['an invalid name', { metadata: { name: 'A' } }, 'metadata.name: Invalid value: "A": a lowercase RFC 1123'],
]);

testUpdate(serviceAccountResource, account, [
  ['further secrets', { secrets: [{ name: 's' }], imagePullSecrets: [{ name: 'p' }] }],
]);

test('only the name of a Secret reference is kept', () => {
  const secrets = [{ name: 's', namespace: 'other', uid: 'u' }, {}];
  const made = created(serviceAccountResource, { ...account, secrets });
  assert.deepEqual(made.secrets, [{ name: 's' }, {}]);
  const { object } = updated(serviceAccountResource, made, { ...account, secrets });
  assert.deepEqual(object.secrets, [{ name: 's' }, {}]);
});

test('every field of a ServiceAccount has an effect', () => {
  const body = { ...account, automountServiceAccountToken: true, imagePullSecrets: [{ name: 'p' }] };
  const { warnings } = convertObject(kindFields, serviceAccountResource, body, 'Strict');
  assert.deepEqual(warnings, []);
});

test('a ServiceAccount has the columns of kubectl', () => {
  const object = created(serviceAccountResource, { ...account, secrets: [{ name: 'a' }, { name: 'b' }] });
  assert.deepEqual(cells(serviceAccountResource, object, Date.now()), {
    Name: 'builder',
    Secrets: 2,
    Age: '<unknown>',
  });
});
