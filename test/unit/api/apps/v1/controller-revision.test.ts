import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerRevisionResource } from '../../../../../src/api/apps/v1/controller-revision.ts';
import { cells, created, merge, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';
import { head } from '../../../../fixtures/workloads.ts';

const data = { spec: { template: { $patch: 'replace', spec: { containers: [] } } }, 'any/key': [null, 1] };
const revision = { ...head('apps/v1', 'ControllerRevision'), data, revision: 3 };

testCreate(controllerRevisionResource, revision, [
  ['no revision', { revision: null }],
  [
    'a negative revision',
    { revision: -1 },
    'revision: Invalid value: -1: must be greater than or equal to 0',
  ],
  ['no data', { data: null }, 'data: Required value: data is mandatory'],
  ['a text as data', { data: 'x' }, 'data: Required value: data must be a valid JSON object'],
  ['a list as data', { data: [{}] }, 'data: Required value: data must be a valid JSON object'],
]);

testUpdate(controllerRevisionResource, revision, [
  ['its place', { revision: 7, metadata: { labels: { a: 'b' } } }],
  ['its data', { data: { spec: { template: { $patch: 'merge' } } } }, 'data: Invalid value: {"spec":'],
]);

test('the data of a ControllerRevision are kept unchanged, and its revision is always present', () => {
  const made = created(controllerRevisionResource, merge(revision, { revision: null }));
  assert.deepEqual(made.data, data);
  assert.equal(made.revision, 0);
});

test('a ControllerRevision has the columns of kubectl', () => {
  const owned = (apiVersion: string, kind: string) =>
    merge(revision, {
      metadata: { ownerReferences: [{ apiVersion, kind, name: 'db', uid: 'u', controller: true }] },
    });
  const texts = (raw: unknown) =>
    cells(controllerRevisionResource, created(controllerRevisionResource, raw), Date.now());
  assert.deepEqual(texts(owned('apps/v1', 'StatefulSet')), {
    Name: 'web',
    Controller: 'statefulset.apps/db',
    Revision: 3,
    Age: '<unknown>',
  });
  assert.equal(texts(owned('v1', 'Pod')).Controller, 'pod/db');
  assert.equal(texts(revision).Controller, '<none>');
});
