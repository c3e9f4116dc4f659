/** The types of TriggerEvent. */
import { headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const triggerEventTypes: DescribedTypes = {
  TriggerEvent: {
    '': 'TriggerEvent is one event of a Trigger. It is deleted when it has been delivered.',
    ...headFields('TriggerEvent'),
    'spec!:TriggerEventSpec': 'The event. Only replays can be changed.',
    'status:TriggerEventStatus': 'The state of the delivery, written by the cluster.',
  },
  TriggerEventSpec: {
    'trigger!:string': 'Name of the Trigger.',
    'id!:string': 'Id of the event, which is the same for each delivery.',
    'type!:string': 'Type of the event, such as minik8s.io/object.created.',
    'source!:string': 'Source of the event, as a path.',
    'subject:string': 'Subject within the source, such as the name of an object.',
    'time!:string': 'Time of the event.',
    'data:any': 'Data of the event, any JSON of at most 256 KiB.',
    'depth:int32': 'Number of events before this one in a chain of triggers. At most 16.',
    'chain:[]string': 'NAMESPACE/NAME of each trigger that has led to this event, the first one first.',
    'replays:int32':
      'Number of requested replays: a number above status.replays starts the delivery of a dead letter ' +
      'again.',
  },
  TriggerEventStatus: {
    'phase:string': 'Pending before the delivery, Failed for a dead letter.',
    'attempts:int32': 'Number of attempts since the event was created or replayed.',
    'nextTime:string': 'Time of the next attempt.',
    'lastError:string': 'Error of the last attempt.',
    'lastStatus:int32': 'The HTTP status of the last attempt.',
    'failedTime:string': 'Time at which the event became a dead letter.',
    'replays:int32': 'Number of replays that have begun.',
  },
};
