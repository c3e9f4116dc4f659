/** The types of Trigger. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const triggerTypes: DescribedTypes = {
  Trigger: {
    '':
      'Trigger calls a function, or runs a workflow, for each event: a time, a request, a change of an ' +
      'object or of a file, the result of a function. Each event is delivered at least once.',
    ...headFields('Trigger'),
    'spec!:TriggerSpec':
      'The source of the events and the target that is called. Exactly one of cron, http, object, result ' +
      'and file is set.',
    'status:TriggerStatus': 'The status of the trigger, written by the cluster.',
  },
  TriggerSpec: {
    'target!:TriggerSpecTarget': 'The function or workflow that is called with each event.',
    'cron:TriggerSpecCron': 'Times of a schedule.',
    'http:TriggerSpecHttp': 'Requests by HTTP.',
    'object:TriggerSpecObject': 'Changes of objects of the cluster.',
    'result:TriggerSpecResult': 'Results of the calls of a function.',
    'file:TriggerSpecFile': 'Changes of files in a folder.',
    'input:any': 'JSON that is added to each event, at most 256 KiB.',
    'retry:TriggerSpecRetry': 'Retries of an event that could not be delivered.',
    'deadLetters:TriggerSpecDeadLetters':
      'The events that could not be delivered: TriggerEvents of phase Failed, which can be replayed.',
    'suspend:bool':
      'Whether the trigger is suspended: no event is recorded or delivered, and missed events are not ' +
      'recorded later. Defaults to false.',
    'serviceAccountName:string':
      'The ServiceAccount of this namespace with which objects are watched; it needs the verbs list and ' +
      'watch. Defaults to default.',
  },
  TriggerSpecTarget: {
    'kind:string': 'Function or Workflow. Defaults to Function.',
    'name!:string': 'Name of the target, in the namespace of the trigger.',
  },
  TriggerSpecCron: {
    'schedule!:string':
      'The schedule in the form of a CronJob: five fields, or a text such as @hourly or @every 10m.',
    'timeZone:string': 'The time zone of the schedule. Defaults to UTC.',
    'startingDeadlineSeconds:int64': 'Seconds after which a missed time is no longer recorded.',
  },
  TriggerSpecHttp: {
    'path!:string':
      'The path below /trigger/NAMESPACE on the port of the gateway, such as /orders. No other trigger ' +
      'of the namespace has it.',
    'methods:[]string': 'The accepted methods. Defaults to POST.',
    'public:bool':
      'Whether any client may send requests, even without credentials. Otherwise senders need the verb ' +
      'create on triggers/invoke. Defaults to false.',
  },
  TriggerSpecObject: {
    'apiVersion!:string': 'Group and version of the kind, such as v1 or apps/v1.',
    'kind!:string': 'The kind of the objects, such as Pod. It need not be served yet.',
    'namespace:string':
      'The namespace of the objects; "*" for all. Defaults to the namespace of the trigger.',
    'labelSelector:string': 'Only objects with these labels, in the form of kubectl get --selector.',
    'fieldSelector:string': 'Only objects with these fields, in the form of kubectl get --field-selector.',
    'types:[]string':
      'Types of the reported changes: Created, Updated, Deleted. Entering the selection counts as a ' +
      'creation, leaving it as a deletion. Defaults to all.',
  },
  TriggerSpecResult: {
    'function!:string': 'Name of the Function, in the namespace of the trigger.',
    'outcomes:[]string':
      'The reported results: Success, an answer of 2xx, or Failure, any other. Defaults to both.',
  },
  TriggerSpecFile: {
    'claimName:string':
      'A PersistentVolumeClaim of the namespace, whose volume is watched by the node that has it. Either ' +
      'this or folder is set.',
    'path:string':
      'The folder in the volume, such as in/new. Defaults to the volume itself. No part of it may be a ' +
      'link.',
    'folder:string':
      'A folder of nodes, as an absolute path. Only nodes that allow it with --watch-folder watch it.',
    'nodeSelector:{}string': 'Only nodes with these labels watch the folder. Defaults to all.',
    'pattern:string': 'Pattern of the names of the reported files, such as *.csv or [!.]*. Defaults to all.',
    'types:[]string':
      'Types of the reported changes: Created, Updated, Deleted. A file is reported when it has not ' +
      'changed for a second. Defaults to all.',
    'recursive:bool': 'Whether subfolders are watched too. Defaults to false.',
    'includeContent:bool':
      'Whether events contain the content of files of at most 64 KiB. Defaults to false.',
  },
  TriggerSpecRetry: {
    'maxAttempts:int32': 'Maximum number of attempts, from 1 to 100. Defaults to 5.',
    'minSeconds:int32': 'Seconds between the first two attempts. Defaults to 1.',
    'maxSeconds:int32':
      'Maximum seconds between two attempts; the pause doubles with each attempt. Defaults to 300.',
  },
  TriggerSpecDeadLetters: {
    'limit:int32': 'Maximum number of dead letters; older ones are removed. Defaults to 100.',
  },
  TriggerStatus: {
    'observedGeneration:int64': 'The metadata.generation that this status was computed from.',
    'delivered:int64': 'Number of delivered events.',
    'failed:int64': 'Number of events that became dead letters.',
    'discarded:int64': 'Number of dead letters that were removed for newer ones.',
    'pending:int32': 'Number of events that were not delivered yet when this was written.',
    'deadLetters:int32': 'Number of existing dead letters.',
    'lastTime:string': 'Time of the last delivery.',
    'position:TriggerStatusPosition': 'The position up to which the source has been recorded.',
    'conditions:[]TriggerStatusConditions':
      'Ready is True when events are recorded and delivered; otherwise it has the reason. Backlogged: too ' +
      'many events wait, so that no more are recorded. EventsMissed: some events may not have been ' +
      'recorded.',
  },
  TriggerStatusPosition: {
    'of!:string': 'Identifies the source: a hash of its fields in the spec.',
    'since!:string': 'Time since which the trigger has this source.',
    'lastScheduleTime:string': 'The last time of the schedule that was recorded or missed.',
    'resourceVersion:string': 'The resourceVersion up to which every change of objects is recorded.',
    'resourceTime:string': 'Time of that resourceVersion.',
  },
  TriggerStatusConditions: conditionFields,
};
