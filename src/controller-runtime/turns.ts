/** Work in one thread is done piece after piece, and after some milliseconds of it everybody else gets a turn. */
import { type Clock, nextTurn } from '../base/clock.ts';

const turnMs = 10;

/** Resolves after all that asked before, when the caller may work at once: for some milliseconds, or until it waits for something. */
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
