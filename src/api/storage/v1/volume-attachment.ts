/** VolumeAttachment: a request to attach a volume to a node. It is stored; drivers are not called yet. */
import { deepEqual } from '../../../apimachinery/equality.ts';
import {
  forbiddenCause,
  invalidCause,
  requiredCause,
  tooLongCause,
} from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import { checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { validateDriverName } from '../../core/v1/volume/persistent-volume-sources.ts';
import { validateInlineSpec } from '../../core/v1/volume/persistent-volume-validation.ts';
import { storageGroup } from './storage-class.ts';
import type { VolumeAttachment, VolumeAttachmentSource, VolumeError } from './types.gen.ts';

const maxMetadataBytes = 256 * 1024;
const maxMessageBytes = 1024;

function validate({ spec }: VolumeAttachment): StatusCause[] {
  return [
    ...validateDriverName(spec.attacher, 'spec.attacher'),
    ...validateSource(spec.source, 'spec.source'),
    ...nameCauses('spec.nodeName', spec.nodeName, checkDns1123Subdomain),
  ];
}

function validateSource(
  { inlineVolumeSpec: inline, persistentVolumeName: name }: VolumeAttachmentSource,
  path: string,
) {
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (inline && name !== undefined) return [forbiddenCause(path, exactlyOne)];
  if (inline) return validateInlineSpec(inline, `${path}.inlineVolumeSpec`);
  if (name === undefined) return [requiredCause(path, exactlyOne)];
  const at = `${path}.persistentVolumeName`;
  const missing = name === '' ? [requiredCause(at, 'must specify non empty persistentVolumeName')] : [];
  return [...missing, ...nameCauses(at, name, checkDns1123Subdomain)];
}

function validateStatus({ status }: VolumeAttachment): StatusCause[] {
  const texts = Object.entries(status?.attachmentMetadata ?? {}).flat();
  const tooLong = Buffer.byteLength(texts.join('')) > maxMetadataBytes;
  return [
    ...(tooLong ? [tooLongCause('status.attachmentMetadata', maxMetadataBytes)] : []),
    ...validateError(status?.attachError, 'status.attachError.message'),
    ...validateError(status?.detachError, 'status.detachError.message'),
  ];
}

/** Validates the error's length. The message has the limit of the metadata, as upstream. */
const validateError = (error: VolumeError | undefined, path: string) =>
  Buffer.byteLength(error?.message ?? '') > maxMessageBytes ? [tooLongCause(path, maxMetadataBytes)] : [];

export const volumeAttachmentResource: ResourceDefinition<VolumeAttachment> = {
  group: storageGroup,
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  singular: 'volumeattachment',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'storage.v1.VolumeAttachment',
  rules: {
    'storage.v1.VolumeAttachment': { defaults: { spec: {} } },
    'storage.v1.VolumeAttachmentSpec': { defaults: { attacher: '', source: {}, nodeName: '' } },
    'storage.v1.VolumeAttachmentSource': {},
    'storage.v1.VolumeAttachmentStatus': { defaults: { attached: false } },
    'storage.v1.VolumeError': { acts: 'time message' },
  },
  strategy: {
    resetFields: { status: ['metadata', 'spec'] },
    prepareForCreate: (attachment) => {
      attachment.status = { attached: false };
    },
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate,
    validateUpdate: ({ spec }, old) =>
      deepEqual(spec, old.spec) ? [] : [invalidCause('spec', spec, 'field is immutable')],
    validateStatus,
    countsGenerations: false,
    updatesNameVersion: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Attacher',
      type: 'string',
      description: 'The driver that attaches the volume.',
      cell: ({ spec }) => spec.attacher,
    },
    {
      name: 'PV',
      type: 'string',
      description: 'The PersistentVolume.',
      cell: ({ spec }) => spec.source.persistentVolumeName ?? '',
    },
    {
      name: 'Node',
      type: 'string',
      description: 'The node.',
      cell: ({ spec }) => spec.nodeName,
    },
    {
      name: 'Attached',
      type: 'boolean',
      description: 'Whether the volume is attached.',
      cell: ({ status }) => status?.attached ?? false,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
