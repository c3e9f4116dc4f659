/** Function: a program that is called by HTTP and scaled on demand, down to zero instances. */
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { conditionRules } from '../../../api/shared-rules.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { instanceDefaults, instanceRules, runtimes } from './function-fields.ts';
import { functionTypes } from './function-types.ts';
import { setFunctionDefaults, validateFunction } from './function-validation.ts';
import type { Function as Fn } from './types.gen.ts';

export type { Function as Fn } from './types.gen.ts';

/** Metrics for scaling: calls in progress, or calls that arrived in the window. */
export const scaleMetrics = ['Concurrency', 'Requests'] as const;

export const functionResource: ResourceDefinition<Fn> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'Function',
  plural: 'functions',
  singular: 'function',
  shortNames: ['fn'],
  categories: [],
  namespaced: true,
  typeName: 'Function',
  types: functionTypes,
  rules: {
    Function: headRules('Function'),
    FunctionSpec: {
      defaults: { ...instanceDefaults, minScale: 0, maxScale: 10, metric: 'Concurrency', public: false },
      choices: { runtime: runtimes, metric: scaleMetrics },
    },
    ...instanceRules('Function'),
    FunctionStatusConditions: conditionRules,
  },
  strategy: {
    setDefaults: setFunctionDefaults,
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate: validateFunction,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Runtime',
      type: 'string',
      description: 'The language of the files of the function, or the image of the function.',
      cell: ({ spec }) => spec.runtime ?? spec.image ?? '',
    },
    {
      name: 'Ready',
      type: 'string',
      description: 'Whether the version of the current spec is called.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    },
    {
      name: 'Instances',
      type: 'string',
      description: 'The number of instances that can be called, and the number of all instances.',
      cell: ({ status }) => `${status?.readyReplicas ?? 0}/${status?.replicas ?? 0}`,
    },
    {
      name: 'Version',
      type: 'string',
      description: 'The FunctionVersion that is called.',
      cell: ({ status }) => status?.activeVersion ?? '<none>',
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
