/**
 * FolderWatch: a directory that the agent of one node watches for a Trigger. The trigger controller creates
 * it; the agent reports its status.
 */
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, requiredCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { folderWatchTypes } from './folder-watch-types.ts';
import type { FolderWatch } from './types.gen.ts';

export type { FolderWatch } from './types.gen.ts';

/** `status.reason` of an active watch. */
export const watchingReason = 'Watching';
/** Maximum files in a watched directory. */
export const maxWatchedFiles = 10_000;
const maxTextLength = 1024;

function validate({ spec, status }: FolderWatch): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const field of ['trigger', 'nodeName', 'folder'] as const)
    if (spec[field] === '') causes.push(requiredCause(`spec.${field}`, 'must not be empty'));
  for (const field of ['reason', 'message'] as const)
    if ((status?.[field]?.length ?? 0) > maxTextLength)
      causes.push(tooLongCause(`status.${field}`, maxTextLength));
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
  types: folderWatchTypes,
  rules: {
    FolderWatch: headRules('FolderWatch'),
    FolderWatchSpec: { defaults: { path: '', recursive: false, includeContent: false } },
  },
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
      description: 'The Trigger of this watch.',
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
      description: 'Watching, or the reason why the folder is not watched.',
      cell: ({ status }) => status?.reason ?? 'Unknown',
    },
    {
      name: 'Folder',
      type: 'string',
      priority: 1,
      description: 'The watched folder of the node.',
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
