import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import { requiredType } from '../../../../src/apimachinery/field-types.ts';
import type { StructuralSchema } from '../../../../src/apimachinery/structural-schema/schema.ts';
import { publishedSchema } from '../../../../src/kube-apiserver/custom-resources/published-schema.ts';

const meta = requiredType(kubernetesFields, 'meta.v1.ObjectMeta');
const kind = { group: 'a.example.com', version: 'v1', kind: 'Widget' };

const inVersion = (schema: StructuralSchema, version: 2 | 3) =>
  publishedSchema(kind, schema, meta).schema(version, { $ref: '#/meta' });
const spec = (schema: StructuralSchema, version: 2 | 3) =>
  (inVersion({ type: 'object', properties: { spec: schema } }, version).properties as { spec: object }).spec;

describe('the published schema of a custom kind', () => {
  it('has the name of its group in reverse, and the fields of every object', () => {
    assert.equal(publishedSchema(kind, {}, meta).name, 'com.example.a.v1.Widget');
    const properties = inVersion({ type: 'object' }, 2).properties as Record<string, object>;
    assert.deepEqual(Object.keys(properties), ['apiVersion', 'kind', 'metadata']);
    assert.match(JSON.stringify(properties.metadata), /"\$ref":"#\/meta"/);
  });

  it('is complete in version 3, and has no alternatives and nulls in version 2', () => {
    const schema: StructuralSchema = {
      ...{ type: 'object', required: ['a', 'b'], anyOf: [{ required: ['a'] }] },
      properties: {
        a: { type: 'string', nullable: true, pattern: '^x' },
        b: { type: 'integer', minimum: 1 },
      },
    };
    assert.deepEqual(spec(schema, 3), schema);
    assert.deepEqual(spec(schema, 2), {
      ...{ type: 'object', required: ['b'] },
      properties: { a: { pattern: '^x' }, b: { type: 'integer', minimum: 1 } },
    });
  });

  it('shows no type for a part with unknown fields in version 2, and no fields of such a kind', () => {
    const open: StructuralSchema = {
      ...{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      properties: { a: { type: 'string' } },
    };
    assert.deepEqual(spec(open, 2), { 'x-kubernetes-preserve-unknown-fields': true });
    assert.deepEqual(spec(open, 3), open);
    assert.deepEqual(inVersion(open, 2), { type: 'object' });
  });

  it('shows apiVersion, kind and metadata of embedded resources', () => {
    const embedded: StructuralSchema = { type: 'object', 'x-kubernetes-embedded-resource': true };
    const shown = spec(embedded, 3) as { required: string[]; properties: object };
    assert.deepEqual(
      [shown.required, Object.keys(shown.properties)],
      [
        ['kind', 'apiVersion'],
        ['apiVersion', 'kind', 'metadata'],
      ],
    );
  });
});
