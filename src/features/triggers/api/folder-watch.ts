/**
 * FolderWatch: a directory that the agent of one node watches for a Trigger. The trigger controller creates
 * it; the agent reports its status.
 */
import * as v from 'valibot';
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, requiredCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { objectMetaSchema, struct, time } from '../../../apimachinery/schema.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { changeTypes } from './trigger-fields.ts';

const text = v.description<string, string>;
const isOn = (about: string) => v.optional(v.pipe(v.boolean(), v.description(about)), false);

/** `status.reason` of an active watch. */
export const watchingReason = 'Watching';
/** Maximum files in a watched directory. */
export const mostWatchedFiles = 10_000;
const longestText = 1024;

const specSchema = v.pipe(
  struct({
    trigger: v.pipe(v.string(), text('Name of the Trigger.')),
    nodeName: v.pipe(v.string(), text('The node whose agent watches.')),
    source: v.pipe(v.string(), text('Of what its events are, as a path.')),
    since: v.pipe(time(), text('What happened before is not told.')),
    volumeName: v.optional(
      v.pipe(
        v.string(),
        text('The PersistentVolume whose folder it is. Without one the node has to allow the folder.'),
      ),
    ),
    folder: v.pipe(v.string(), text('A folder of the node, as an absolute path.')),
    path: v.optional(
      v.pipe(v.string(), text('The folder in it that is watched; "" for itself. No part of it is a link.')),
      '',
    ),
    pattern: v.optional(v.pipe(v.string(), text('Only files whose name is such.'))),
    types: v.pipe(v.array(v.picklist(changeTypes)), v.description('Which changes are told.')),
    recursive: isOn('Whether the folders in it are watched too.'),
    includeContent: isOn('Whether small files are told with what is in them.'),
  }),
  v.description('What is watched. It cannot be changed.'),
);

const statusSchema = v.pipe(
  struct({
    reason: v.optional(v.pipe(v.string(), text('Watching, or why not, in one word.'))),
    message: v.optional(v.pipe(v.string(), text('More about it.'))),
    waiting: v.optional(
      v.pipe(v.boolean(), v.description('Whether files wait because too many events are to be delivered.')),
    ),
  }),
  v.description('How it goes, written by the node.'),
);

const folderWatchSchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('FolderWatch'), v.description('The kind of the object: FolderWatch.')),
    metadata: objectMetaSchema,
    spec: specSchema,
    status: v.optional(statusSchema),
  }),
  v.description('FolderWatch is a folder that the agent of a node watches for a Trigger.'),
);

export type FolderWatch = v.InferOutput<typeof folderWatchSchema>;

function validate({ spec, status }: FolderWatch): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of ['trigger', 'nodeName', 'folder'] as const)
    if (spec[field] === '') causes.push(requiredCause(`spec.${field}`, 'must not be empty'));
  for (const field of ['reason', 'message'] as const)
    if ((status?.[field]?.length ?? 0) > longestText)
      causes.push(tooLongCause(`status.${field}`, longestText));
  return causes;
}

export const folderWatchResource: ResourceDefinition<FolderWatch> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'FolderWatch',
  plural: 'folderwatches',
  singular: 'folderwatch',
  shortNames: ['fow'],
  categories: [],
  namespaced: true,
  typeName: 'FolderWatch',
  schema: folderWatchSchema,
  strategy: {
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate,
    validateUpdate: ({ spec }, old) =>
      deepEqual(spec, old.spec) ? [] : [forbiddenCause('spec', 'a FolderWatch cannot be changed')],
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Trigger',
      type: 'string',
      description: 'The Trigger it is for.',
      cell: ({ spec }) => spec.trigger,
    },
    {
      name: 'Node',
      type: 'string',
      description: 'The node whose agent watches.',
      cell: ({ spec }) => spec.nodeName,
    },
    {
      name: 'State',
      type: 'string',
      description: 'Watching, or why not.',
      cell: ({ status }) => status?.reason ?? 'Unknown',
    },
    {
      name: 'Folder',
      type: 'string',
      priority: 1,
      description: 'The folder of the node, and what of it.',
      cell: ({ spec }) => (spec.path === '' ? spec.folder : `${spec.folder}/${spec.path}`),
    },
    ageColumn,
  ],
  selectableFields: {
    'spec.nodeName': ({ spec }) => spec.nodeName,
    'spec.trigger': ({ spec }) => spec.trigger,
  },
  deleteAnswers: 'status',
};
