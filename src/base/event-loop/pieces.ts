/** Milliseconds of work in one thread after which the rest of the process gets a turn. */
import { type Clock, nextTurn } from '../clock.ts';
import type { LoopMeter } from './loop-meter.ts';

const turnMs = 10;

/**
 * Resolves after all earlier callers, when the caller may work at once: for some milliseconds, or until it
 * waits.
 */
export type NextPiece = () => Promise<void>;

/** `loopMeter` attributes each turn to the work that is done in it, and not to the turn before. */
export function inTurns(clock: Clock, loopMeter?: LoopMeter): NextPiece {
  let last = Promise.resolve();
  let began = clock.monotonic();
  return () => {
    last = last.then(async () => {
      if (clock.monotonic() - began < turnMs) return;
      await nextTurn(clock);
      loopMeter?.turned();
      began = clock.monotonic();
    });
    return last;
  };
}
