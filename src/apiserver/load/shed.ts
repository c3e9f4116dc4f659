/** Rejects requests while too many are being answered (in-flight.ts). */
import { newStatusError, type StatusError } from '../../apimachinery/status-error.ts';
import { countedName, type UserInfo } from '../request/user.ts';
import type { InFlight, Refusal, Sort } from './in-flight.ts';

/** Retry time in seconds; longer for watches and streams, which may stay open for long. */
const retryAfter: Readonly<Record<Sort, number>> = {
  heartbeat: 1,
  'node request': 1,
  request: 1,
  'node watch': 5,
  watch: 5,
  stream: 5,
  call: 1,
  aside: 1,
};

const plural: Readonly<Record<Sort, string>> = {
  heartbeat: 'heartbeats',
  'node request': 'requests',
  request: 'requests',
  'node watch': 'watches',
  watch: 'watches',
  stream: 'streams',
  call: 'calls of functions',
  aside: 'requests that wait for webhooks',
};

export interface CountedRequest {
  readonly sort: Sort;
  readonly user: UserInfo;
  /**
   * Calls `fn` when the answer has been sent or the client has disconnected; absent if the answer is complete
   * once it is made.
   */
  readonly onClosed: ((fn: () => void) => void) | undefined;
}

/**
 * Waits for a program of a user, such as a webhook. Meanwhile the request counts as a waiting one (`aside`)
 * and not under its own sort, so that a program that hangs does not use up the limit of that sort. If too
 * many requests wait already, the request continues to count under its own sort.
 */
export type Aside = <T>(wait: () => Promise<T>) => Promise<T>;

/**
 * Runs `work`; throws 429 if a limit is exceeded. The request counts until its work is done and the answer
 * has been sent, even if the client disconnects before.
 */
export async function withInFlightLimit<T>(
  inFlight: InFlight,
  { sort, user, onClosed }: CountedRequest,
  work: (aside: Aside) => T | Promise<T>,
): Promise<T> {
  const name = countedName(user.name);
  const entered = inFlight.enter(sort, name);
  if (typeof entered !== 'function') throw tooMany(sort, entered, name === user.name);
  let counted: (() => void) | undefined = entered;
  let open = onClosed ? 2 : 1;
  const stop = () => {
    counted?.();
    counted = undefined;
  };
  const leave = () => {
    if (--open === 0) stop();
  };
  const aside: Aside = async (wait) => {
    const waits = counted && inFlight.enter('aside', name);
    if (typeof waits !== 'function') return wait();
    stop();
    try {
      return await wait();
    } finally {
      waits();
      if (open > 0) counted = inFlight.enterAgain(sort, name);
    }
  };
  onClosed?.(leave);
  try {
    return await work(aside);
  } finally {
    leave();
  }
}

function tooMany(sort: Sort, { whose, limit }: Refusal, isAlone: boolean): StatusError {
  const one = isAlone ? 'one user' : 'the ServiceAccounts of one namespace';
  const of = whose === 'user' ? one : 'all users';
  return newTooManyRequests(
    `too many ${plural[sort]} at once: ${of} may have at most ${limit}`,
    retryAfter[sort],
  );
}

export const newTooManyRequests = (why: string, retryAfterSeconds: number): StatusError =>
  newStatusError('TooManyRequests', `${why}; try again later`, { retryAfterSeconds });
