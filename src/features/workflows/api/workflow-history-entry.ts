/** An entry of the history of a run, as the API shows it. */
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import type { WorkflowHistorySpecEntries } from './types.gen.ts';

/**
 * Number of entries of a WorkflowHistory. A run keeps at most this number in its status; complete chunks are
 * moved to WorkflowHistories.
 */
export const entriesOfChunk = 50;

/** Fields of an entry, in a WorkflowHistory and in the status of a run. */
export const historyEntryFields: DescribedTypes[string] = {
  'id!:int32': 'Number of the entry in the history of the run, from 1.',
  'time!:string': 'Time of the event.',
  'type!:string': 'Type of the event, by its name in AWS Step Functions, such as TaskSucceeded.',
  'state:string': 'Name of the state.',
  'task:string': 'Path to the state through the enclosing states; for a task its id.',
  'detail:any': 'Further details, such as error and cause.',
  'input:string': 'Input of the state or the task, as JSON. A long input is cut and ends with three dots.',
  'output:string': 'Output of the state or the task, as JSON. A long output is cut and ends with three dots.',
};

export type WorkflowHistoryEntry = WorkflowHistorySpecEntries;

/**
 * Returns the name of the chunk that begins after `entriesBefore` entries of the run: RUN-0001 has the first
 * entries.
 */
export const historyName = (run: string, entriesBefore: number) =>
  `${run}-${String(Math.floor(entriesBefore / entriesOfChunk) + 1).padStart(4, '0')}`;
