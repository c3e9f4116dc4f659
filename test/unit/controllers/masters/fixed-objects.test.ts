/** Fixed cluster-wide objects of the system are created again and corrected. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fixedObjects } from '../../../../src/api/fixed-objects.ts';
import { flowSchemaResource } from '../../../../src/api/flowcontrol/v1/flow-schema.ts';
import { priorityLevelConfigurationResource } from '../../../../src/api/flowcontrol/v1/priority-level-configuration.ts';
import type { FlowSchema, PriorityLevelConfiguration } from '../../../../src/api/flowcontrol/v1/types.gen.ts';
import {
  type PriorityClass,
  priorityClassResource,
} from '../../../../src/api/scheduling/v1/priority-class.ts';
import { storageClassResource } from '../../../../src/api/storage/v1/storage-class.ts';
import { newConflict, newInternalError, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import { fixedObjectsController } from '../../../../src/controllers/masters/fixed-objects.ts';
import { meta } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const keys = fixedObjects.map(({ ref, draft }) => `${ref.plural}/${draft.metadata.name}`);
const [classes, levels, schemas] = [
  priorityClassResource,
  priorityLevelConfigurationResource,
  flowSchemaResource,
];
let world: ScriptedWorld;
beforeEach(async () => {
  world = new ScriptedWorld(fixedObjectsController);
  for (const key of keys) await world.reconcile(key);
  for (const ref of [classes, levels, schemas, storageClassResource]) world.sync(ref as never);
});

/** Returns the result for an object that the cache and the server show in this state. */
async function becomes<T extends FlowSchema | PriorityLevelConfiguration>(
  ref: typeof schemas | typeof levels,
  name: string,
  change: (object: T) => T,
): Promise<T | undefined> {
  const there = world.stored(ref as never, name) as T | undefined;
  const changed = change(structuredClone(there ?? assert.fail(name)));
  world.put(ref as never, changed as never);
  await world.reconcile(`${ref.plural}/${name}`);
  return world.stored(ref as never, name) as T | undefined;
}

test('all objects are created if they do not exist, and none otherwise', async () => {
  assert.deepEqual(world.names(classes), ['system-cluster-critical', 'system-node-critical']);
  assert.deepEqual(
    world.all<PriorityClass>(classes).map(({ value }) => value),
    [2_000_000_000, 2_000_001_000],
  );
  assert.deepEqual(world.names(levels), ['catch-all', 'exempt']);
  assert.deepEqual(world.names(schemas), ['catch-all', 'exempt']);
  assert.deepEqual(world.names(storageClassResource), ['local']);
  assert.equal(world.log.of('info').length, 7);
  const { length } = world.asked;
  for (const key of keys) await world.reconcile(key);
  assert.equal(world.asked.length, length);
});

test('a deleted object is created again', async () => {
  for (const { ref, draft } of fixedObjects) {
    world.take(ref, draft.metadata.name);
    world.sync(ref);
    await world.reconcile(`${ref.plural}/${draft.metadata.name}`);
    assert.ok(world.stored(ref, draft.metadata.name));
  }
});

test('a changed specification is restored; labels and the lendable share of an exempt level are kept', async () => {
  const wanted = world.stored<FlowSchema>(schemas, 'catch-all')?.spec;
  const restored = await becomes<FlowSchema>(schemas, 'catch-all', (schema) => {
    schema.spec.matchingPrecedence = 1;
    schema.metadata.labels = { mine: 'yes' };
    schema.metadata.annotations = { other: 'a' };
    return schema;
  });
  assert.deepEqual(restored?.spec, wanted);
  assert.deepEqual(restored?.metadata.labels, { mine: 'yes' });
  assert.deepEqual(restored?.metadata.annotations, {
    other: 'a',
    'apf.kubernetes.io/autoupdate-spec': 'true',
  });
  assert.deepEqual(world.log.of('warn')[0]?.fields, { object: 'FlowSchema catch-all' });

  const limited = await becomes<PriorityLevelConfiguration>(levels, 'catch-all', (level) => {
    if (level.spec.limited) level.spec.limited.nominalConcurrencyShares = 7;
    return level;
  });
  assert.equal(limited?.spec.limited?.nominalConcurrencyShares, 5);
  const lending = await becomes<PriorityLevelConfiguration>(levels, 'exempt', (level) => {
    level.spec.exempt = { nominalConcurrencyShares: 3, lendablePercent: 50 };
    return level;
  });
  assert.deepEqual(lending?.spec.exempt, { nominalConcurrencyShares: 3, lendablePercent: 50 });
  const empty = await becomes<PriorityLevelConfiguration>(levels, 'exempt', (level) => {
    delete level.spec.exempt;
    return level;
  });
  assert.deepEqual(empty?.spec.exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 });
});

test('an object that is being deleted is not changed', async () => {
  const { length } = world.asked;
  const marked = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  await becomes<FlowSchema>(schemas, 'exempt', ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, annotations: {}, ...marked },
  }));
  assert.equal(world.asked.length, length);
});

test('a conflict with another master does not fail; any other error does', async () => {
  const wrong = (schema: FlowSchema) => ({ ...schema, spec: { ...schema.spec, matchingPrecedence: 9 } });
  for (const error of [newConflict(schemas, 'exempt', 'changed'), newNotFound(schemas, 'exempt')]) {
    world.refuse = () => error;
    await becomes<FlowSchema>(schemas, 'exempt', wrong);
  }
  world.refuse = () => newInternalError('no');
  await assert.rejects(becomes<FlowSchema>(schemas, 'exempt', wrong), /no/);
});

test('only changes of the kept objects cause a reconciliation', async () => {
  const named = (name: string) => ({ metadata: meta(name) }) as never;
  assert.deepEqual(world.keysOf(schemas, named('exempt')), ['flowschemas/exempt']);
  assert.deepEqual(world.keysOf(schemas, named('mine')), []);
  assert.deepEqual(world.keysOf(classes, named('exempt')), []);
  const { length } = world.asked;
  await world.reconcile('flowschemas/mine');
  assert.equal(world.asked.length, length);
});
