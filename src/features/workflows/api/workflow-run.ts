/** WorkflowRun: one run of a Workflow, from its input to its output. Its whole state is in its status. */
import { ageColumn, nameColumn, none } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { conditionRules } from '../../../api/shared-rules.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import { checkDns1123Label, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { excessOf, type Json } from '../../../states-language/json.ts';
import { maxData } from '../../../states-language/limits.ts';
import type { WorkflowRun } from './types.gen.ts';
import { workflowNameCauses } from './workflow.ts';
import { workflowRunTypes } from './workflow-run-types.ts';

export type { WorkflowRun } from './types.gen.ts';

export const runPhases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Aborted', 'TimedOut'] as const;
export type RunPhase = (typeof runPhases)[number];

/** Maximum bytes of an input, as JSON. */
export const maxInput = maxData;
/** Annotation of a run that was started by a request: the name of the user. */
export const callerAnnotation = 'minik8s.io/called-by';
/** Maximum number of runs above a run. */
export const deepestRun = 10;
const maxErrorLength = 256;
const maxCauseLength = 32_768;

/** Returns the input of a run; an empty object by default. */
export const inputOf = ({ spec }: WorkflowRun): Json =>
  spec.input === undefined ? {} : (spec.input as Json);

export const hasEnded = ({ status }: WorkflowRun): boolean =>
  status?.phase !== undefined && status.phase !== 'Pending' && status.phase !== 'Running';

function validate(run: WorkflowRun): StatusCause[] {
  const { workflow, stop, parent } = run.spec;
  const causes = nameCauses('metadata.name', run.metadata.name, checkDns1123Label);
  causes.push(...workflowNameCauses('spec.workflow', workflow));
  const excess = excessOf(inputOf(run), maxInput);
  if (excess !== undefined) causes.push(forbiddenCause('spec.input', `the input ${excess}`));
  if ((stop?.error?.length ?? 0) > maxErrorLength)
    causes.push(tooLongCause('spec.stop.error', maxErrorLength));
  if ((stop?.cause?.length ?? 0) > maxCauseLength)
    causes.push(tooLongCause('spec.stop.cause', maxCauseLength));
  if (parent && (parent.depth < 1 || parent.depth > deepestRun)) {
    const rule = `must be between 1 and ${deepestRun}, inclusive`;
    causes.push(invalidCause('spec.parent.depth', parent.depth, rule));
  }
  return causes;
}

function validateUpdate({ spec }: WorkflowRun, old: WorkflowRun): StatusCause[] {
  const { stop, ...rest } = spec;
  const { stop: stopBefore, ...before } = old.spec;
  const causes = Object.keys({ ...rest, ...before })
    .filter((field) => !deepEqual(rest[field as keyof typeof rest], before[field as keyof typeof before]))
    .map((field) => forbiddenCause(`spec.${field}`, 'is immutable: only spec.stop of a run can be changed'));
  if (stopBefore !== undefined && !deepEqual(stop, stopBefore)) {
    causes.push(forbiddenCause('spec.stop', 'a stop that is set cannot be changed or removed'));
  }
  return causes;
}

export const workflowRunResource: ResourceDefinition<WorkflowRun> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'WorkflowRun',
  plural: 'workflowruns',
  singular: 'workflowrun',
  shortNames: ['wfr'],
  categories: [],
  namespaced: true,
  typeName: 'WorkflowRun',
  types: workflowRunTypes,
  rules: {
    WorkflowRun: headRules('WorkflowRun'),
    WorkflowRunStatus: { choices: { phase: runPhases } },
    WorkflowRunStatusConditions: conditionRules,
  },
  strategy: {
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate,
    validateUpdate,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Workflow',
      type: 'string',
      description: 'The Workflow of the run.',
      cell: ({ spec }) => spec.workflow,
    },
    {
      name: 'Phase',
      type: 'string',
      description: 'The phase of the run.',
      cell: ({ status }) => status?.phase ?? 'Pending',
    },
    {
      name: 'State',
      type: 'string',
      description: 'The current states.',
      cell: ({ status }) => status?.currentStates?.join(',') || none,
    },
    {
      name: 'Error',
      type: 'string',
      priority: 1,
      description: 'The error with which the run ended.',
      cell: ({ status }) => status?.error || none,
    },
    ageColumn,
  ],
  selectableFields: {
    'spec.workflow': ({ spec }) => spec.workflow,
    'status.phase': ({ status }) => status?.phase ?? 'Pending',
  },
  deleteAnswers: 'status',
};
