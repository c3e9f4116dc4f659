import assert from 'node:assert/strict';
import { test } from 'node:test';
import { volumeAttachmentResource } from '../../../../../src/api/storage/v1/volume-attachment.ts';
import { cells, created, testCreate, testStatusMetadata, testUpdate } from '../../../../fixtures/kinds.ts';

const attachment = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name: 'a1' },
  spec: { attacher: 'disk.example.com', nodeName: 'n1', source: { persistentVolumeName: 'disk' } },
};

testCreate(volumeAttachmentResource, attachment, [
  [
    'an invalid name',
    { metadata: { name: 'A' } },
    'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  [
    'no specification',
    { spec: null },
    'spec.attacher: Required value',
    'spec.attacher: Invalid value: "": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z,',
    'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    'spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z,',
  ],
  [
    'an invalid driver',
    { spec: { attacher: 'A_' } },
    'spec.attacher: Invalid value: "A_": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-',
  ],
  [
    'an invalid node',
    { spec: { nodeName: 'N' } },
    'spec.nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  [
    'an empty volume',
    { spec: { source: { persistentVolumeName: '' } } },
    'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
    'spec.source.persistentVolumeName: Invalid value: "": a lowercase RFC 1123 subdomain is made of labels joined b',
  ],
  [
    'an invalid volume',
    { spec: { source: { persistentVolumeName: 'A' } } },
    'spec.source.persistentVolumeName: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined ',
  ],
  [
    'two volumes',
    { spec: { source: { inlineVolumeSpec: {} } } },
    'spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
  ],
  [
    'a volume within',
    {
      spec: {
        source: {
          persistentVolumeName: null,
          inlineVolumeSpec: { csi: { driver: 'a', volumeHandle: 'b' }, accessModes: ['ReadWriteOnce'] },
        },
      },
    },
  ],
  [
    'an inline volume with empty fields',
    {
      spec: {
        source: {
          persistentVolumeName: null,
          inlineVolumeSpec: {
            csi: { driver: 'a', volumeHandle: 'b' },
            accessModes: ['ReadWriteOnce'],
            persistentVolumeReclaimPolicy: 'Retain',
            volumeMode: 'Filesystem',
            storageClassName: '',
          },
        },
      },
    },
  ],
  [
    'an invalid inline volume',
    {
      spec: {
        source: {
          persistentVolumeName: null,
          inlineVolumeSpec: {
            csi: null,
            accessModes: [],
            capacity: { storage: '1' },
            claimRef: {},
            persistentVolumeReclaimPolicy: 'Delete',
            storageClassName: 'a',
            volumeMode: 'Block',
            nodeAffinity: {},
          },
        },
      },
    },
    'spec.source.inlineVolumeSpec.claimRef: Forbidden: may not be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec.accessModes: Required value',
    'spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of in',
    'spec.source.inlineVolumeSpec.nodeAffinity: Forbidden: may not be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec: Required value: must specify a volume type',
    'spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the co',
  ],
  [
    'no volume',
    { spec: { source: null } },
    'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
  ],
]);

testUpdate(volumeAttachmentResource, attachment, [
  [
    'another node',
    { spec: { nodeName: 'n2' } },
    'spec: Invalid value: {"attacher":"disk.example.com","nodeName":"n2","source":{"persistentVolumeName":"disk"}}:',
  ],
  ['labels', { metadata: { labels: { a: 'b' } } }],
]);

test('a new VolumeAttachment is not attached', () => {
  const made = created(volumeAttachmentResource, { ...attachment, status: { attached: true } });
  assert.deepEqual(made.status, { attached: false });
});

testStatusMetadata(volumeAttachmentResource, attachment);

test('a status with a message or metadata over 256 KiB is refused', () => {
  const old = created(volumeAttachmentResource, attachment);
  const causes = (status: object) => {
    const object = { ...old, status: { attached: true, ...status } };
    const found = volumeAttachmentResource.strategy.validateStatus?.(object, old, 'status') ?? [];
    return found.map(({ field, message }) => `${field}: ${message}`);
  };
  const why = 'Too long: may not be more than 262144 bytes';
  const message = 'x'.repeat(1024);
  assert.deepEqual(causes({ attachError: { message }, detachError: { message } }), []);
  assert.deepEqual(causes({ attachError: { message: `${message}x` } }), [
    `status.attachError.message: ${why}`,
  ]);
  assert.deepEqual(causes({ detachError: { message: `${message}x` } }), [
    `status.detachError.message: ${why}`,
  ]);
  const metadata = (length: number) => ({ attachmentMetadata: { a: 'x'.repeat(length) } });
  assert.deepEqual(causes(metadata(256 * 1024 - 1)), []);
  assert.deepEqual(causes(metadata(256 * 1024)), [`status.attachmentMetadata: ${why}`]);
});

test('a VolumeAttachment has the columns of kubectl', () => {
  const made = created(volumeAttachmentResource, attachment);
  const shown = {
    Name: 'a1',
    Attacher: 'disk.example.com',
    PV: 'disk',
    Node: 'n1',
    Attached: false,
    Age: '<unknown>',
  };
  assert.deepEqual(cells(volumeAttachmentResource, made, 0), shown);
  made.status = { attached: true };
  made.spec.source = {};
  assert.deepEqual(cells(volumeAttachmentResource, made, 0), { ...shown, PV: '', Attached: true });
});
