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
  'id!:int32': 'Its number in the history of the run, from 1.',
  'time!:string': 'When it happened.',
  'type!:string': 'What happened, as AWS Step Functions calls it, such as TaskSucceeded.',
  'state:string': 'The state that it happened in.',
  'task:string': 'The way to it through the states around: of a task, its id.',
  'detail:any': 'What else is known of it, such as error and cause.',
  'input:string':
    'What the state, or the task, was given, as JSON. A long one is cut, and then ends with three dots.',
  'output:string':
    'What the state, or the task, gave, as JSON. A long one is cut, and then ends with three dots.',
};

export type WorkflowHistoryEntry = WorkflowHistorySpecEntries;

/**
 * Returns the name of the chunk that begins after `entriesBefore` entries of the run: RUN-0001 has the first
 * ones.
 */
export const historyName = (run: string, entriesBefore: number) =>
  `${run}-${String(Math.floor(entriesBefore / entriesOfChunk) + 1).padStart(4, '0')}`;
