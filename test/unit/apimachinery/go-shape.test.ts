import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { requiredType } from '../../../src/apimachinery/field-types.ts';
import { goShape } from '../../../src/apimachinery/go-shape.ts';

const shape = (typeName: string, object: object) =>
  JSON.stringify(goShape({ ...object }, requiredType(kubernetesFields, typeName)));

test('fields are in the order of the type, and fields that Go always shows are added', () => {
  assert.equal(
    shape('core.v1.Container', { image: 'b', name: 'a', env: [{}] }),
    '{"name":"a","image":"b","env":[{"name":""}],"resources":{}}',
  );
  assert.equal(
    shape('core.v1.Pod', { metadata: { labels: { b: '1', a: '2' } }, spec: null }),
    '{"metadata":{"creationTimestamp":null,"labels":{"a":"2","b":"1"}},"spec":{"containers":null},"status":{}}',
  );
});

test('a field that the type does not have follows the other fields', () => {
  assert.equal(shape('core.v1.EnvVar', { nmae: 'x', name: 'a' }), '{"name":"a","nmae":"x"}');
});

test('a value of a wrong type is kept, so that the server rejects it', () => {
  assert.equal(shape('core.v1.ConfigMap', { metadata: 5, data: 'x' }), '{"metadata":5,"data":"x"}');
});
