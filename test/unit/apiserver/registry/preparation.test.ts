/**
 * Hooks of a kind's strategy that each part of a write calls; the kind is made for this test.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forbiddenCause } from '../../../../src/apimachinery/field-error.ts';
import type { KubeObject, ObjectMeta } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition, Strategy } from '../../../../src/apimachinery/resource-definition.ts';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import {
  countGeneration,
  prepareForCreate,
  prepareForUpdate,
  validateForCreate,
  validateForUpdate,
} from '../../../../src/apiserver/registry/preparation.ts';
import { writer } from '../../../fixtures/kinds.ts';

interface Thing extends KubeObject {
  spec?: { size?: number; given?: string; fixed?: string; bad?: boolean };
  status?: { seen?: number; worse?: boolean };
  data?: string;
}

const rules: Strategy<Thing> = {
  countsGenerations: true,
  setDefaults(thing) {
    thing.spec = { size: 1, ...thing.spec };
  },
  prepareForCreate: ({ spec }) => void delete spec?.given,
  prepareForUpdate(thing, old) {
    thing.spec = { ...thing.spec, given: old.spec?.given ?? 'none' };
  },
  prepareForStatusUpdate(thing, old) {
    if (old.metadata.labels) thing.metadata.labels = old.metadata.labels;
  },
  validate: ({ spec }) => (spec?.bad ? [forbiddenCause('spec.bad', 'no')] : []),
  validateUpdate: ({ spec }, old) =>
    spec?.fixed === old.spec?.fixed ? [] : [forbiddenCause('spec.fixed', 'no')],
  validateStatus: ({ status }, _old, subresource) =>
    status?.worse ? [forbiddenCause(`${subresource}.worse`, 'no')] : [],
};
const kind = (over: Partial<ResourceDefinition<Thing>> = {}) =>
  ({
    ...{ group: 'x.io', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true },
    ...{ hasStatus: true, strategy: rules, ...over },
  }) as unknown as ResourceDefinition;
/** Kind without a strategy of its own. */
const plain = kind({ hasStatus: false, strategy: { countsGenerations: false } });

const thing = (over: Omit<Partial<Thing>, 'metadata'> & { metadata?: Partial<ObjectMeta> }): Thing => ({
  apiVersion: 'x.io/v1',
  kind: 'Thing',
  ...over,
  metadata: {
    ...{
      name: 'x',
      namespace: 'a',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    ...over.metadata,
  },
});
const problems = (validate: () => void) => {
  try {
    validate();
    return [];
  } catch (error) {
    assert.ok(error instanceof StatusError && error.status.code === 422, String(error));
    return error.status.details?.causes?.map(({ field }) => field);
  }
};

describe('a creation', () => {
  test('gets the defaults, and drops the status and fields that the kind does not accept from clients', () => {
    const made = thing({ spec: { given: 'mine' }, status: { seen: 1 } });
    prepareForCreate(kind(), made, writer);
    assert.deepEqual([made.spec, made.status], [{ size: 1 }, undefined]);
  });

  test('sets the status if the kind accepts it, or has no status subresource', () => {
    for (const definition of [kind({ strategy: { ...rules, keepsStatusOnCreate: true } }), plain]) {
      const made = thing({ status: { seen: 1 } });
      prepareForCreate(definition, made, writer);
      assert.deepEqual(made.status, { seen: 1 });
    }
  });

  test('is rejected with the faults of its metadata and of the kind', () => {
    const wrong = thing({ metadata: { name: 'NO', labels: { 'a b': '' } }, spec: { bad: true } });
    assert.deepEqual(
      problems(() => inOneGo(validateForCreate(kind(), wrong))),
      ['metadata.name', 'metadata.labels', 'spec.bad'],
    );
    assert.deepEqual(
      problems(() => inOneGo(validateForCreate(kind(), thing({ spec: {} })))),
      [],
    );
    assert.deepEqual(
      problems(() => inOneGo(validateForCreate(plain, thing({ spec: { bad: true } })))),
      [],
    );
  });
});

describe('an update', () => {
  const old = thing({ spec: { size: 2, given: 'kept' }, status: { seen: 1 } });

  test('keeps the status and the fields that the kind does not accept from clients', () => {
    const next = thing({ spec: { size: 3, given: 'mine' }, status: { seen: 9 }, metadata: { uid: 'v' } });
    prepareForUpdate(kind(), next, structuredClone(old), 'main', writer);
    assert.deepEqual(next, thing({ spec: { size: 3, given: 'kept' }, status: { seen: 1 } }));
    const first = thing({ spec: {}, status: { seen: 9 } });
    prepareForUpdate(kind(), first, thing({ spec: {} }), 'main', writer);
    assert.ok(!('status' in first), 'an object without a status gets none');
  });

  test('changes the status if it is not a subresource', () => {
    const next = thing({ status: { seen: 9 } });
    prepareForUpdate(plain, next, structuredClone(old), 'main', writer);
    assert.deepEqual(next.status, { seen: 9 });
  });

  test('is rejected with the faults that the checks of all writes and the checks of updates find', () => {
    const wrong = thing({
      spec: { bad: true, fixed: 'new' },
      metadata: { labels: { 'a b': '' }, finalizers: ['x/y'] },
    });
    const going = thing({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    assert.deepEqual(
      problems(() => inOneGo(validateForUpdate(kind(), wrong, going, 'main', ''))),
      ['metadata.labels', 'metadata.finalizers', 'spec.bad', 'spec.fixed'],
    );
    const worse = thing({ spec: {}, status: { worse: true } });
    assert.deepEqual(
      problems(() => inOneGo(validateForUpdate(kind(), worse, old, 'main', ''))),
      [],
    );
    assert.deepEqual(
      problems(() => inOneGo(validateForUpdate(plain, wrong, old, 'main', ''))),
      ['metadata.labels'],
    );
  });
});

describe('a write of the status', () => {
  const old = thing({
    spec: { size: 2 },
    data: 'd',
    metadata: { labels: { a: 'b' }, managedFields: [{ manager: 'm' }] },
  });

  test('changes only the status and the metadata that the kind permits', () => {
    const next = thing({
      ...{ spec: { size: 9 }, status: { seen: 5 } },
      metadata: { labels: { a: 'c' }, annotations: { x: 'y' }, managedFields: [{ manager: 'm' }] },
    });
    (next as { more?: string }).more = 'mine';
    prepareForUpdate(kind(), next, structuredClone(old), 'status', writer);
    assert.deepEqual(next, {
      ...old,
      status: { seen: 5 },
      metadata: { ...old.metadata, annotations: { x: 'y' } },
    });
    const bare = thing({ status: { seen: 5 }, metadata: { labels: { a: 'c' } } });
    prepareForUpdate(plain, bare, structuredClone(old), 'status', writer);
    assert.deepEqual(bare.metadata.labels, { a: 'c' });
  });

  test('is rejected only with the faults that the check of the subresource finds', () => {
    const wrong = thing({ spec: { bad: true, fixed: 'new' }, status: { worse: true } });
    assert.deepEqual(
      problems(() => inOneGo(validateForUpdate(kind(), wrong, old, 'status', 'approval'))),
      ['approval.worse'],
    );
    assert.deepEqual(
      problems(() => inOneGo(validateForUpdate(plain, wrong, old, 'status', 'status'))),
      [],
    );
  });
});

describe('the generation', () => {
  const count = (definition: ResourceDefinition, next: Thing, old: Thing) => {
    countGeneration(definition, next, old);
    return next.metadata.generation;
  };

  test('counts changes of the spec, but no changes of the metadata or the status', () => {
    const old = thing({ spec: { size: 1 }, metadata: { generation: 3 } });
    assert.equal(count(kind(), thing({ spec: { size: 2 } }), old), 4);
    assert.equal(count(kind(), thing({ spec: { size: 1 }, data: 'd' }), old), 4);
    const same = thing({ spec: { size: 1 }, status: { seen: 1 }, metadata: { labels: { a: 'b' } } });
    assert.equal(count(kind(), same, old), 3);
  });

  test('begins at 1 for an object without a generation, and is not set for a kind without generations', () => {
    assert.equal(count(kind(), thing({ spec: { size: 2 } }), thing({})), 1);
    assert.equal(count(plain, thing({ spec: { size: 2 } }), thing({})), undefined);
    const unchanged = thing({});
    countGeneration(kind(), unchanged, thing({}));
    assert.ok(!('generation' in unchanged.metadata), 'a write that changes nothing adds no generation');
  });
});
