/** The types of TriggerEvent. */
import { headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const triggerEventTypes: DescribedTypes = {
  TriggerEvent: {
    '': 'TriggerEvent is one thing that a Trigger tells. It goes when it is delivered.',
    ...headFields('TriggerEvent'),
    'spec!:TriggerEventSpec': 'What has happened. Nothing but replays can be changed.',
    'status:TriggerEventStatus': 'How its delivery goes, written by the cluster.',
  },
  TriggerEventSpec: {
    'trigger!:string': 'Name of the Trigger.',
    'id!:string': 'The same for the same event, however often it is delivered.',
    'type!:string': 'What has happened, such as minik8s.io/object.created.',
    'source!:string': 'Of what, as a path.',
    'subject:string': 'Which of it, such as the name of an object.',
    'time!:string': 'When.',
    'data:any': 'More about it, any JSON of at most 256 KiB.',
    'depth:int32': 'How many events are before this one in a chain of triggers. At most 16.',
    'chain:[]string': 'NAMESPACE/NAME of each trigger that has led to it, the first one first.',
    'replays:int32':
      'How often it is to be set going again: a number above status.replays begins a dead letter anew.',
  },
  TriggerEventStatus: {
    'phase:string': 'Pending while it is to be delivered, Failed when it is given up.',
    'attempts:int32': 'How often it was tried since it was set going.',
    'nextTime:string': 'When it is tried again.',
    'lastError:string': 'Why the last attempt failed.',
    'lastStatus:int32': 'The HTTP status of the last attempt.',
    'failedTime:string': 'When it was given up.',
    'replays:int32': 'How often it was set going again.',
  },
};
