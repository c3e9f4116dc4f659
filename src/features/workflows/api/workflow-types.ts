/** The types of Workflow. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const workflowTypes: DescribedTypes = {
  Workflow: {
    '': 'Workflow is a definition in Amazon States Language. Each WorkflowRun is one run of it.',
    ...headFields('Workflow'),
    'spec!:WorkflowSpec': 'What a run does, and how long ended runs are kept.',
    'status:WorkflowStatus': 'The status of the workflow, written by the cluster.',
  },
  WorkflowSpec: {
    'definition!:any':
      'The definition in Amazon States Language. The Resource of a Task is function:NAME, workflow:NAME ' +
      'or job:NAME (a CronJob, whose template the Job is made from), each also with NAMESPACE/ before ' +
      'the name.',
    'public:bool':
      'Whether everybody may call it. Otherwise callers need the verb create on workflows/invoke. ' +
      'Defaults to false.',
    'serviceAccountName:string':
      'Name of the ServiceAccount whose rights decide what tasks may call in other namespaces. Defaults ' +
      'to default.',
    'runsHistoryLimit:int32': 'How many runs that have ended are kept, from 0 to 10000. Defaults to 100.',
    'ttlSecondsAfterFinished:int32':
      'How many seconds after its end a run is deleted. Without it only the number of runs decides.',
  },
  WorkflowStatus: {
    'observedGeneration:int64': 'The metadata.generation that this status was computed from.',
    'definition:string':
      'Name of the ControllerRevision that holds the definition with which runs begin now.',
    'active:int32': 'How many runs have not ended.',
    'lastRunTime:string': 'When the newest run was created.',
    'conditions:[]WorkflowStatusConditions':
      'The state of the workflow. The condition of type Ready says whether runs can begin.',
  },
  WorkflowStatusConditions: conditionFields,
};
