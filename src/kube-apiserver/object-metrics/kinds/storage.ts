/** StorageClasses and VolumeAttachments. */
import { storageClassResource } from '../../../api/storage/v1/storage-class.ts';
import type { StorageClass, VolumeAttachment } from '../../../api/storage/v1/types.gen.ts';
import { volumeAttachmentResource } from '../../../api/storage/v1/volume-attachment.ts';
import { gauge, info, objectMetrics } from '../family.ts';
import { labelsFrom } from '../labels-from.ts';
import { created, named } from '../metadata-families.ts';

export const storageClasses = objectMetrics<StorageClass>({
  ref: storageClassResource,
  labelsOf: named('storageclass'),
  families: [
    info('kube_storageclass_info', 'Provisioner and parameters of the class.', (storageClass) => ({
      provisioner: storageClass.provisioner,
      reclaim_policy: storageClass.reclaimPolicy ?? 'Delete',
      volume_binding_mode: storageClass.volumeBindingMode ?? 'Immediate',
    })),
    created('kube_storageclass'),
  ],
});

export const volumeAttachments = objectMetrics<VolumeAttachment>({
  ref: volumeAttachmentResource,
  labelsOf: named('volumeattachment'),
  families: [
    info('kube_volumeattachment_info', 'Attacher and node of the attachment.', ({ spec }) => ({
      attacher: spec.attacher,
      node: spec.nodeName,
    })),
    created('kube_volumeattachment'),
    info('kube_volumeattachment_labels', 'The labels of the VolumeAttachment.', ({ metadata }) =>
      labelsFrom('label', metadata.labels),
    ),
    info(
      'kube_volumeattachment_spec_source_persistentvolume',
      'PersistentVolume of the attachment.',
      ({ spec }) =>
        spec.source.persistentVolumeName === undefined
          ? undefined
          : { volumename: spec.source.persistentVolumeName },
    ),
    gauge(
      'kube_volumeattachment_status_attached',
      'Whether the volume is attached.',
      ({ status }) => status?.attached ?? false,
    ),
    info('kube_volumeattachment_status_attachment_metadata', 'Metadata from the attacher.', ({ status }) =>
      labelsFrom('metadata', status?.attachmentMetadata),
    ),
  ],
});
