import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import { withDefaults, withoutNulls } from '../../../../src/apimachinery/structural-schema/defaulting.ts';
import {
  isStructural,
  schemaCauses,
} from '../../../../src/apimachinery/structural-schema/definition-causes.ts';
import { pruned } from '../../../../src/apimachinery/structural-schema/pruning.ts';
import type {
  StructuralSchema,
  WrittenSchema,
} from '../../../../src/apimachinery/structural-schema/schema.ts';
import { valueCauses } from '../../../../src/apimachinery/structural-schema/value-causes.ts';
import { seeded } from '../../../../src/base/seeded.ts';

type Random = () => number;
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
const names = ['a', 'b', 'c', 'metadata', 'kind'];

/** Returns a value of a few levels; not all of its fields are in the schemas. */
function anyValue(random: Random, depth: number): unknown {
  const kinds =
    depth > 0 ? ['text', 'number', 'null', 'flag', 'list', 'object', 'object'] : ['text', 'number', 'null'];
  switch (pick(random, kinds)) {
    case 'text':
      return pick(random, ['', 'x', 'yy', '2024-01-01']);
    case 'number':
      return pick(random, [0, 1, 2.5, -7]);
    case 'flag':
      return random() < 0.5;
    case 'list':
      return Array.from({ length: Math.floor(random() * 4) }, () => anyValue(random, depth - 1));
    case 'object':
      return Object.fromEntries(
        names.slice(0, 3 + Math.floor(random() * 3)).map((name) => [name, anyValue(random, depth - 1)]),
      );
    default:
      return null;
  }
}

/**
 * Returns a schema of a few levels, with many kinds of keywords. Maps have no defaults, because those
 * are not checked when a definition is applied, as in upstream.
 */
function anySchema(random: Random, depth: number, hasDefaults = true): StructuralSchema {
  const inner = () => anySchema(random, depth - 1, hasDefaults);
  const common: StructuralSchema = {
    ...(hasDefaults && random() < 0.3 && { default: anyValue(random, 1) }),
    ...(random() < 0.3 && { nullable: true }),
    ...(random() < 0.1 && { enum: [1, 'x', null] }),
    ...(random() < 0.1 && { not: { required: ['a'] } }),
    ...(random() < 0.1 && { anyOf: [{ minimum: 1 }, { maxLength: 1 }] }),
    ...(random() < 0.15 && { 'x-kubernetes-preserve-unknown-fields': true }),
  };
  const leaves = ['string', 'integer', 'number', 'boolean'] as const;
  const type = pick(random, depth > 0 ? (['object', 'object', 'map', 'array', ...leaves] as const) : leaves);
  if (type === 'map')
    return {
      ...common,
      type: 'object',
      additionalProperties: random() < 0.2 ? true : anySchema(random, depth - 1, false),
    };
  if (type === 'array')
    return { ...common, type, items: inner(), ...(random() < 0.3 && { 'x-kubernetes-list-type': 'set' }) };
  if (type !== 'object')
    return { ...common, type, ...(random() < 0.2 && { maximum: 1, maxLength: 1, pattern: '^x' }) };
  return {
    ...common,
    type,
    properties: Object.fromEntries(names.slice(0, 3).map((name) => [name, inner()])),
    ...(random() < 0.3 && { required: ['a'] }),
    ...(random() < 0.1 && { 'x-kubernetes-embedded-resource': true }),
  };
}

const read = (value: unknown, schema: StructuralSchema) =>
  withDefaults(withoutNulls(pruned(value, schema).value, schema), schema);

describe('random values of random schemas', () => {
  it('are stable once they are pruned and have their defaults', () => {
    const random = seeded(1);
    for (let round = 0; round < 3000; round++) {
      const schema = anySchema(random, 3);
      // A default may contain fields that its own schema prunes; such a definition is rejected.
      if (
        inOneGo(schemaCauses({ type: 'object', properties: { x: schema as WrittenSchema } }, 'S')).length > 0
      )
        continue;
      const once = read(anyValue(random, 4), schema);
      assert.deepEqual(read(once, schema), once, JSON.stringify(schema));
    }
  });

  it('are never pruned of required fields, and unchanged values are accepted', () => {
    const random = seeded(2);
    let found = 0;
    for (let round = 0; round < 3000; round++) {
      const schema = anySchema(random, 3);
      const value = anyValue(random, 4);
      const causes = inOneGo(valueCauses(value, schema));
      found += causes.length;
      for (const { field, message, reason } of causes) assert.ok(field && message && reason);
      const kept = inOneGo(valueCauses(value, schema, { old: value })).filter(
        ({ field }) => !/(^|\.)(apiVersion|kind|metadata)$/.test(field ?? ''),
      );
      assert.deepEqual(kept, [], JSON.stringify({ schema, value }));
    }
    assert.ok(found > 1000, `only ${found} causes were found`);
  });
});

describe('random texts as schemas', () => {
  it('are rejected with a field, and never crash', () => {
    const random = seeded(3);
    const keywords = [
      'type',
      'properties',
      'items',
      'allOf',
      'not',
      'required',
      'enum',
      'default',
      'additionalProperties',
      'pattern',
      'nullable',
      'x-kubernetes-list-type',
      'x-kubernetes-list-map-keys',
      'x-kubernetes-validations',
      '$ref',
    ];
    const broken = (depth: number): unknown =>
      random() < 0.4 || depth === 0
        ? anyValue(random, 2)
        : Object.fromEntries(Array.from({ length: 4 }, () => [pick(random, keywords), broken(depth - 1)]));
    for (let round = 0; round < 3000; round++) {
      const schema = broken(3) as WrittenSchema;
      const causes = inOneGo(schemaCauses(schema, 'S'));
      for (const { field, message } of causes) assert.ok(field?.startsWith('S') && message);
      if (causes.length === 0) assert.equal(isStructural(schema), true);
    }
  });
});
