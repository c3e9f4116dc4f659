import assert from 'node:assert/strict';
import { test } from 'node:test';
import { persistentVolumeResource } from '../../../../../../src/api/core/v1/volume/persistent-volume.ts';
import {
  cells,
  created,
  merge,
  testCreate,
  testUpdate,
  updated,
  writer,
} from '../../../../../fixtures/kinds.ts';

const disk = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'disk' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
};
const spec = (fields: object) => ({ spec: fields });
const diskWith = (patch: object) => merge(disk, patch) as typeof disk;
const source = (fields: object) => spec({ hostPath: null, ...fields });
const onNodes = (key: string, values?: string[]) => ({
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key, operator: values ? 'In' : 'Exists', values }] }],
  },
});

testCreate(persistentVolumeResource, disk, [
  [
    'an invalid name',
    { metadata: { name: 'A' } },
    'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  [
    'an empty specification',
    { spec: null },
    'spec.accessModes: Required value',
    'spec.capacity: Required value',
    'spec.capacity: Unsupported value: {}: supported values: "storage"',
    'spec: Required value: must specify a volume type',
  ],
  ['no access', spec({ accessModes: [] }), 'spec.accessModes: Required value'],
  [
    'an unknown access mode, and one that excludes others',
    spec({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce', 'X'] }),
    'spec.accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", ',
    'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
  ],
  ['access mode ReadWriteOncePod', spec({ accessModes: ['ReadWriteOncePod'] })],
  ['all other access modes', spec({ accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'] })],
  [
    'no capacity',
    spec({ capacity: { storage: null } }),
    'spec.capacity: Required value',
    'spec.capacity: Unsupported value: {}: supported values: "storage"',
  ],
  [
    'a capacity with another resource',
    spec({ capacity: { cpu: '1' } }),
    'spec.capacity: Unsupported value: {"storage":"1Gi","cpu":"1"}: supported values: "storage"',
  ],
  [
    'negative',
    spec({ capacity: { storage: '-1' } }),
    'spec.capacity[storage]: Invalid value: "-1": must be a valid resource quantity',
    'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
  ],
  [
    'nothing',
    spec({ capacity: { storage: '0' } }),
    'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
  ],
  [
    'an invalid policy',
    spec({ persistentVolumeReclaimPolicy: 'X' }),
    'spec.persistentVolumeReclaimPolicy: Unsupported value: "X": supported values: "Delete", "Recycle", "Retain"',
  ],
  [
    'the root folder with the policy Recycle',
    spec({ persistentVolumeReclaimPolicy: 'Recycle', hostPath: { path: '/.' } }),
    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
  ],
  ['another folder with the policy Recycle', spec({ persistentVolumeReclaimPolicy: 'Recycle' })],
  [
    'an invalid mode',
    spec({ volumeMode: 'X' }),
    'spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"',
  ],
  [
    'an invalid class',
    spec({ storageClassName: 'A' }),
    'spec.storageClassName: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', eac',
  ],
  ['no source', source({}), 'spec: Required value: must specify a volume type'],
  [
    'three sources',
    spec({ nfs: { server: 'a', path: '/b' }, cephfs: { monitors: ['a'] } }),
    'spec.nfs: Forbidden: may not specify more than 1 volume type',
    'spec.cephFS: Forbidden: may not specify more than 1 volume type',
  ],
  [
    'a path with ..',
    spec({ hostPath: { path: '/a/..' } }),
    'spec.hostPath.path: Invalid value: "/a/..": must not contain \'..\'',
  ],
  ['no path', spec({ hostPath: { path: null } }), 'spec.hostPath.path: Required value'],
  [
    'local, anywhere',
    source({ local: { path: '/a' } }),
    'spec.nodeAffinity: Required value: Local volume requires node affinity',
  ],
  [
    'local, climbing',
    source({ local: { path: '/a/../b' }, nodeAffinity: onNodes('a') }),
    'spec.local.path: Invalid value: "/a/../b": must not contain \'..\'',
  ],
  [
    'local without path',
    source({ local: { path: '' }, nodeAffinity: onNodes('a') }),
    'spec.local.path: Required value',
  ],
  ['a local volume on a node', source({ local: { path: '/a' }, nodeAffinity: onNodes('a') })],
  [
    'an empty node affinity',
    spec({ nodeAffinity: {} }),
    'spec.nodeAffinity.required: Required value: must specify required node constraints',
  ],
  [
    'a node affinity without terms',
    spec({ nodeAffinity: { required: { nodeSelectorTerms: [] } } }),
    'spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term',
  ],
  [
    'an invalid node affinity',
    spec({ nodeAffinity: onNodes('a b', []) }),
    'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified ',
    'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": name part must ',
  ],
  ['a node affinity with an invalid label value', spec({ nodeAffinity: onNodes('a', ['a b']) })],
  [
    'mount options that the source does not support',
    { metadata: { annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } } },
    'metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for thi',
  ],
  [
    'mount options in an annotation, for a source that supports them',
    {
      metadata: { annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } },
      spec: { hostPath: null, nfs: { server: 'a', path: '/b' } },
    },
  ],
]);

testUpdate(persistentVolumeResource, disk, [
  ['more capacity', spec({ capacity: { storage: '2Gi' } })],
  ['a claim', spec({ claimRef: { name: 'a', namespace: 'b' } })],
  [
    'another place',
    spec({ hostPath: { path: '/other' } }),
    'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
  ],
  [
    'another source',
    source({ nfs: { server: 'a', path: '/b' } }),
    'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
  ],
  ['another mode', spec({ volumeMode: 'Block' }), 'volumeMode: Invalid value: "Block": field is immutable'],
  ['an affinity', spec({ nodeAffinity: onNodes('a') })],
]);

const immutable =
  'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation';
const csi = { driver: 'a', volumeHandle: 'b' };
const secret = { name: 'a', namespace: 'b' };
testUpdate(persistentVolumeResource, diskWith(source({ csi })), [
  ['an added secret for expansion', spec({ csi: { controllerExpandSecretRef: secret } })],
  ['another secret', spec({ csi: { nodePublishSecretRef: secret } }), immutable],
  [
    'another handle and an added secret',
    spec({ csi: { volumeHandle: 'c', controllerExpandSecretRef: secret } }),
    immutable,
  ],
]);
testUpdate(
  persistentVolumeResource,
  diskWith(source({ csi: { ...csi, controllerExpandSecretRef: secret } })),
  [
    ['another secret for expansion', spec({ csi: { controllerExpandSecretRef: { name: 'c' } } }), immutable],
    ['a removed secret for expansion', spec({ csi: { controllerExpandSecretRef: null } }), immutable],
  ],
);

const except =
  'nodeAffinity: Invalid value: {"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"KEY","operator":"Exists"}]}]}}: field is immutable, except for updating from beta label to GA';
testUpdate(persistentVolumeResource, diskWith(spec({ nodeAffinity: onNodes('beta.kubernetes.io/os') })), [
  ['a deprecated label replaced by its new name', spec({ nodeAffinity: onNodes('kubernetes.io/os') })],
  [
    'a deprecated label replaced by the new name of another one',
    spec({ nodeAffinity: onNodes('kubernetes.io/arch') }),
    except.replace('KEY', 'kubernetes.io/arch'),
  ],
  ['another label', spec({ nodeAffinity: onNodes('x') }), except.replace('KEY', 'x')],
  ['no affinity', spec({ nodeAffinity: null }), 'nodeAffinity: Invalid value: null: field is immutable'],
]);

test('defaults and initial phase of a volume', () => {
  const made = created(
    persistentVolumeResource,
    merge(disk, { spec: { capacity: { storage: '1.00001' } }, status: { phase: 'Bound' } }),
  );
  assert.deepEqual(made.status, { phase: 'Pending', lastPhaseTransitionTime: writer.now });
  assert.equal(made.spec.persistentVolumeReclaimPolicy, 'Retain');
  assert.equal(made.spec.volumeMode, 'Filesystem');
  assert.deepEqual(made.spec.capacity, { storage: '1001m' });
  assert.deepEqual(made.spec.hostPath, { path: '/data', type: '' });
});

test('defaults of sources', () => {
  const { spec: made } = created(
    persistentVolumeResource,
    merge(
      disk,
      spec({
        rbd: { monitors: ['a'], image: 'b' },
        iscsi: { targetPortal: 'a', iqn: 'b' },
        azureDisk: { diskName: 'a', diskURI: 'b' },
        scaleIO: { gateway: 'a', system: 'b', volumeName: 'c' },
      }),
    ),
  );
  assert.deepEqual(
    [made.rbd?.pool, made.rbd?.user, made.rbd?.keyring],
    ['rbd', 'admin', '/etc/ceph/keyring'],
  );
  assert.deepEqual([made.iscsi?.iscsiInterface, made.iscsi?.lun], ['default', 0]);
  const { cachingMode, fsType, readOnly, kind } = made.azureDisk ?? {};
  assert.deepEqual([cachingMode, fsType, readOnly, kind], ['ReadWrite', 'ext4', false, 'Shared']);
  assert.deepEqual([made.scaleIO?.storageMode, made.scaleIO?.fsType], ['ThinProvisioned', 'xfs']);
});

test('the time of the last change of phase', () => {
  const old = created(persistentVolumeResource, disk);
  const [before, sent, now] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'];
  old.status = { phase: 'Bound', lastPhaseTransitionTime: before };
  const timeOf = (phase: string, lastPhaseTransitionTime?: string) => {
    const object = { ...old, status: { phase, lastPhaseTransitionTime } };
    persistentVolumeResource.strategy.prepareForStatusUpdate?.(object, old, { ...writer, now });
    return object.status.lastPhaseTransitionTime;
  };
  assert.deepEqual([timeOf('Bound'), timeOf('Bound', sent)], [before, sent]);
  assert.deepEqual(
    [timeOf('Released'), timeOf('Released', before), timeOf('Released', sent)],
    [now, now, sent],
  );
  assert.deepEqual(updated(persistentVolumeResource, old, disk).object.status, old.status);
});

test('warnings', () => {
  const warned = (patch: object) => {
    const made = created(persistentVolumeResource, merge(disk, patch));
    return persistentVolumeResource.strategy.warnings?.(made, undefined);
  };
  const annotations = {
    'volume.beta.kubernetes.io/storage-class': 'fast',
    'volume.beta.kubernetes.io/mount-options': 'ro',
  };
  assert.deepEqual(warned({}), []);
  assert.deepEqual(
    warned({
      metadata: { annotations },
      spec: { persistentVolumeReclaimPolicy: 'Recycle', nodeAffinity: onNodes('beta.kubernetes.io/os') },
    }),
    [
      'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
      'metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead',
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead',
    ],
  );
  assert.deepEqual(
    warned(
      source({
        cephfs: { monitors: ['a'] },
        photonPersistentDisk: { pdID: 'a' },
        scaleIO: { gateway: 'a', system: 'b', volumeName: 'c' },
        storageos: {},
        glusterfs: { endpoints: 'a', path: 'b' },
        rbd: { monitors: ['a'], image: 'b' },
      }),
    )?.map((text) => text.split(':')[0]),
    [
      'spec.cephfs',
      'spec.photonPersistentDisk',
      'spec.scaleIO',
      'spec.storageOS',
      'spec.glusterfs',
      'spec.rbd',
    ],
  );
});

test('a warning reports a source that nodes cannot mount; a removed source is reported once', () => {
  const warned = (one: object) => {
    const made = created(persistentVolumeResource, merge(disk, source(one)));
    return persistentVolumeResource.strategy.warnings?.(made, undefined);
  };
  assert.deepEqual(warned({ csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'v' } }), [
    'spec.csi: known to Kubernetes, not acted on by minik8s',
  ]);
  assert.deepEqual(warned({ awsElasticBlockStore: { volumeID: 'v' } }), [
    'spec.awsElasticBlockStore: known to Kubernetes, not acted on by minik8s',
  ]);
  assert.equal(warned({ rbd: { monitors: ['a'], image: 'b' } })?.length, 1);
  for (const one of [{ hostPath: { path: '/a' } }, { nfs: { server: 'a', path: '/b' } }])
    assert.deepEqual(warned(one), []);
});

test('columns', () => {
  const made = created(persistentVolumeResource, merge(disk, { metadata: { annotations: {} } }));
  const shown = {
    Name: 'disk',
    Capacity: '1Gi',
    'Access Modes': 'RWO',
    'Reclaim Policy': 'Retain',
    Status: 'Pending',
    Claim: '',
    StorageClass: '',
    VolumeAttributesClass: '<unset>',
    Reason: '',
    Age: '<unknown>',
    VolumeMode: 'Filesystem',
  };
  assert.deepEqual(cells(persistentVolumeResource, made, 0), shown);
  Object.assign(made.spec, {
    accessModes: ['ReadWriteOncePod', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOnce', 'ReadWriteOnce'],
    claimRef: { namespace: 'default', name: 'data' },
    storageClassName: 'slow',
    volumeAttributesClassName: 'gold',
    capacity: undefined,
    volumeMode: 'Block',
  });
  made.status = { phase: 'Failed', reason: 'Lost' };
  assert.deepEqual(cells(persistentVolumeResource, made, 0), {
    ...shown,
    Capacity: '0',
    'Access Modes': 'RWO,ROX,RWX,RWOP',
    Status: 'Failed',
    Claim: 'default/data',
    StorageClass: 'slow',
    VolumeAttributesClass: 'gold',
    Reason: 'Lost',
    VolumeMode: 'Block',
  });
  made.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  made.metadata.annotations = { 'volume.beta.kubernetes.io/storage-class': 'fast' };
  const { Status: phase, StorageClass: name } = cells(persistentVolumeResource, made, 0);
  assert.deepEqual([phase, name], ['Terminating', 'fast']);
});
