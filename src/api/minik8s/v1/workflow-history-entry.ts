/** One entry of the history of a run, as the API shows it. */
import * as v from 'valibot';
import { int32, struct, time } from '../../../apimachinery/schema.ts';

/** Entries of a WorkflowHistory: what a run has more than these in its status is moved there. */
export const entriesOfChunk = 50;

export const historyEntrySchema = struct({
  id: v.pipe(int32(), v.description('Its number in the history of the run, from 1.')),
  time: v.pipe(time(), v.description<string, string>('When it happened.')),
  type: v.pipe(
    v.string(),
    v.description<string, string>('What happened, as AWS Step Functions calls it, such as TaskSucceeded.'),
  ),
  state: v.optional(v.pipe(v.string(), v.description('The state that it happened in.'))),
  task: v.optional(
    v.pipe(v.string(), v.description('The way to it through the states around: of a task, its id.')),
  ),
  detail: v.optional(
    v.pipe(v.unknown(), v.description('What else is known of it, such as error and cause.')),
  ),
  input: v.optional(v.pipe(v.unknown(), v.description('What the state, or the task, was given. Any JSON.'))),
  output: v.optional(v.pipe(v.unknown(), v.description('What the state, or the task, gave. Any JSON.'))),
  omitted: v.optional(
    v.pipe(v.string(), v.description('What is left out here because it is large, and how large it is.')),
  ),
});

export type WorkflowHistoryEntry = v.InferOutput<typeof historyEntrySchema>;

/** Name of the chunk that begins after so many entries of the run: RUN-0001 has the first ones. */
export const historyName = (run: string, entriesBefore: number) =>
  `${run}-${String(Math.floor(entriesBefore / entriesOfChunk) + 1).padStart(4, '0')}`;
