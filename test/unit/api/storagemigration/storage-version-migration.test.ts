import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isMigrationOver,
  storageVersionMigrationResource as kind,
} from '../../../../src/api/storagemigration/v1/storage-version-migration.ts';
import { cells, created, decode, statusProblems, testCreate, testUpdate } from '../../../fixtures/kinds.ts';

const migration = {
  apiVersion: 'storagemigration.k8s.io/v1',
  kind: 'StorageVersionMigration',
  metadata: { name: 'm' },
  spec: { resource: { group: 'example.com', resource: 'shops' } },
};

testCreate(kind, migration, [
  ['of the core group', { spec: { resource: { group: '', resource: 'pods' } } }],
  [
    'without a resource',
    { spec: null },
    'spec.resource.resource: Required value: resource is required to be set',
  ],
  [
    'of an invalid resource and group',
    { spec: { resource: { group: 'A', resource: '1' } } },
    'spec.resource.resource: Invalid value: "1": ',
    'spec.resource.group: Invalid value: "A": ',
  ],
]);

testUpdate(kind, migration, [
  ['other labels', { metadata: { labels: { a: 'b' } } }],
  ['another resource', { spec: { resource: { resource: 'cars' } } }, 'spec: Invalid value: '],
]);

const condition = (type: string, status = 'True') => ({
  ...{ type, status, reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
});
const having = (...conditions: object[]) => ({ conditions });

const states: [what: string, before: object, after: object, problems: string[]][] = [
  ['a first condition', {}, having(condition('TestCondition')), []],
  ['a version', {}, { resourceVersion: '12' }, []],
  [
    'a version that is none',
    {},
    { resourceVersion: '012' },
    ['status.resourceVersion: Invalid value: "012": resource version is not well formed'],
  ],
  [
    'another version',
    { resourceVersion: '12' },
    { resourceVersion: '13' },
    ['status.resourceVersion: Invalid value: "13": field is immutable'],
  ],
  [
    'success and failure at once',
    {},
    having(condition('Succeeded'), condition('Failed')),
    ['status.conditions: Invalid value: '],
  ],
  [
    'a success that is taken back',
    having(condition('Succeeded')),
    having(condition('Succeeded', 'False')),
    ['status.conditions: Invalid value: '],
  ],
  [
    'a condition without a reason',
    {},
    having({ ...condition('Running'), reason: '' }),
    ['status.conditions[0].reason'],
  ],
];
for (const [what, before, after, problems] of states)
  test(`the status of a migration: ${what}`, () => {
    const found = statusProblems(kind, migration, before, after);
    assert.deepEqual(
      found.map((line, index) => line.slice(0, problems[index]?.length)),
      problems,
    );
  });

test('the columns of a migration are its name, its resource and its last true condition', () => {
  const { Resource, Status } = cells(kind, created(kind, migration), 0);
  assert.deepEqual([Resource, Status], ['shops.example.com', 'Unknown']);
  const running = decode(kind, { ...migration, status: having(condition('Running'), condition('Other')) });
  assert.equal(cells(kind, running, 0).Status, 'Running');
  assert.ok(!isMigrationOver(running));
  const done = decode(kind, {
    ...migration,
    status: having(condition('Running', 'False'), condition('Failed')),
  });
  assert.equal(cells(kind, done, 0).Status, 'Failed');
  assert.ok(isMigrationOver(done));
});
