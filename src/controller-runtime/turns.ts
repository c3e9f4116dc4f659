/** Milliseconds of work in one thread after which the rest of the process gets a turn. */
import { type Clock, nextTurn } from '../base/clock.ts';

const turnMs = 10;

/**
 * Resolves after all earlier callers, when the caller may work at once: for some milliseconds, or until it
 * waits.
 */
export type NextPiece = () => Promise<void>;

export function inTurns(clock: Clock): NextPiece {
  let last = Promise.resolve();
  let began = clock.monotonic();
  return () => {
    last = last.then(async () => {
      if (clock.monotonic() - began < turnMs) return;
      await nextTurn(clock);
      began = clock.monotonic();
    });
    return last;
  };
}
