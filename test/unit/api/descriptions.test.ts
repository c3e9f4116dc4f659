import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { openApiV3Document } from '../../../src/apimachinery/openapi.ts';
import type { SchemaObject } from '../../../src/apimachinery/openapi-schema.ts';
import { inOneGo } from '../../../src/apimachinery/steps.ts';
import { registry } from '../../../src/features/kinds.ts';

test('every kind of our own and each of its fields has a description in the OpenAPI document', () => {
  const source = { definitions: registry, fields: kubernetesFields, docs: {}, version: 'v1.32.0' };
  const groups = new Set(
    registry.filter(({ group }) => group.endsWith('minik8s.io')).map(({ group }) => group),
  );
  assert.ok(groups.size > 0);
  for (const group of groups) {
    const schemas: Readonly<Record<string, SchemaObject>> =
      inOneGo(openApiV3Document(source, `apis/${group}/v1`))?.components.schemas ?? {};
    const own = Object.entries(schemas).filter(([name]) => name.startsWith('io.minik8s.'));
    const kinds = own.filter(([, schema]) => schema['x-kubernetes-group-version-kind'] !== undefined);
    assert.ok(kinds.length > 0);
    for (const [name, { description }] of kinds) assert.match(description ?? '', /^[A-Z].*\.$/, name);
    for (const [name, { properties = {} }] of own)
      for (const [field, { description }] of Object.entries(properties))
        if (field !== 'metadata') assert.match(description ?? '', /^[A-Z].*\.$/, `${name}.${field}`);
  }
});
