/** An entry of the history of a run, as the API shows it. */
import * as v from 'valibot';
import { int32, struct, time } from '../../../apimachinery/schema.ts';

/**
 * Number of entries of a WorkflowHistory. A run keeps at most this number in its status; complete chunks are
 * moved to WorkflowHistories.
 */
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
  input: v.optional(
    v.pipe(
      v.string(),
      v.description(
        'What the state, or the task, was given, as JSON. A long one is cut, and then ends with three dots.',
      ),
    ),
  ),
  output: v.optional(
    v.pipe(
      v.string(),
      v.description(
        'What the state, or the task, gave, as JSON. A long one is cut, and then ends with three dots.',
      ),
    ),
  ),
});

export type WorkflowHistoryEntry = v.InferOutput<typeof historyEntrySchema>;

/**
 * Returns the name of the chunk that begins after `entriesBefore` entries of the run: RUN-0001 has the first
 * ones.
 */
export const historyName = (run: string, entriesBefore: number) =>
  `${run}-${String(Math.floor(entriesBefore / entriesOfChunk) + 1).padStart(4, '0')}`;
