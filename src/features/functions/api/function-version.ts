/**
 * FunctionVersion: an immutable copy of the program and the instance settings of one spec of a Function.
 * Nodes build an image from it. All nodes install the same libraries, because the first node records their
 * versions.
 */
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { conditionRules } from '../../../api/shared-rules.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { instanceDefaults, instanceRules, runtimes } from './function-fields.ts';
import { lockFault } from './function-lock.ts';
import { functionVersionTypes } from './function-version-types.ts';
import type { FunctionVersion } from './types.gen.ts';

export type { FunctionVersion } from './types.gen.ts';

export const functionVersionResource: ResourceDefinition<FunctionVersion> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'FunctionVersion',
  plural: 'functionversions',
  singular: 'functionversion',
  shortNames: ['fnv'],
  categories: [],
  namespaced: true,
  typeName: 'FunctionVersion',
  types: functionVersionTypes,
  rules: {
    FunctionVersion: headRules('FunctionVersion'),
    FunctionVersionSpec: { defaults: { ...instanceDefaults }, choices: { runtime: runtimes } },
    ...instanceRules('FunctionVersion'),
    FunctionVersionStatusConditions: conditionRules,
  },
  strategy: {
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validateUpdate: ({ spec }, old) =>
      deepEqual(spec, old.spec) ? [] : [forbiddenCause('spec', 'a FunctionVersion cannot be changed')],
    validateStatus({ spec, status }, old) {
      const lock = status?.lock;
      if (lock === undefined || lock === old.status?.lock) return [];
      const fault =
        spec.runtime === undefined
          ? 'must not be set: no libraries are installed into an image of its own'
          : lockFault(spec.runtime, lock);
      return fault === undefined ? [] : [invalidCause('status.lock', lock.slice(0, 200), fault)];
    },
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Function',
      type: 'string',
      description: 'The Function of this version.',
      cell: ({ spec }) => spec.function,
    },
    {
      name: 'Built',
      type: 'string',
      description: 'Whether the newest build of the image succeeded.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Built')?.status ?? 'Unknown',
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
