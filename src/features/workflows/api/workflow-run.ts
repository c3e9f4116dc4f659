/** WorkflowRun: one run of a Workflow, from its input to its output. Its whole state is in its status. */
import * as v from 'valibot';
import { ageColumn, nameColumn, none } from '../../../api/columns.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import { checkDns1123Label, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { conditionSchema, int32, objectMetaSchema, struct, time } from '../../../apimachinery/schema.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { excessOf, type Json } from '../../../states-language/json.ts';
import { mostData } from '../../../states-language/limits.ts';
import { workflowNameCauses } from './workflow.ts';
import { historyEntrySchema } from './workflow-history-entry.ts';

export const runPhases = ['Pending', 'Running', 'Succeeded', 'Failed', 'Aborted', 'TimedOut'] as const;
export type RunPhase = (typeof runPhases)[number];

const text = v.description<string, string>;

const stopSchema = v.pipe(
  struct({
    error: v.optional(v.pipe(v.string(), text('The error with which it ends, at most 256 characters.'))),
    cause: v.optional(v.pipe(v.string(), text('Why, for people, at most 32768 characters.'))),
  }),
  v.description(
    'Ends the run, which becomes Aborted: its tasks are cancelled. It can be set at any time, and not be changed or removed.',
  ),
);

const parentSchema = v.pipe(
  struct({
    namespace: v.pipe(v.string(), text('Namespace of the run.')),
    name: v.pipe(v.string(), text('Name of the run.')),
    uid: v.pipe(v.string(), text('Uid of the run.')),
    task: v.pipe(v.string(), text('Id of the task that this run is.')),
    depth: v.pipe(int32(), v.description('How many runs are above this one, from 1 to 10.')),
  }),
  v.description('The run that this one is a task of. Set by the cluster.'),
);

const specSchema = v.pipe(
  struct({
    workflow: v.pipe(v.string(), text('Name of the Workflow, in the namespace of the run.')),
    input: v.optional(
      v.pipe(
        v.unknown(),
        v.description('The input, any JSON of at most 256 KiB. Defaults to an empty object.'),
      ),
    ),
    stop: v.optional(stopSchema),
    parent: v.optional(parentSchema),
  }),
  v.description('What is run. Nothing but stop can be changed.'),
);

const taskSchema = struct({
  id: v.pipe(v.string(), text('The id of the task: the way to it through the states.')),
  instance: v.pipe(v.string(), text('Uid of the pod that the call may have been sent to.')),
  time: v.pipe(time(), text('When this was written. The call was sent after that.')),
});

const statusSchema = v.pipe(
  struct({
    phase: v.optional(
      v.pipe(
        v.picklist(runPhases),
        v.description(
          'Pending before it has begun, then Running, and at the end Succeeded, Failed, Aborted or TimedOut.',
        ),
      ),
    ),
    startTime: v.optional(v.pipe(time(), v.description('When it began.'))),
    completionTime: v.optional(v.pipe(time(), v.description('When it ended.'))),
    output: v.optional(
      v.pipe(v.unknown(), v.description('What it gave, any JSON. Of a run that has succeeded.')),
    ),
    error: v.optional(
      v.pipe(v.string(), text('The name of the error with which it ended, such as States.Timeout.')),
    ),
    cause: v.optional(v.pipe(v.string(), text('Why it ended with that error.'))),
    definition: v.optional(
      v.pipe(
        v.string(),
        text('Name of the ControllerRevision that holds the definition with which it began.'),
      ),
    ),
    state: v.optional(
      v.pipe(
        v.string(),
        text('How far it is: the JSON with which it goes on. It is for the cluster, its form may change.'),
      ),
    ),
    currentStates: v.optional(
      v.pipe(v.array(v.string()), v.description('The names of the states that it is in, at most 20.')),
    ),
    calls: v.optional(
      v.pipe(
        v.array(taskSchema),
        v.description('The calls of functions that may have been sent and have not been answered.'),
      ),
    ),
    history: v.optional(
      v.pipe(
        v.array(historyEntrySchema),
        v.description(
          'The newest entries of the history. Those before are in WorkflowHistory objects NAME-0001 and so on.',
        ),
      ),
    ),
    historyCount: v.optional(v.pipe(int32(), v.description('How many entries the whole history has.'))),
    conditions: v.optional(
      v.pipe(
        v.array(conditionSchema),
        v.description('The condition of type Started says whether the run could begin, and if not, why.'),
      ),
    ),
  }),
  v.description('How far the run is and what came of it, written by the cluster.'),
);

const workflowRunSchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('WorkflowRun'), v.description('The kind of the object: WorkflowRun.')),
    metadata: objectMetaSchema,
    spec: specSchema,
    status: v.optional(statusSchema),
  }),
  v.description('WorkflowRun is one run of a Workflow.'),
);

export type WorkflowRun = v.InferOutput<typeof workflowRunSchema>;

/** Maximum bytes of an input, as JSON. */
export const mostInput = mostData;
/** Annotation of a run that was started by a request: the name of the user. */
export const callerAnnotation = 'minik8s.io/called-by';
/** Maximum number of runs above a run. */
export const deepestRun = 10;
const longestError = 256;
const longestCause = 32_768;

/** Returns the input of a run; an empty object by default. */
export const inputOf = ({ spec }: WorkflowRun): Json =>
  spec.input === undefined ? {} : (spec.input as Json);

export const hasEnded = ({ status }: WorkflowRun): boolean =>
  status?.phase !== undefined && status.phase !== 'Pending' && status.phase !== 'Running';

function validate(run: WorkflowRun): StatusCause[] {
  const { workflow, stop, parent } = run.spec;
  const causes = nameCauses('metadata.name', run.metadata.name, checkDns1123Label);
  causes.push(...workflowNameCauses('spec.workflow', workflow));
  const excess = excessOf(inputOf(run), mostInput);
  if (excess !== undefined) causes.push(forbiddenCause('spec.input', `the input ${excess}`));
  if ((stop?.error?.length ?? 0) > longestError) causes.push(tooLongCause('spec.stop.error', longestError));
  if ((stop?.cause?.length ?? 0) > longestCause) causes.push(tooLongCause('spec.stop.cause', longestCause));
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
    .map((field) => forbiddenCause(`spec.${field}`, 'of a run nothing but spec.stop can be changed'));
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
  schema: workflowRunSchema,
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
      description: 'The Workflow it is of.',
      cell: ({ spec }) => spec.workflow,
    },
    {
      name: 'Phase',
      type: 'string',
      description: 'Whether it runs, and how it ended.',
      cell: ({ status }) => status?.phase ?? 'Pending',
    },
    {
      name: 'State',
      type: 'string',
      description: 'The states that it is in.',
      cell: ({ status }) => status?.currentStates?.join(',') || none,
    },
    {
      name: 'Error',
      type: 'string',
      priority: 1,
      description: 'The error with which it ended.',
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
