/** Workflow: a definition in Amazon States Language, which WorkflowRuns run. */
import * as v from 'valibot';
import { ageColumn, nameColumn, none } from '../../../api/columns.ts';
import { invalidCause } from '../../../apimachinery/field-error.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import { checkDns1123Label, checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { conditionSchema, int32, int64, objectMetaSchema, struct } from '../../../apimachinery/schema.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { outlineOf } from '../../../states-language/definition/check-definition.ts';
import { isObject } from '../../../states-language/json.ts';

const specSchema = v.pipe(
  struct({
    definition: v.pipe(
      v.unknown(),
      v.description(
        'The definition in Amazon States Language. The Resource of a Task is function:NAME, workflow:NAME or job:NAME (a ' +
          'CronJob, whose template the Job is made from), each also with NAMESPACE/ before the name.',
      ),
    ),
    public: v.optional(
      v.pipe(
        v.boolean(),
        v.description(
          'Whether everybody may call it. Otherwise callers need the verb create on workflows/invoke. Defaults to false.',
        ),
      ),
      false,
    ),
    serviceAccountName: v.optional(
      v.pipe(
        v.string(),
        v.description<string, string>(
          'Name of the ServiceAccount whose rights decide what tasks may call in other namespaces. Defaults to default.',
        ),
      ),
      'default',
    ),
    runsHistoryLimit: v.optional(
      v.pipe(
        int32(),
        v.description('How many runs that have ended are kept, from 0 to 10000. Defaults to 100.'),
      ),
      100,
    ),
    ttlSecondsAfterFinished: v.optional(
      v.pipe(
        int32(),
        v.description(
          'How many seconds after its end a run is deleted. Without it only the number of runs decides.',
        ),
      ),
    ),
  }),
  v.description('What a run does, and how long ended runs are kept.'),
);

const statusSchema = v.pipe(
  struct({
    observedGeneration: v.optional(
      v.pipe(int64(), v.description('The metadata.generation that this status was computed from.')),
    ),
    definition: v.optional(
      v.pipe(
        v.string(),
        v.description('Name of the ControllerRevision that holds the definition with which runs begin now.'),
      ),
    ),
    active: v.optional(v.pipe(int32(), v.description('How many runs have not ended.'))),
    lastRunTime: v.optional(v.pipe(v.string(), v.description('When the newest run was created.'))),
    conditions: v.optional(
      v.pipe(
        v.array(conditionSchema),
        v.description('The state of the workflow. The condition of type Ready says whether runs can begin.'),
      ),
    ),
  }),
  v.description('The status of the workflow, written by the cluster.'),
);

const workflowSchema = v.pipe(
  struct({
    apiVersion: v.pipe(
      v.literal('minik8s.io/v1'),
      v.description('Group and version of this kind: minik8s.io/v1.'),
    ),
    kind: v.pipe(v.literal('Workflow'), v.description('The kind of the object: Workflow.')),
    metadata: objectMetaSchema,
    spec: specSchema,
    status: v.optional(statusSchema),
  }),
  v.description('Workflow is a definition in Amazon States Language. Each WorkflowRun is one run of it.'),
);

export type Workflow = v.InferOutput<typeof workflowSchema>;

/** Maximum length of a name; the names of runs, and of objects that runs create, are longer. */
const longestName = 52;

/** Returns the problems of the name of a workflow. */
export function workflowNameCauses(path: string, name: string): StatusCause[] {
  const causes = nameCauses(path, name, checkDns1123Label);
  return causes.length === 0 && name.length > longestName
    ? [invalidCause(path, name, `must be no more than ${longestName} characters`)]
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
  schema: workflowSchema,
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
      description: 'How many states its definition has, those in other states not counted.',
      cell: ({ spec }) => statesOf(spec),
    },
    {
      name: 'Active',
      type: 'integer',
      description: 'How many of its runs have not ended.',
      cell: ({ status }) => status?.active ?? 0,
    },
    {
      name: 'Definition',
      type: 'string',
      priority: 1,
      description: 'The ControllerRevision that holds the definition with which runs begin now.',
      cell: ({ status }) => status?.definition ?? none,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
