/** The types of Trigger. */
import { conditionFields, headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const triggerTypes: DescribedTypes = {
  Trigger: {
    '':
      'Trigger calls a function, or runs a workflow, for each thing that happens: a time, a request, a ' +
      'change of an object or of a file, the result of a function. Each is told at least once.',
    ...headFields('Trigger'),
    'spec!:TriggerSpec':
      'What happens, and what is called then. Exactly one of cron, http, object, result and file is ' +
      'set.',
    'status:TriggerStatus': 'The status of the trigger, written by the cluster.',
  },
  TriggerSpec: {
    'target!:TriggerSpecTarget': 'What is called with each event.',
    'cron:TriggerSpecCron': 'Times by a schedule.',
    'http:TriggerSpecHttp': 'Requests by HTTP.',
    'object:TriggerSpecObject': 'Changes of objects of the cluster.',
    'result:TriggerSpecResult': 'What calls of a function gave.',
    'file:TriggerSpecFile': 'Changes of files in a folder.',
    'input:any': 'JSON that is given along with each event, at most 256 KiB.',
    'retry:TriggerSpecRetry': 'How an event is tried again that could not be delivered.',
    'deadLetters:TriggerSpecDeadLetters':
      'The events that could not be delivered: TriggerEvents of phase Failed, which can be replayed.',
    'suspend:bool':
      'Nothing is told or delivered meanwhile; what happens then is not made up for. Defaults to false.',
    'serviceAccountName:string':
      'The account, of this namespace, as which objects are watched: it needs the verbs list and watch. ' +
      'Defaults to default.',
  },
  TriggerSpecTarget: {
    'kind:string': 'Function or Workflow. Defaults to Function.',
    'name!:string': 'Its name, in the namespace of the trigger.',
  },
  TriggerSpecCron: {
    'schedule!:string': 'When, in the form of a CronJob: five fields, or such as @hourly or @every 10m.',
    'timeZone:string': 'The time zone of the schedule. Defaults to UTC.',
    'startingDeadlineSeconds:int64':
      'After how many seconds a time that was missed is no longer made up for.',
  },
  TriggerSpecHttp: {
    'path!:string':
      'The path below /trigger/NAMESPACE on the port of the gateway, such as /orders. No other trigger ' +
      'of the namespace has it.',
    'methods:[]string': 'The methods that are taken. Defaults to POST.',
    'public:bool':
      'Whether everybody may send a request. Otherwise senders need the verb create on triggers/invoke. ' +
      'Defaults to false.',
  },
  TriggerSpecObject: {
    'apiVersion!:string': 'Group and version of the kind, such as v1 or apps/v1.',
    'kind!:string': 'The kind of the objects, such as Pod. It may be served later.',
    'namespace:string': 'The namespace of the objects; "*" for all. Defaults to that of the trigger.',
    'labelSelector:string': 'Only objects with these labels, in the form of kubectl get --selector.',
    'fieldSelector:string': 'Only objects with these fields, in the form of kubectl get --field-selector.',
    'types:[]string':
      'Which changes are told: Created, Updated, Deleted. One that begins to be selected counts as ' +
      'created, one that ends to be as deleted. Defaults to all.',
  },
  TriggerSpecResult: {
    'function!:string': 'Name of the Function, in the namespace of the trigger.',
    'outcomes:[]string':
      'Which results are told: Success, an answer of 2xx, or Failure, any other. Defaults to both.',
  },
  TriggerSpecFile: {
    'claimName:string':
      'A PersistentVolumeClaim of the namespace: the node that has its volume watches. Either this or ' +
      'folder is set.',
    'path:string':
      'The folder in the volume, such as in/new. Defaults to the volume itself. No part of it may be a ' +
      'link.',
    'folder:string':
      'A folder of nodes, as an absolute path: a node watches it that allows it by --watch-folder.',
    'nodeSelector:{}string': 'Only nodes with these labels watch the folder. Defaults to all.',
    'pattern:string': 'Only files whose name is such, like *.csv or [!.]*. Defaults to all.',
    'types:[]string':
      'Which changes are told: Created, Updated, Deleted. A file is told when it has been at rest for a ' +
      'second. Defaults to all.',
    'recursive:bool': 'Whether the folders in it are watched too. Defaults to false.',
    'includeContent:bool': 'Whether a file of at most 64 KiB is told with what is in it. Defaults to false.',
  },
  TriggerSpecRetry: {
    'maxAttempts:int32': 'How often an event is tried, from 1 to 100. Defaults to 5.',
    'minSeconds:int32': 'Seconds between the first two attempts. Defaults to 1.',
    'maxSeconds:int32': 'The pause doubles with each attempt up to so many seconds. Defaults to 300.',
  },
  TriggerSpecDeadLetters: {
    'limit:int32': 'How many are kept, the newest. Defaults to 100.',
  },
  TriggerStatus: {
    'observedGeneration:int64': 'The metadata.generation that this status was computed from.',
    'delivered:int64': 'How many events were delivered.',
    'failed:int64': 'How many events became dead letters.',
    'discarded:int64': 'How many dead letters were removed for newer ones.',
    'pending:int32': 'How many events were still to be delivered when this was written.',
    'deadLetters:int32': 'How many dead letters there are.',
    'lastTime:string': 'When an event was delivered last.',
    'position:TriggerStatusPosition': 'How far the source has been told.',
    'conditions:[]TriggerStatusConditions':
      'Ready says whether events are taken and delivered, and if not, why. Backlogged says that so many ' +
      'wait that no more are taken. EventsMissed says that some may have happened without being told.',
  },
  TriggerStatusPosition: {
    'of!:string': 'Which source this is about: a hash of what the spec says of it.',
    'since!:string': 'Since when the trigger has this source.',
    'lastScheduleTime:string': 'The last time of the schedule that is told, or was missed.',
    'resourceVersion:string': 'Every change of objects up to here is told.',
    'resourceTime:string': 'When it was there.',
  },
  TriggerStatusConditions: conditionFields,
};
