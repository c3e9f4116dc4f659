/** The types of Workflow. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const workflowTypes: DescribedTypes = {
  Workflow: {
    '': 'Workflow is a definition in Amazon States Language. Each WorkflowRun is one run of it.',
    ...headFields('Workflow'),
    'spec!:WorkflowSpec': 'The definition of the runs, and how long ended runs are kept.',
    'status:WorkflowStatus': 'The status of the workflow, written by the cluster.',
  },
  WorkflowSpec: {
    'definition!:any':
      'The definition in Amazon States Language. The Resource of a Task is function:NAME, workflow:NAME ' +
      'or job:NAME (a CronJob, whose template the Job is made from), each also with NAMESPACE/ before ' +
      'the name.',
    'public:bool':
      'Whether any client may call the workflow, even without credentials. Otherwise callers need the ' +
      'verb create on workflows/invoke. Defaults to false.',
    'serviceAccountName:string':
      'Name of the ServiceAccount whose rights determine which targets tasks may call in other ' +
      'namespaces. Defaults to default.',
    'runsHistoryLimit:int32': 'Maximum number of ended runs that are kept, from 0 to 10000. Defaults to 100.',
    'ttlSecondsAfterFinished:int32':
      'Seconds after its end when a run is deleted. Default: only runsHistoryLimit determines when runs ' +
      'are deleted.',
  },
  WorkflowStatus: {
    'observedGeneration:int64': 'The metadata.generation that this status was computed from.',
    'definition:string': 'Name of the ControllerRevision with the definition with which runs begin now.',
    'active:int32': 'Number of runs that have not ended.',
    'lastRunTime:string': 'Creation time of the newest run.',
    'conditions:[]WorkflowStatusConditions':
      'The state of the workflow. The condition Ready is True when runs can begin.',
  },
  WorkflowStatusConditions: conditionFields,
};
