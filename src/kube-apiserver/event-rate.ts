/**
 * Limits the rate of events that a node writes, since each is stored. Upstream has an admission plugin for it
 * (EventRateLimit); here the limit is checked before the body is read, and each master counts for itself.
 */
import { eventResource } from '../api/core/v1/event/event.ts';
import { newStatusError } from '../apimachinery/status-error.ts';
import { nodeNameOf, type UserInfo } from '../apiserver/request/user.ts';
import type { Clock } from '../base/clock.ts';
import { TokenBuckets } from '../base/token-buckets.ts';

/** A full node whose pods all start at once reports about 110 pods with four or five events each. */
export const eventBurst = 500;
export const eventsPerSecond = 10;

const writing: readonly string[] = ['create', 'update', 'patch'];

export interface EventRequest {
  readonly user: UserInfo;
  readonly verb: string;
  /** Plural name, with the subresource if there is one. */
  readonly resource: string;
}

/** Returns a function that throws 429, with the seconds to wait, for a node over the limit. */
export function limitEvents(clock: Clock): (request: EventRequest) => void {
  const buckets = new TokenBuckets({ burst: eventBurst, refillMs: 1000 / eventsPerSecond, keys: 10_000 });
  return ({ user, verb, resource }) => {
    const node = nodeNameOf(user);
    if (node === undefined || resource !== eventResource.plural || !writing.includes(verb)) return;
    const waitMs = buckets.take(node, clock.now());
    if (waitMs === 0) return;
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    const message = `node ${JSON.stringify(node)} writes too many events: ${eventsPerSecond} a second are accepted; wait ${retryAfterSeconds} s`;
    throw newStatusError('TooManyRequests', message, { retryAfterSeconds });
  };
}
