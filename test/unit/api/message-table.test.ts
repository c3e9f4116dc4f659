import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { typeLines } from '../../../src/api/kubernetes-types.gen.ts';
import { kubernetesMessages } from '../../../src/api/message-table.ts';
import type { MessageField, MessageType } from '../../../src/apimachinery/protobuf/message-types.ts';
import { registry } from '../../../src/features/kinds.ts';

const types = Object.keys(typeLines).flatMap((name) => kubernetesMessages.typeOf(name) ?? []);

/** The named fields of a message and of its parts. */
function namedFields(type: MessageType): Exclude<MessageField, { kind: 'part' }>[] {
  return [...type.fields.values()].flatMap((field) =>
    field.kind === 'part' ? namedFields(field.message) : [field],
  );
}

test('every field of a type has one number, except its apiVersion and kind', () => {
  assert.ok(types.length > 300);
  for (const type of types) {
    const numbered = namedFields(type).map((field) => field.name);
    assert.equal(new Set(numbered).size, numbered.length, `${type.name} has a name twice`);
    const fields = [...(kubernetesFields.typeOf(type.name)?.fields.keys() ?? [])];
    const missing = fields.filter((name) => !numbered.includes(name) && !isTypeMeta(type.name, name));
    assert.deepEqual(missing, [], type.name);
  }
});

/** Objects have their type in the envelope, but some fields with these names are ordinary ones. */
const isTypeMeta = (type: string, field: string) =>
  (field === 'apiVersion' || field === 'kind') &&
  kubernetesFields.typeOf(type)?.fields.has('apiVersion') === true;

test('only single scalars are left out when they are zero', () => {
  for (const type of types) {
    for (const field of namedFields(type).filter(({ omitsZero }) => omitsZero)) {
      const where = `${type.name}.${field.name}`;
      assert.equal(field.kind, 'single', where);
      assert.equal(field.value.kind, 'scalar', where);
    }
  }
});

test('every kind of Kubernetes that is served, and every kind that is only sent, has numbers', () => {
  const served = registry.filter(({ types }) => types === undefined).map(({ typeName }) => typeName);
  for (const name of [
    ...served,
    'meta.v1.DeleteOptions',
    'autoscaling.v1.Scale',
    'core.v1.Binding',
    'policy.v1.Eviction',
    'meta.v1.Status',
  ])
    assert.ok(kubernetesMessages.typeOf(name), name);
  for (const name of ['meta.v1.Table', 'constructor', 'core.v1.Podd', 'Dns'])
    assert.equal(kubernetesMessages.typeOf(name), undefined, name);
});
