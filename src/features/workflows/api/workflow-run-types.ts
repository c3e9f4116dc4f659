/** The types of WorkflowRun. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import { historyEntryFields } from './workflow-history-entry.ts';

export const workflowRunTypes: DescribedTypes = {
  WorkflowRun: {
    '': 'WorkflowRun is one run of a Workflow.',
    ...headFields('WorkflowRun'),
    'spec!:WorkflowRunSpec': 'What is run. Nothing but stop can be changed.',
    'status:WorkflowRunStatus': 'How far the run is and what came of it, written by the cluster.',
  },
  WorkflowRunSpec: {
    'workflow!:string': 'Name of the Workflow, in the namespace of the run.',
    'input:any': 'The input, any JSON of at most 256 KiB. Defaults to an empty object.',
    'stop:WorkflowRunSpecStop':
      'Ends the run, which becomes Aborted: its tasks are cancelled. It can be set at any time, and not ' +
      'be changed or removed.',
    'parent:WorkflowRunSpecParent': 'The run that this one is a task of. Set by the cluster.',
  },
  WorkflowRunSpecStop: {
    'error:string': 'The error with which it ends, at most 256 characters.',
    'cause:string': 'Why, for people, at most 32768 characters.',
  },
  WorkflowRunSpecParent: {
    'namespace!:string': 'Namespace of the run.',
    'name!:string': 'Name of the run.',
    'uid!:string': 'Uid of the run.',
    'task!:string': 'Id of the task that this run is.',
    'depth!:int32': 'How many runs are above this one, from 1 to 10.',
  },
  WorkflowRunStatus: {
    'phase:string':
      'Pending before it has begun, then Running, and at the end Succeeded, Failed, Aborted or ' +
      'TimedOut.',
    'startTime:string': 'When it began.',
    'completionTime:string': 'When it ended.',
    'output:any': 'What it gave, any JSON. Of a run that has succeeded.',
    'error:string': 'The name of the error with which it ended, such as States.Timeout.',
    'cause:string': 'Why it ended with that error.',
    'definition:string': 'Name of the ControllerRevision that holds the definition with which it began.',
    'state:string':
      'How far it is: the JSON with which it goes on. It is for the cluster, its form may change.',
    'currentStates:[]string': 'The names of the states that it is in, at most 20.',
    'calls:[]WorkflowRunStatusCalls':
      'The calls of functions that may have been sent and have not been answered.',
    'history:[]WorkflowRunStatusHistory':
      'The newest entries of the history. Those before are in WorkflowHistory objects NAME-0001 and so ' +
      'on.',
    'historyCount:int32': 'How many entries the whole history has.',
    'conditions:[]WorkflowRunStatusConditions':
      'The condition of type Started says whether the run could begin, and if not, why.',
  },
  WorkflowRunStatusCalls: {
    'id!:string': 'The id of the task: the way to it through the states.',
    'instance!:string': 'Uid of the pod that the call may have been sent to.',
    'time!:string': 'When this was written. The call was sent after that.',
  },
  WorkflowRunStatusHistory: historyEntryFields,
  WorkflowRunStatusConditions: conditionFields,
};
