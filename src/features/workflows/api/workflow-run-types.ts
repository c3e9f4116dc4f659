/** The types of WorkflowRun. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import { historyEntryFields } from './workflow-history-entry.ts';

export const workflowRunTypes: DescribedTypes = {
  WorkflowRun: {
    '': 'WorkflowRun is one run of a Workflow.',
    ...headFields('WorkflowRun'),
    'spec!:WorkflowRunSpec': 'The workflow and the input. Only stop can be changed.',
    'status:WorkflowRunStatus': 'The progress and the result of the run, written by the cluster.',
  },
  WorkflowRunSpec: {
    'workflow!:string': 'Name of the Workflow, in the namespace of the run.',
    'input:any': 'The input, any JSON of at most 256 KiB. Defaults to an empty object.',
    'stop:WorkflowRunSpecStop':
      'Ends the run, which becomes Aborted; its tasks are cancelled. It can be set at any time and cannot ' +
      'be changed or removed.',
    'parent:WorkflowRunSpecParent': 'The parent run, of which this run is a task. Set by the cluster.',
  },
  WorkflowRunSpecStop: {
    'error:string': 'Name of the error with which the run ends, at most 256 characters.',
    'cause:string': 'Human-readable reason, at most 32768 characters.',
  },
  WorkflowRunSpecParent: {
    'namespace!:string': 'Namespace of the run.',
    'name!:string': 'Name of the run.',
    'uid!:string': 'Uid of the run.',
    'task!:string': 'Id of the task of the parent that this run executes.',
    'depth!:int32': 'Number of runs above this one, from 1 to 10.',
  },
  WorkflowRunStatus: {
    'phase:string':
      'Pending before it has begun, then Running, and at the end Succeeded, Failed, Aborted or ' +
      'TimedOut.',
    'startTime:string': 'Time at which the run began.',
    'completionTime:string': 'Time at which the run ended.',
    'output:any': 'Output of a run that has succeeded, any JSON.',
    'error:string': 'Name of the error with which the run ended, such as States.Timeout.',
    'cause:string': 'Cause of the error.',
    'definition:string': 'Name of the ControllerRevision with the definition with which the run began.',
    'state:string': 'Internal state of the run as JSON, from which it continues. Its form may change.',
    'currentStates:[]string': 'Names of the current states, at most 20.',
    'calls:[]WorkflowRunStatusCalls':
      'The calls of functions that may have been sent and have not been answered.',
    'history:[]WorkflowRunStatusHistory':
      'The newest entries of the history. Older entries are in the WorkflowHistory objects NAME-0001 and ' +
      'so on.',
    'historyCount:int32': 'Number of entries of the whole history.',
    'conditions:[]WorkflowRunStatusConditions':
      'The condition Started is True when the run has begun; otherwise it has the reason.',
  },
  WorkflowRunStatusCalls: {
    'id!:string': 'Id of the task: its path through the states.',
    'instance!:string': 'Uid of the pod to which the call may have been sent.',
    'time!:string': 'Time of this entry. The call was sent after it.',
  },
  WorkflowRunStatusHistory: historyEntryFields,
  WorkflowRunStatusConditions: conditionFields,
};
