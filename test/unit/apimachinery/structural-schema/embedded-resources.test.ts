import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import { requiredType } from '../../../../src/apimachinery/field-types.ts';
import {
  conformEmbedded,
  embeddedCauses,
} from '../../../../src/apimachinery/structural-schema/embedded-resources.ts';
import type { StructuralSchema } from '../../../../src/apimachinery/structural-schema/schema.ts';

const embedded: StructuralSchema = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
};
const schema: StructuralSchema = {
  type: 'object',
  properties: {
    e: embedded,
    list: { type: 'array', items: embedded },
    map: { type: 'object', additionalProperties: embedded },
  },
};
const pod = { apiVersion: 'v1', kind: 'Pod' };
const meta = requiredType(kubernetesFields, 'meta.v1.ObjectMeta');

const cases: readonly (readonly [value: unknown, ...causes: (string | RegExp)[]])[] = [
  [{ e: pod, list: [pod], map: { a: pod } }],
  [{ e: { ...pod, metadata: { labels: { a: 'b' }, namespace: 'x' } } }],
  [{ e: {} }, 'e.apiVersion: Required value: must not be empty', 'e.kind: Required value: must not be empty'],
  [{ list: [{ ...pod, kind: '' }] }, 'list[0].kind: Invalid value: "": must not be empty'],
  [{ map: { a: { ...pod, kind: 5 } } }, 'map[a].kind: Invalid value: 5: must be a string'],
  [
    { e: { ...pod, apiVersion: 'a/b/c' } },
    'e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ],
  [{ e: { ...pod, apiVersion: '' } }, 'e.apiVersion: Invalid value: "": must not be empty'],
  [
    { e: { ...pod, kind: 'P_d' } },
    /^e\.kind: Invalid value: "P_d": may have mixed case, but should otherwise match: /,
  ],
  [
    { e: { ...pod, metadata: { name: 'a/b' } } },
    /^e\.metadata\.name: Invalid value: "a\/b": may not contain '\/'/,
  ],
  [{ e: { ...pod, metadata: { labels: { '-': 'x' } } } }, /^e\.metadata\.labels: Invalid value: "-"/],
  [{ e: { ...pod, metadata: 5 } }, 'e.metadata: Invalid value: 5: must be the metadata of an object'],
  [
    { e: { ...pod, metadata: { ownerReferences: [5] } } },
    /^e\.metadata: Invalid value: .*: must be the metadata of an object$/,
  ],
];

describe('an embedded resource', () => {
  for (const [value, ...causes] of cases)
    it(`${JSON.stringify(value)} has ${causes.length} causes`, () => {
      const found = embeddedCauses(value, schema).map(({ field, message }) => `${field}: ${message}`);
      assert.equal(found.length, causes.length, found.join('\n'));
      for (const [index, cause] of causes.entries())
        if (typeof cause === 'string') assert.equal(found[index], cause);
        else assert.match(found[index] ?? '', cause);
    });

  it('has the metadata that objects have, without unknown fields', () => {
    const value = {
      e: { ...pod, metadata: { name: 'a', colour: 'red' }, spec: { metadata: { colour: 'red' } } },
    };
    assert.deepEqual(conformEmbedded(value, schema, meta), {
      value: { e: { ...pod, metadata: { name: 'a' }, spec: { metadata: { colour: 'red' } } } },
      unknown: ['e.metadata.colour'],
      cause: undefined,
    });
  });

  it('is rejected when its metadata has a wrong type', () => {
    const { cause } = conformEmbedded({ list: [pod, { ...pod, metadata: { labels: 5 } }] }, schema, meta);
    assert.equal(cause?.field, 'list[1].metadata');
    assert.equal(
      conformEmbedded({ e: { ...pod, kind: 5 } }, schema, meta).cause?.message,
      'Invalid value: 5: must be a string',
    );
  });
});
