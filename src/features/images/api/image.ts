/** Image: a container image that the cluster holds, by its name and the digests of its content. */
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { forbiddenCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { imageSizeOf, isReady } from './image-content.ts';
import { imageTypes } from './image-types.ts';
import { validateImage } from './image-validation.ts';
import type { Image } from './types.gen.ts';

export type { Image, ImageBlob, ImageContent } from './types.gen.ts';

function validateUpdate({ spec }: Image, old: Image): StatusCause[] {
  if (spec.image === old.spec.image) return [];
  return [forbiddenCause('spec.image', 'the name of an image cannot be changed')];
}

export const imageResource: ResourceDefinition<Image> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'Image',
  plural: 'images',
  singular: 'image',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'Image',
  types: imageTypes,
  rules: {
    Image: headRules('Image'),
    ImageSpec: { defaults: { allNodes: false } },
  },
  strategy: {
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate: validateImage,
    validateUpdate,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Image',
      type: 'string',
      description: 'The name that pods use.',
      cell: ({ spec }) => spec.image,
    },
    {
      name: 'Digest',
      type: 'string',
      description: 'Digest of the configuration, which is the identity of the image.',
      cell: ({ status }) => status?.content?.config.digest ?? '<uploading>',
    },
    {
      name: 'Size',
      type: 'integer',
      description: 'Bytes of its layers and its configuration.',
      cell: ({ spec, status }) => imageSizeOf(status?.content ?? spec),
    },
    {
      name: 'Ready',
      type: 'boolean',
      description: 'Whether pods can use the content of the spec.',
      cell: (image) => isReady(image),
    },
    {
      name: 'Nodes',
      type: 'integer',
      description: 'Number of nodes that have the image.',
      cell: ({ status }) => Object.keys(status?.nodes ?? {}).length,
    },
    ageColumn,
  ],
  selectableFields: { 'spec.image': ({ spec }) => spec.image },
  deleteAnswers: 'status',
};

export const uploadSubresource = 'upload';
export const archiveSubresource = 'archive';
/** Resource of the archives of images, for access checks. */
export const archives = `${imageResource.plural}/${archiveSubresource}`;
