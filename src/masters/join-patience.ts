/** Waits for the turn of a master that joins: masters are added one after the other. */
import { type Clock, sleep } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { JoinPendingError } from './join-client.ts';

const againMs = 2_000;
/** Timeout in milliseconds: a member that has not caught up after this time may never do so. */
const patienceMs = 300_000;

export interface JoinPatience {
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Repeats a request that is rejected with JoinPendingError, until the timeout. Rejects with any other error.
 */
export async function untilAdmitted<T>(
  ask: () => Promise<T>,
  { clock, log }: JoinPatience,
  signal: AbortSignal,
): Promise<T> {
  const until = clock.monotonic() + patienceMs;
  let logged: string | undefined;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof JoinPendingError) || clock.monotonic() >= until) throw error;
      if (error.message !== logged) log.info('waiting to join the masters', { reason: error.message });
      logged = error.message;
      await sleep(clock, againMs, signal);
    }
  }
}
