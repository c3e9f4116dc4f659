import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Secret, secretResource } from '../../../../../src/api/core/v1/secret.ts';

const types = [
  ['kubernetes.io/dockerconfigjson', '.dockerconfigjson'],
  ['kubernetes.io/dockercfg', '.dockercfg'],
] as const;

function causes(type: string, key: string, text: string) {
  const data = { [key]: Buffer.from(text).toString('base64') };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, type, data };
  return secretResource.strategy.validate?.(secret as unknown as Secret) ?? [];
}

for (const [type, key] of types) {
  for (const text of ['notjson', '', '{', '[]', '"hunter2"', '7', `{"auths": hunter2}`]) {
    test(`a ${type} of ${JSON.stringify(text)} is rejected without its content in the message`, () => {
      const found = causes(type, key, text);
      assert.deepEqual(
        found.map(({ field, reason }) => [field, reason]),
        [[`data[${key}]`, 'FieldValueInvalid']],
      );
      assert.match(found[0]?.message ?? '', /<secret contents redacted>.*: must be a JSON object$/);
      assert.doesNotMatch(JSON.stringify(found), /hunter2|notjson/);
    });
  }

  test(`a ${type} may be a JSON object, or null as in Kubernetes`, () => {
    for (const text of ['{"auths": {}}', ' {} ', 'null']) assert.deepEqual(causes(type, key, text), []);
  });

  test(`a ${type} without ${key} is rejected with one cause`, () => {
    assert.deepEqual(
      causes(type, 'other', '{}').map(({ field, reason }) => [field, reason]),
      [[`data[${key}]`, 'FieldValueRequired']],
    );
  });
}
