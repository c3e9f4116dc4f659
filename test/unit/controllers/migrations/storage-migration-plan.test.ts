/** The StorageVersionMigration that runs, and the status of the definition of its kind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CustomResourceDefinition } from '../../../../src/api/apiextensions/v1/types.gen.ts';
import type { StorageVersionMigration } from '../../../../src/api/storagemigration/v1/storage-version-migration.ts';
import {
  migratedStatus,
  migratingStatus,
  planMigrations,
  withMigrationCondition,
} from '../../../../src/controllers/migrations/storage-migration-plan.ts';
import { at, meta } from '../objects.ts';

const migration = (name: string, seconds: number, ...types: string[]): StorageVersionMigration => ({
  ...{ apiVersion: 'storagemigration.k8s.io/v1', kind: 'StorageVersionMigration' },
  metadata: { ...meta(name, { creationTimestamp: at(seconds) }), namespace: undefined },
  spec: { resource: { group: 'example.com', resource: 'shops' } },
  status: {
    conditions: types.map((type) => ({
      ...{ type, status: 'True' as const, reason: 'R', message: '', lastTransitionTime: at(seconds) },
    })),
  },
});

const plans: [
  what: string,
  migrations: StorageVersionMigration[],
  run: string | undefined,
  finish: string[],
][] = [
  ['no migration', [], undefined, []],
  ['the oldest one', [migration('a', 2), migration('b', 1)], 'b', []],
  ['the first by name of two from one second', [migration('b', 1), migration('a', 1)], 'a', []],
  ['the running one, although another is older', [migration('a', 1), migration('b', 2, 'Running')], 'b', []],
  ['one after an end', [migration('a', 1, 'Succeeded'), migration('b', 2)], 'b', []],
  [
    'one beside an end that is still marked',
    [migration('a', 1, 'Running', 'Failed'), migration('b', 2)],
    'b',
    ['a'],
  ],
  ['none after all ends', [migration('a', 1, 'Failed')], undefined, []],
];
for (const [what, migrations, run, finish] of plans)
  test(`the migration that runs is ${what}`, () => {
    const plan = planMigrations(migrations);
    assert.equal(plan.run?.metadata.name, run);
    assert.deepEqual(
      plan.finish.map(({ metadata }) => metadata.name),
      finish,
    );
  });

test('a condition keeps its time until its status changes', () => {
  const running = migration('a', 1, 'Running');
  const same = withMigrationCondition(
    running,
    { type: 'Running', status: 'True', reason: 'S', message: 'm' },
    at(9),
  );
  assert.deepEqual(same.status?.conditions, [
    { type: 'Running', status: 'True', reason: 'S', message: 'm', lastTransitionTime: at(1) },
  ]);
  const ended = withMigrationCondition(
    same,
    { type: 'Running', status: 'False', reason: 'E', message: '' },
    at(9),
  );
  assert.equal(ended.status?.conditions?.[0]?.lastTransitionTime, at(9));
});

const definition = (generation: number, status: object) =>
  ({
    metadata: meta('shops.example.com', { generation }),
    spec: { versions: [{ name: 'v1' }, { name: 'v2', storage: true }] },
    status: {
      storedVersions: ['v1', 'v2'],
      conditions: [{ type: 'Established', status: 'True' }],
      ...status,
    },
  }) as unknown as CustomResourceDefinition;

test('a definition loses earlier stored versions only after a success, and only if it has not changed', () => {
  const begun = migratingStatus(definition(3, {}), 'm', at(1));
  const [established, migrating] = begun.conditions ?? [];
  assert.deepEqual(
    [established?.type, migrating?.type, migrating?.status],
    ['Established', 'StorageMigrating', 'True'],
  );
  assert.deepEqual(migratedStatus(definition(3, begun), true, at(2)).storedVersions, ['v2']);
  assert.equal(migratedStatus(definition(4, begun), true, at(2)).storedVersions, undefined);
  assert.equal(migratedStatus(definition(3, begun), false, at(2)).storedVersions, undefined);
  const ended = migratedStatus(definition(4, begun), true, at(2)).conditions?.at(-1);
  assert.deepEqual(
    [ended?.status, ended?.reason, ended?.lastTransitionTime],
    ['False', 'MigrationSucceeded', at(2)],
  );
  assert.match(ended?.message ?? '', /due to a generation mismatch/);
});
