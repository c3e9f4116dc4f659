/** Workflow: a definition in Amazon States Language, which WorkflowRuns run. */
import { ageColumn, nameColumn, none } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { conditionRules } from '../../../api/shared-rules.ts';
import { invalidCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import { checkDns1123Label, checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { outlineOf } from '../../../states-language/definition/check-definition.ts';
import { isObject } from '../../../states-language/json.ts';
import type { Workflow } from './types.gen.ts';
import { workflowTypes } from './workflow-types.ts';

export type { Workflow } from './types.gen.ts';

/** Maximum length of a name; the names of runs, and of objects that runs create, are longer. */
const maxNameLength = 52;

/** Returns the problems of the name of a workflow. */
export function workflowNameCauses(path: string, name: string): StatusCause[] {
  const causes = nameCauses(path, name, checkDns1123Label);
  return causes.length === 0 && name.length > maxNameLength
    ? [invalidCause(path, name, `must be no more than ${maxNameLength} characters`)]
    : causes;
}

function validate({ metadata, spec }: Workflow): StatusCause[] {
  const { serviceAccountName, runsHistoryLimit, ttlSecondsAfterFinished: ttl } = spec;
  const causes = workflowNameCauses('metadata.name', metadata.name);
  // Admission parses the expressions of the definition.
  causes.push(...outlineOf(spec.definition, 'spec.definition').causes);
  causes.push(...nameCauses('spec.serviceAccountName', serviceAccountName, checkDns1123Subdomain));
  if (runsHistoryLimit < 0 || runsHistoryLimit > 10_000) {
    causes.push(
      invalidCause('spec.runsHistoryLimit', runsHistoryLimit, 'must be between 0 and 10000, inclusive'),
    );
  }
  if (ttl !== undefined && ttl < 0) {
    causes.push(invalidCause('spec.ttlSecondsAfterFinished', ttl, 'must be greater than or equal to 0'));
  }
  return causes;
}

function statesOf({ definition }: Workflow['spec']): number {
  const states = isObject(definition) ? definition.States : undefined;
  return isObject(states) ? Object.keys(states).length : 0;
}

export const workflowResource: ResourceDefinition<Workflow> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'Workflow',
  plural: 'workflows',
  singular: 'workflow',
  shortNames: ['wf'],
  categories: [],
  namespaced: true,
  typeName: 'Workflow',
  types: workflowTypes,
  rules: {
    Workflow: headRules('Workflow'),
    WorkflowSpec: { defaults: { public: false, serviceAccountName: 'default', runsHistoryLimit: 100 } },
    WorkflowStatusConditions: conditionRules,
  },
  strategy: {
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'States',
      type: 'integer',
      description: 'Number of top-level states of the definition.',
      cell: ({ spec }) => statesOf(spec),
    },
    {
      name: 'Active',
      type: 'integer',
      description: 'Number of runs that have not ended.',
      cell: ({ status }) => status?.active ?? 0,
    },
    {
      name: 'Definition',
      type: 'string',
      priority: 1,
      description: 'The ControllerRevision with the definition with which runs begin now.',
      cell: ({ status }) => status?.definition ?? none,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
