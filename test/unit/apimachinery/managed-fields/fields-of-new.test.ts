/** The fast path to the owners of a new object gives the same as the path of every other write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesMessages } from '../../../../src/api/message-table.ts';
import { isRecord } from '../../../../src/apimachinery/equality.ts';
import { KindSet } from '../../../../src/apimachinery/kind-set.ts';
import { KeyError } from '../../../../src/apimachinery/managed-fields/shape.ts';
import { entriesAfterUpdate, entriesOfNew } from '../../../../src/apimachinery/managed-fields/tracking.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { countValues } from '../../../../src/apimachinery/value-limit.ts';
import { versionsOf } from '../../../../src/apiserver/registry/type-versions.ts';
import { kindFields, registry } from '../../../../src/features/kinds.ts';
import { depthOf, random, sampleOf } from '../../../fixtures/protobuf-samples.ts';

const types = { kinds: new KindSet(registry), fields: kindFields };
const orKeyError = <T>(find: () => T): T | string => {
  try {
    return find();
  } catch (error) {
    if (error instanceof KeyError) return error.message;
    throw error;
  }
};

/** Returns the same object with duplicate items in its lists, and with nulls. */
function disturbed(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(disturbed);
    return random.below(4) === 0 ? [...items, items[0]] : items;
  }
  if (!isRecord(value)) return random.below(20) === 0 ? null : value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, disturbed(inner)]));
}

/**
 * Returns random objects of a kind; undefined for a kind without a protobuf form, from which they are made.
 */
function samplesOf(definition: ResourceDefinition) {
  const type = kubernetesMessages.typeOf(definition.typeName);
  if (!type) return [];
  const head = { apiVersion: apiVersionOf(definition), kind: definition.kind };
  return Array.from({ length: 20 }, (_, i) => {
    const sample = sampleOf(type, depthOf(type));
    const metadata = {
      ...(isRecord(sample.metadata) && sample.metadata),
      name: 'x',
      managedFields: undefined,
    };
    const next = { ...sample, ...head, metadata };
    const manager = i % 3 === 0 ? '' : 'kubectl "create"';
    return {
      live: { ...head, metadata: {} },
      next: i % 2 === 0 ? next : disturbed(next),
      write: { manager, apiVersion: head.apiVersion, subresource: '', now: '2026-01-01T00:00:00Z' },
    };
  });
}

test('both methods return the same field owners of a new object, for any kind', () => {
  let [compared, refused] = [0, 0];
  for (const definition of registry) {
    const versions = versionsOf(types, definition, '');
    for (const { live, next, write } of samplesOf(definition)) {
      const long = orKeyError(() =>
        entriesAfterUpdate({ live, next, isNew: true }, undefined, undefined, write, versions),
      );
      const short = orKeyError(() => entriesOfNew({ live, next }, write, versions));
      if (typeof long === 'string' || typeof short === 'string') {
        // The two paths may report different problems of an object that has several.
        assert.equal(typeof short, typeof long, definition.plural);
        refused++;
        continue;
      }
      assert.equal(short?.text, long && JSON.stringify(long), definition.plural);
      assert.equal(short?.values ?? 0, long ? countValues(long) : 0);
      compared++;
    }
  }
  assert.ok(compared > 300 && refused > 5, `${compared} ${refused}`);
});
