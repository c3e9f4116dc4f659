import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../../../src/api/core/v1/types.gen.ts';
import {
  attributesClassesOfClaim,
  volumeAttributesClassResource as kind,
} from '../../../../src/api/storage/v1/volume-attributes-class.ts';
import { cells, created, testCreate, testUpdate } from '../../../fixtures/kinds.ts';

const gold = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttributesClass',
  metadata: { name: 'gold' },
  driverName: 'disk.example.com',
  parameters: { iops: '5000' },
};

testCreate(kind, gold, [
  ['no driver', { driverName: null }, 'driverName: Required value'],
  ['an invalid driver', { driverName: 'a/b/c' }, 'driverName: Invalid value: "a/b/c": '],
  [
    'no parameters',
    { parameters: null },
    'parameters: Required value: must contain at least one key/value pair',
  ],
  [
    'a parameter without a name',
    { parameters: { '': 'a' } },
    'parameters: Invalid value: "": field can not be empty.',
  ],
  [
    'more parameters than there may be',
    { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`p${index}`, ''])) },
    'parameters: Too long',
  ],
]);

testUpdate(kind, gold, [
  ['other labels', { metadata: { labels: { a: 'b' } } }],
  ['another driver', { driverName: 'x' }, 'driverName: Forbidden: updates to driverName are forbidden.'],
  [
    'other parameters',
    { parameters: { iops: '1' } },
    'parameters: Forbidden: updates to parameters are forbidden.',
  ],
]);

test('the columns of a class of volume attributes are name, driver and age', () => {
  const { Name, DriverName } = cells(kind, created(kind, gold), 0);
  assert.deepEqual([Name, DriverName], ['gold', 'disk.example.com']);
});

test('a claim uses the class that it wants, the one it has, and the one it is being changed to', () => {
  const claim = (spec: object, status?: object) => ({ spec, status }) as unknown as PersistentVolumeClaim;
  assert.deepEqual(attributesClassesOfClaim(claim({})), []);
  assert.deepEqual(attributesClassesOfClaim(claim({ volumeAttributesClassName: '' }, {})), []);
  assert.deepEqual(
    attributesClassesOfClaim(
      claim(
        { volumeAttributesClassName: 'a' },
        {
          currentVolumeAttributesClassName: 'b',
          modifyVolumeStatus: { targetVolumeAttributesClassName: 'a', status: 'Pending' },
        },
      ),
    ),
    ['a', 'b'],
  );
});
