import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { registry } from '../../../src/api/registry.ts';
import type { FieldType } from '../../../src/apimachinery/field-types.ts';
import { type Schema, viewSchema } from '../../../src/apimachinery/schema-types.ts';

test('no two kinds share a name of any sort', () => {
  const names = registry.flatMap(({ plural, singular, shortNames, group }) =>
    // Endpoints are called the same, one or many.
    [...new Set([plural, singular, ...shortNames])].map((name) => `${name}.${group}`),
  );
  assert.equal(new Set(names).size, names.length);
  const kinds = registry.map(({ group, kind }) => `${kind}.${group}`);
  assert.equal(new Set(kinds).size, kinds.length);
});

/** The fields of a schema that Kubernetes does not have, or has with another shape. */
function strangers(schema: Schema, type: FieldType | undefined, path: string): string[] {
  const view = viewSchema(schema);
  switch (view.kind) {
    case 'object': {
      if (type?.kind !== 'object') return [path];
      const known = type.object.fields;
      return [...view.entries].flatMap(([name, entry]) =>
        strangers(entry.schema, known.get(name)?.type, `${path}.${name}`),
      );
    }
    case 'list':
      return type?.kind === 'list' ? strangers(view.items, type.items, `${path}[]`) : [path];
    case 'map':
      return type?.kind === 'map' ? strangers(view.values, type.values, `${path}{}`) : [path];
    case 'choice':
      return type?.kind === 'scalar' && type.scalar === 'string' ? [] : [path];
    case 'scalar':
      return type?.kind === view.type.kind ? [] : [path];
    case 'any':
      return type ? [] : [path];
  }
}

for (const { kind, schema, typeName } of registry.filter(({ group }) => group !== 'minik8s.io')) {
  test(`every field of ${kind}'s schema is a field of Kubernetes' ${typeName}`, () => {
    const object = kubernetesFields.typeOf(typeName);
    assert.ok(object, `the table of fields has ${typeName}`);
    // The conditions of all kinds have one schema; which of its times a kind has, the table knows.
    const found = strangers(schema, { kind: 'object', object }, kind);
    assert.deepEqual(
      found.filter((path) => !path.includes('.status.conditions[].')),
      [],
    );
  });
}

test('the walk above finds a field that is not Kubernetes', () => {
  const pod = registry.find(({ kind }) => kind === 'Pod');
  const service = kubernetesFields.typeOf('core.v1.Service');
  assert.ok(pod && service);
  const found = strangers(pod.schema, { kind: 'object', object: service }, 'Pod');
  assert.ok(found.includes('Pod.spec.containers'), found.join(' '));
});

test('kinds that Kubernetes answers a delete with the object of', () => {
  const answered = registry.filter(({ deleteAnswers }) => deleteAnswers === 'object').map(({ kind }) => kind);
  assert.deepEqual(answered.sort(), ['Pod', 'Service']);
});

test('kinds with a status of their own, and kinds whose changes are counted', () => {
  const kinds = (wanted: (definition: (typeof registry)[number]) => boolean) =>
    registry
      .filter(wanted)
      .map(({ kind }) => kind)
      .sort();
  assert.deepEqual(
    kinds(({ hasStatus }) => hasStatus),
    ['CertificateSigningRequest', 'Deployment', 'Dns', 'Namespace', 'Node', 'Pod', 'ReplicaSet', 'Service'],
  );
  assert.deepEqual(
    kinds(({ strategy }) => strategy.countsGenerations),
    ['Deployment', 'Dns', 'EndpointSlice', 'Pod', 'ReplicaSet'],
  );
  assert.deepEqual(
    kinds(({ namespaced }) => !namespaced),
    ['CertificateSigningRequest', 'Namespace', 'Node', 'SelfSubjectAccessReview'],
  );
});
