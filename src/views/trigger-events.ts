/** Events that triggers could not deliver. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { numberAt, textAt } from '../apimachinery/fields.ts';

/** Returns whether an event is a dead letter: its delivery failed, and no replay is under way. */
export const isDeadLetter = (event: JsonObject): boolean =>
  textAt(event, 'status', 'phase') === 'Failed' &&
  numberAt(event, 'spec', 'replays') <= numberAt(event, 'status', 'replays');

/** Returns the merge patch by which a dead letter is delivered again. */
export const replayPatch = (event: JsonObject): JsonObject => ({
  spec: { replays: numberAt(event, 'status', 'replays') + 1 },
});
