import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../../../../../src/api/core/v1/types.gen.ts';
import { persistentVolumeClaimResource } from '../../../../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import {
  cells,
  created,
  fromWire,
  merge,
  testCreate,
  testUpdate,
  updated,
} from '../../../../../fixtures/kinds.ts';

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
const annotation = 'volume.beta.kubernetes.io/storage-class';
const spec = (fields: object) => ({ spec: fields });
const claimWith = (patch: object) => merge(claim, patch) as typeof claim;
const size = (storage: string) => spec({ resources: { requests: { storage } } });

testCreate(persistentVolumeClaimResource, claim, [
  [
    'an invalid name',
    { metadata: { name: 'A' } },
    'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  [
    'an empty specification',
    { spec: null },
    'spec.accessModes: Required value: at least 1 access mode is required',
    'spec.resources[storage]: Required value',
  ],
  [
    'a negative size',
    spec({ resources: { requests: { storage: '-1' } } }),
    'spec.resources[storage]: Invalid value: "-1": must be greater than zero',
  ],
  [
    'no size',
    spec({ resources: { requests: { storage: '0' } } }),
    'spec.resources[storage]: Invalid value: "0": must be greater than zero',
  ],
  [
    'an unknown access mode, and one that excludes others',
    spec({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce', 'X'] }),
    'spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", ',
    'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
  ],
  [
    'an invalid selector',
    spec({ selector: { matchLabels: { 'a b': 'c' } } }),
    "spec.selector.matchLabels: Invalid value: \"a b\": name part must consist of letters, digits, '-', '_' and '.', ",
  ],
  [
    'an invalid class',
    spec({ storageClassName: 'A' }),
    'spec.storageClassName: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', eac',
  ],
  ['no class', spec({ storageClassName: '' })],
  [
    'an invalid mode',
    spec({ volumeMode: 'X' }),
    'spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"',
  ],
  ['a data source that is a claim', spec({ dataSource: { kind: 'PersistentVolumeClaim', name: 'a' } })],
  ['a data source of another kind, in dataSourceRef', spec({ dataSource: { kind: 'Foo', apiGroup: 'b' } })],
  [
    'a data source without a name',
    spec({ dataSourceRef: {} }),
    'spec.dataSource.name: Required value',
    'spec.dataSource.kind: Required value',
    'spec.dataSource: Invalid value: "": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
    'spec.dataSourceRef.name: Required value',
    'spec.dataSourceRef.kind: Required value',
    'spec.dataSourceRef: Invalid value: "": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
  ],
  [
    'a data source without a group',
    spec({ dataSourceRef: { kind: 'Foo', name: 'a' } }),
    'spec.dataSource: Invalid value: "Foo": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
    'spec.dataSourceRef: Invalid value: "Foo": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
  ],
  [
    'a data source with an invalid group',
    spec({ dataSourceRef: { kind: 'Foo', name: 'a', apiGroup: 'B' } }),
    'spec.dataSource.apiGroup: Invalid value: "B": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', ',
    'spec.dataSourceRef.apiGroup: Invalid value: "B": a lowercase RFC 1123 subdomain is made of labels joined by \'.',
  ],
  [
    'two different data sources',
    spec({
      dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
    }),
    'spec: Invalid value: "spec.dataSource": must match dataSourceRef',
  ],
]);

testUpdate(persistentVolumeClaimResource, claim, [
  [
    'a larger request before it is bound',
    spec({ resources: { requests: { storage: '2Gi' } } }),
    'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for ',
  ],
  [
    'other access',
    spec({ accessModes: ['ReadWriteMany'] }),
    'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for ',
  ],
  ['a volume', spec({ volumeName: 'disk' })],
  ['a class', spec({ storageClassName: 'fast' })],
  [
    'another mode',
    spec({ volumeMode: 'Block' }),
    'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for ',
    'volumeMode: Invalid value: "Block": field is immutable',
  ],
  [
    'a class by annotation',
    { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } } },
    'metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "fast": field is immutable',
  ],
  ['labels', { metadata: { labels: { a: 'b' } } }],
]);

const frozen = 'spec: Forbidden: spec is immutable after creation except resources.requests';
testUpdate(persistentVolumeClaimResource, claimWith(spec({ volumeName: 'disk', storageClassName: 'fast' })), [
  ['another volume', spec({ volumeName: 'other' }), frozen],
  ['another class', spec({ storageClassName: 'slow' }), frozen],
  ['no class', spec({ storageClassName: null }), frozen],
]);

const byAnnotation = claimWith({ metadata: { annotations: { [annotation]: 'fast' } } });
const kept = `metadata.annotations.${annotation}: Invalid value`;
testUpdate(persistentVolumeClaimResource, byAnnotation, [
  ['the class of the annotation in the field too', spec({ storageClassName: 'fast' })],
  [
    'the class in the field instead of the annotation',
    { metadata: { annotations: null }, spec: { storageClassName: 'fast' } },
  ],
  ['another class in the field', spec({ storageClassName: 'slow' }), frozen],
  ['no annotation', { metadata: { annotations: null } }, kept],
  [
    'another class in the field instead of the annotation',
    { metadata: { annotations: null }, spec: { storageClassName: 'slow' } },
    kept,
    frozen,
  ],
]);

/** A claim with a volume of 2Gi. */
function bound(): PersistentVolumeClaim {
  const made = created(persistentVolumeClaimResource, merge(claim, size('4Gi')));
  made.status = { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] };
  return made;
}

test('a claim with a volume may request more, or less down to the capacity that it has', () => {
  const problems = (storage: string) =>
    updated(persistentVolumeClaimResource, bound(), merge(claim, size(storage))).problems;
  assert.deepEqual(problems('5Gi'), []);
  assert.deepEqual(problems('3Gi'), []);
  const less = 'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity';
  assert.deepEqual(problems('2Gi'), [less]);
  assert.deepEqual(problems('1Gi'), [less]);
});

test('an invalid status is rejected', () => {
  const old = bound();
  const causes = (status: object) => {
    const object = { ...old, status: { phase: 'Bound', ...status } };
    const found = persistentVolumeClaimResource.strategy.validateStatus?.(object, old, 'status') ?? [];
    return found.map(({ field, message }) => `${field}: ${message.slice(0, 45)}`);
  };
  assert.deepEqual(
    causes({ capacity: { storage: '1' }, allocatedResources: { storage: '1', 'a.io/b': '1' } }),
    [],
  );
  assert.deepEqual(causes({ allocatedResourceStatuses: { storage: 'NodeResizePending' } }), []);
  assert.deepEqual(
    causes({
      capacity: { storage: '-1' },
      allocatedResourceStatuses: { storage: 'X', cpu: 'NodeResizePending' },
      allocatedResources: { cpu: '1', 'a b': '1', storage: '-5' },
    }),
    [
      'status.capacity[storage]: Invalid value: "-1": must be a valid resource',
      'status.allocatedResourceStatus: Unsupported value: "storage": supported value',
      'status.allocatedResourceStatus: Unsupported value: "cpu": supported values: "',
      'status.allocatedResources: Unsupported value: "cpu": supported values: "',
      'status.allocatedResources: Invalid value: "a b": name part must consist ',
      'status.allocatedResources[storage]: Invalid value: "-5": must be a valid resource',
    ],
  );
});

test('dataSource and dataSourceRef are set from each other', () => {
  const settled = (fields: object) => {
    const { dataSource, dataSourceRef } = created(
      persistentVolumeClaimResource,
      merge(claim, spec(fields)),
    ).spec;
    return [dataSource, dataSourceRef];
  };
  const other = { kind: 'PersistentVolumeClaim', name: 'other' };
  const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'a' };
  const made = { apiGroup: 'example.com', kind: 'Image', name: 'a' };
  assert.deepEqual(settled({}), [undefined, undefined]);
  assert.deepEqual(settled({ dataSource: other }), [other, other]);
  assert.deepEqual(settled({ dataSourceRef: other }), [other, other]);
  assert.deepEqual(settled({ dataSource: snapshot }), [snapshot, snapshot]);
  assert.deepEqual(settled({ dataSource: { ...snapshot, apiGroup: 'x' } }), [undefined, undefined]);
  assert.deepEqual(settled({ dataSource: { ...other, apiGroup: 'x' } }), [undefined, undefined]);
  assert.deepEqual(settled({ dataSource: made }), [undefined, undefined]);
  assert.deepEqual(settled({ dataSourceRef: made }), [made, made]);
  assert.deepEqual(settled({ dataSourceRef: { ...other, namespace: 'b' } }), [undefined, undefined]);

  const old = created(persistentVolumeClaimResource, merge(claim, spec({ dataSourceRef: made })));
  const { object, problems } = updated(
    persistentVolumeClaimResource,
    old,
    merge(claim, spec({ dataSource: made })),
  );
  assert.deepEqual([object.spec.dataSourceRef, problems], [made, []], 'an older client sends one field');
});

test('a new claim gets its defaults and the phase Pending', () => {
  const sent = { ...claim, status: { phase: 'Bound' } };
  const made = created(persistentVolumeClaimResource, merge(sent, size('1.00001')));
  assert.deepEqual(made.status, { phase: 'Pending' });
  assert.equal(made.spec.volumeMode, 'Filesystem');
  assert.deepEqual(made.spec.resources, { requests: { storage: '1001m' } });
  assert.deepEqual(fromWire(persistentVolumeClaimResource, { ...claim, status: {} }).status, {
    phase: 'Pending',
  });
});

test('a claim gets warnings for fractional bytes and deprecated annotations', () => {
  const warned = (raw: unknown) => {
    const made = created(persistentVolumeClaimResource, raw);
    return persistentVolumeClaimResource.strategy.warnings?.(made, undefined) ?? [];
  };
  assert.deepEqual(warned(claim), []);
  assert.deepEqual(warned(byAnnotation), [
    `metadata.annotations[${annotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
  ]);
  const resources = { requests: { storage: '1.5' }, limits: { storage: '100m' } };
  assert.deepEqual(warned(merge(claim, spec({ resources }))), [
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    'spec.resources.limits[storage]: fractional byte value "100m" is invalid, must be an integer',
  ]);
});

test('a claim has the columns of kubectl', () => {
  const shown = {
    Name: 'data',
    Status: 'Pending',
    Volume: '',
    Capacity: '',
    'Access Modes': '',
    StorageClass: '',
    VolumeAttributesClass: '<unset>',
    Age: '<unknown>',
    VolumeMode: 'Filesystem',
  };
  const made = created(persistentVolumeClaimResource, claim);
  assert.deepEqual(cells(persistentVolumeClaimResource, made, 0), shown);
  const old = bound();
  Object.assign(old.spec, { volumeName: 'disk', storageClassName: '', volumeAttributesClassName: 'gold' });
  const now = { ...shown, Status: 'Bound', Volume: 'disk', Capacity: '2Gi', 'Access Modes': 'RWO' };
  assert.deepEqual(cells(persistentVolumeClaimResource, old, 0), { ...now, VolumeAttributesClass: 'gold' });
  old.status = { phase: 'Lost' };
  old.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  const { Status: phase, Capacity: capacity } = cells(persistentVolumeClaimResource, old, 0);
  assert.deepEqual([phase, capacity], ['Terminating', '0']);
});
