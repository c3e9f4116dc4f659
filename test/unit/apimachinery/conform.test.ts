/** Values that the scalars of Kubernetes' own kinds are decoded to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { convertObject } from '../../../src/apimachinery/decode.ts';

const dataOf = (k: string) =>
  convertObject(
    kubernetesFields,
    secretResource,
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { k } },
    'Strict',
    [],
  ).object.data?.k;

for (const [text, kept] of [
  ['', ''],
  ['YQ==', 'YQ=='],
  ['YWI=', 'YWI='],
  ['YWJj', 'YWJj'],
  ['YW\r\nJj\n', 'YWJj'],
  ['+/+/', '+/+/'],
] as const) {
  test(`${JSON.stringify(text)} is decoded as bytes`, () => assert.equal(dataOf(text), kept));
}

for (const text of ['Y', 'YQ', 'YQ=', 'YWI', 'YWJjZ', 'YQ==YQ==', 'Y===', '====', 'YQ= =', '-_-_', '%']) {
  test(`${JSON.stringify(text)} is rejected as bytes`, () => {
    assert.throws(() => dataOf(text), /data\.k: illegal base64 data at input byte \d/);
  });
}
