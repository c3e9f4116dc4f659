import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as v from 'valibot';
import { generate, generatedFile } from '../../../config/dev/generate-fields.ts';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { fieldTypes } from '../../../src/api/fields.gen.ts';
import { atomicTypes, mergeRules } from '../../../src/api/merge-keys.ts';
import { shortTypeName } from '../../../src/apimachinery/field-types.ts';
import {
  int32,
  int64,
  intOrString,
  objectMetaSchema,
  quantity,
  struct,
} from '../../../src/apimachinery/schema.ts';
import { objectTypeFromSchema } from '../../../src/apimachinery/schema-types.ts';

test('the generated file is what the generator makes of the installed client', async () => {
  assert.ok(
    readFileSync(generatedFile, 'utf8') === (await generate()),
    `${generatedFile} is out of date: run config/dev/generate-fields.ts`,
  );
});

test('every type in the table can be read', () => {
  for (const name of Object.keys(fieldTypes))
    assert.ok((kubernetesFields.typeOf(name)?.fields.size ?? -1) >= 0, name);
  assert.equal(kubernetesFields.typeOf('V1Podd'), undefined);
  assert.equal(kubernetesFields.typeOf('constructor'), undefined);
});

test('every merge rule names a field and fits its type', () => {
  for (const [path, rule] of Object.entries(mergeRules)) {
    const [type = '', field = ''] = path.split(/\.(.*)/s);
    const found = kubernetesFields.typeOf(type)?.fields.get(field);
    assert.ok(found, path);
    assert.deepEqual(found.merge, rule);
    if (rule.mapType) assert.equal(found.type.kind, 'map', path);
    const keys = [...(rule.listKeys ?? []), ...(rule.patchKey ? [rule.patchKey] : [])];
    for (const key of keys) {
      assert.ok(found.type.kind === 'list' && found.type.items.kind === 'object', path);
      assert.ok(found.type.items.object.fields.has(key), `${path} by ${key}`);
    }
  }
  for (const name of atomicTypes) assert.equal(kubernetesFields.typeOf(name)?.atomic, true, name);
});

test('types and required marks', () => {
  const spec = kubernetesFields.typeOf('V1DeploymentSpec');
  assert.equal(spec?.fields.get('selector')?.required, true);
  assert.equal(spec?.fields.get('replicas')?.required, false);
  assert.deepEqual(spec?.fields.get('replicas')?.type, { kind: 'scalar', scalar: 'int32' });
  const limits = kubernetesFields.typeOf('V1ResourceRequirements')?.fields.get('limits');
  assert.deepEqual(limits?.type, { kind: 'map', values: { kind: 'scalar', scalar: 'quantity' } });
});

for (const [name, short] of [
  ['V1PodSpec', 'PodSpec'],
  ['V2HorizontalPodAutoscaler', 'HorizontalPodAutoscaler'],
  ['CoreV1Event', 'Event'],
  ['DiscoveryV1EndpointPort', 'EndpointPort'],
  ['Function', 'Function'],
] as const) {
  test(`${name} is ${short} in Go`, () => {
    const type = kubernetesFields.typeOf(name) ?? { name, atomic: false, fields: new Map() };
    assert.equal(shortTypeName(type), short);
  });
}

test('a schema gives the same model', () => {
  const schema = struct({
    apiVersion: v.literal('minik8s.io/v1'),
    metadata: objectMetaSchema,
    mode: v.optional(v.picklist(['a', 'b']), 'a'),
    count: int32(),
    big: v.optional(int64()),
    port: v.optional(intOrString()),
    size: v.optional(quantity()),
    ratio: v.optional(v.number()),
    env: v.optional(v.record(v.string(), v.boolean())),
    steps: v.array(
      v.variant('type', [
        struct({ type: v.literal('x'), x: v.string() }),
        struct({ type: v.literal('y'), y: v.string() }),
      ]),
    ),
    free: v.optional(v.unknown()),
  });
  const type = objectTypeFromSchema('Thing', schema, kubernetesFields);
  const kindOf = (field: string) => {
    const found = type.fields.get(field)?.type;
    return found?.kind === 'scalar' ? found.scalar : found?.kind;
  };
  assert.deepEqual(['mode', 'count', 'big', 'port', 'size', 'ratio', 'env', 'steps', 'free'].map(kindOf), [
    'string',
    'int32',
    'int64',
    'intOrString',
    'quantity',
    'double',
    'map',
    'list',
    'any',
  ]);
  const meta = type.fields.get('metadata')?.type;
  assert.ok(meta?.kind === 'object' && meta.object.name === 'V1ObjectMeta');
  assert.deepEqual(type.fields.get('mode')?.choices, ['a', 'b']);
  assert.equal(type.fields.get('count')?.required, true);
  const steps = type.fields.get('steps')?.type;
  assert.ok(steps?.kind === 'list' && steps.items.kind === 'object');
  assert.deepEqual([...steps.items.object.fields.keys()], ['type', 'x', 'y']);
});
