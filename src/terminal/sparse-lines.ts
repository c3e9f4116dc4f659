/**
 * Notes about work in progress, for output that is no terminal: nothing while the work is short, then a line
 * for each change of its state, with a minimum interval.
 */
import type { Clock } from '../base/clock.ts';
import type { Progress } from './live-lines.ts';
import { workLine } from './progress-plan.ts';

/** Delay before the first note, and minimum interval between two notes, in milliseconds. */
const noteIntervalMs = 30_000;

/** Returns a display that passes each note to `write`, as a line of its own. */
export const sparseLines = (write: (text: string) => void, clock: Clock): Progress => ({
  delayMs: noteIntervalMs - 5_000,
  begin(what) {
    const since = clock.monotonic();
    let detail = '';
    let noted: string | undefined;
    const look = () => {
      if (detail !== noted)
        write(`Note: waiting for ${workLine({ what, detail, since }, clock.monotonic())}\n`);
      noted = detail;
      timer = clock.after(noteIntervalMs, look);
    };
    let timer = clock.after(noteIntervalMs, look);
    return {
      say: (text) => {
        detail = text;
      },
      [Symbol.dispose]: () => timer.cancel(),
    };
  },
});
